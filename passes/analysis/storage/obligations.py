"""What a program must keep to: every place where a size meets a capacity, with what is known there.

An obligation is a condition over size terms, at an op, under facts (asserts, branches and loop bounds
that hold where the op runs) and under guards (branches and loops that decide whether it runs at all).
Earlier obligations are facts for later ones: a program goes past one only where it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.containment import contained
from fissile.passes.iree import ops as iree_ops

from ..bounds.assumptions import assumption
from ..bounds.conditions import TRUE, Condition, any_of, negation, symbols
from ..bounds.extents import Extents
from ..bounds.intervals import always_holds
from ..bounds.shaped_values import is_argument, last_of
from ..bounds.size_terms import Term
from ..bounds.value_names import ASYNC_SUFFIX
from ..program.deep_walk import Steps, walk_deep
from ..program.private_calls import FUNCTIONS, calls_of_private_functions, certain_functions
from .call_facts import agreed_by_calls
from .guards import UNKNOWN_BRANCH, Branch, Guard, Loop, loops_of
from .loop_facts import equal_integers, invariants, of_results
from .sentences import Wording, as_written, worded

ASSERTS = ("cf.assert",)
TRANSPARENT = (iree_ops.FLOW_DISPATCH_REGION, "fissile.group", "scf.forall.in_parallel")
"""Ops whose regions run exactly where the op stands."""
STRUCTURED = ("linalg.", iree_ops.LINALG_EXT_OPS)


@dataclass(frozen=True)
class Obligation:
    """``condition`` must hold whenever ``op`` runs; ``sentence`` says it to a person, and to a caller
    at run time.

    ``facts`` hold where the op runs; the first ``certain`` of them hold whether it runs or not.
    ``elements`` is there where the condition may be about values inside the op. ``called``: the function is certain to run
    (see `certain_functions`).
    """

    op: ir.Operation = field(compare=False)
    function: str
    kind: str
    wording: Wording = field(compare=False)
    condition: Condition
    facts: tuple[Condition, ...] = ()
    certain: int = 0
    guards: tuple[Guard, ...] = ()
    elements: ElementBound | None = None
    called: bool = True

    @property
    def bound(self) -> ElementBound:
        """``elements`` of an obligation about values inside the op."""
        assert self.elements is not None
        return self.elements

    @cached_property
    def sentence(self) -> str:
        return worded(self.wording)

    @property
    def place(self) -> Place | None:
        return place_of(self.op)


@dataclass(frozen=True)
class ElementBound:
    """A bound on values that only a dispatch sees; how a check of it can be built.

    In the body of a structured op, ``index`` must be in 0 … size - 1, or the i1 ``condition`` must be
    true, wherever the i1 values of ``when`` are what they say. For an op without a body (gather,
    scatter), the elements of ``indices`` at ``position`` of its last dimension must be in 0 … size - 1,
    where ``mask`` is set if there is one; ``depth`` is how many indices one place takes.

    In a body, ``at`` is the op that reads there, or asserts; ``nested``: no values of ``when`` say whether it runs, a loop
    or another op of the body does.
    """

    size: Term | None = None
    index: ir.Value | None = field(default=None, compare=False)
    condition: ir.Value | None = field(default=None, compare=False)
    indices: ir.Value | None = field(default=None, compare=False)
    position: int = 0
    depth: int = 1
    mask: ir.Value | None = field(default=None, compare=False)
    when: tuple[tuple[ir.Value, bool], ...] = field(default=(), compare=False)
    at: ir.Operation | None = field(default=None, compare=False)
    nested: bool = False


@dataclass(frozen=True)
class Requirement:
    """What a rule says of one op: a condition and its sentence. ``guards`` are loops and branches of
    the op itself; ``elements`` says how to check a condition on values that exist only inside it.

    ``itself``: the sentence stands by itself; else it goes on behind the op's name.
    Once it is checked, ``here`` is known to the op's later requirements, and ``afterwards`` to later
    ops; None: the condition, if the op has no guards of its own.
    """

    condition: Condition
    sentence: Wording
    guards: tuple[Guard, ...] = ()
    elements: ElementBound | None = None
    here: Condition = TRUE
    afterwards: Condition | None = None
    itself: bool = False


Rule = Callable[[Extents, ir.Operation], Iterator[Requirement]]


@dataclass
class Collected:
    """``uncovered`` are ops with dynamic shapes that no rule knows: name -> the first op."""

    extents: Extents
    obligations: list[Obligation]
    uncovered: dict[str, ir.Operation]


def collect(module: ir.Operation, *, trust_asserts: bool = True) -> Collected:
    """All obligations of ``module`` in program order, those with constant sizes included.

    Expects ops on tensors, linalg, scf and memref, as IREE's input conversion leaves them.
    ``trust_asserts`` is False where the asserts in the program will be stripped: then they are no
    facts.
    """
    from .storage_rules import covers, rule_for

    walk = _Walk(Extents(), trust_asserts, rule_for, covers)
    walk.calls = calls_of_private_functions(module.operation)
    walk.certain = certain_functions(module.operation)
    for region in module.operation.regions:
        for block in region.blocks:
            for op in block.operations:
                walk_deep(walk.top_level(op.operation))
    return Collected(walk.extents, walk.obligations, walk.uncovered)


class _Walk:
    """Program order with a scope of facts: what a region adds is forgotten at its end."""

    def __init__(
        self,
        extents: Extents,
        trust_asserts: bool,
        rule_for: Callable[[str], Rule | None],
        covers: Callable[[ir.Operation], bool],
    ) -> None:
        self.extents = extents
        self.obligations: list[Obligation] = []
        self.uncovered: dict[str, ir.Operation] = {}
        self._trust_asserts = trust_asserts
        self._rule_for = rule_for
        self._covers = covers
        self._function = ""
        self._facts: list[Condition] = []
        self._guards: list[Guard] = []
        self._certain = 0
        self._called = True
        self.calls: dict[str, list[ir.Operation]] = {}
        self.certain: set[str] = set()

    def top_level(self, op: ir.Operation) -> Steps:
        if op.name in FUNCTIONS:
            self._function = text_of(op, "sym_name").removesuffix(ASYNC_SUFFIX)
            self._called = text_of(op, "sym_name") in self.certain
            self._learn_calls(op)
            yield self._blocks(op)
        elif op.name == "builtin.module" or op.name == iree_ops.UTIL_INITIALIZER:
            self._function = "initializer" if op.name == iree_ops.UTIL_INITIALIZER else self._function
            self._called = True
            for region in op.regions:
                for block in region.blocks:
                    if op.name == iree_ops.UTIL_INITIALIZER:
                        yield self._block(block)
                    else:
                        for inner in block.operations:
                            yield self.top_level(inner.operation)

    def _learn_calls(self, function: ir.Operation) -> None:
        """What all calls of a private function agree on: see `agreed_by_calls`."""
        calls = self.calls.get(text_of(function, "sym_name"))
        if calls and function.regions[0].blocks:
            for fact in contained(
                "calls", lambda: agreed_by_calls(self.extents, function, calls), [], about=function
            ):
                self._learn(fact)

    def _blocks(self, op: ir.Operation) -> Steps:
        for region in op.regions:
            blocks = list(region.blocks)
            for number, block in enumerate(blocks):
                # In a control-flow graph only the entry block is known to run, and only its facts hold
                # everywhere.
                if number == 0:
                    yield self._block(block)
                    self._certain = len(self._facts)
                else:
                    self._guards.append(Branch(op, UNKNOWN_BRANCH))
                    yield self._block(block)
                    self._guards.pop()
                    del self._facts[self._certain :]
            self._facts.clear()

    def _block(self, block: ir.Block) -> Steps:
        for op in block.operations:
            yield self._op(op.operation)

    def _op(self, op: ir.Operation) -> Steps:
        if op.name in ASSERTS:
            if self._trust_asserts:
                self._learn(self.extents.condition(op.operands[0]))
            return
        if op.name == iree_ops.UTIL_ASSUME_INT:
            self._assume(op)
            return
        rule, before = self._rule_for(op.name), len(self.obligations)
        if rule is not None:
            here: list[Condition] = []
            for requirement in contained("sizes", lambda: list(rule(self.extents, op)), [], about=op):
                self._add(op, requirement, here)
                here.append(requirement.here)
        # A structured op without indexing maps says nothing of its sizes.
        silent = op.name.startswith(STRUCTURED) and len(self.obligations) == before
        if (rule is None or silent) and not self._covers(op):
            self.uncovered.setdefault(op.name, op)
        if loops := contained("loops", lambda: loops_of(self.extents, op), [], about=op):
            yield self._loop(op, loops)
        elif op.name == "scf.if":
            condition = self.extents.condition(op.operands[0])
            for region, taken in zip(op.regions, (condition, negation(condition)), strict=False):
                yield self._scoped(region, [Branch(op, taken)], [taken])
        elif op.name == "scf.while":
            yield self._while(op)
        elif op.name in TRANSPARENT:
            for region in op.regions:
                yield self._scoped(region, [], [])
        elif op.name.startswith(STRUCTURED):
            return  # its body is its rule's business
        else:
            for region in op.regions:
                # What decides whether this region runs is not known: a condition that nothing can compute.
                opaque = Branch(op, UNKNOWN_BRANCH)
                yield self._scoped(region, [opaque], [])

    def _loop(self, op: ir.Operation, loops: list[Loop]) -> Steps:
        runs = [fact for loop in loops for fact in loop.facts]
        if op.name != "scf.for":
            yield self._scoped(op.regions[0], [*loops], runs)
            return
        carried = list(op.regions[0].blocks[0].arguments)[1:]
        rows = list(zip(carried, list(op.operands)[3:], last_of(op.regions[0]).operands, strict=False))
        kept = invariants(self.extents, rows, [*self._facts, *runs])
        yield self._scoped(op.regions[0], [*loops], [*runs, *(f for facts in kept.values() for f in facts)])
        for fact in of_results(self.extents, kept, dict(zip(carried, op.results, strict=False))):
            self._learn(fact)

    def _while(self, op: ir.Operation) -> Steps:
        """Before its body runs a `scf.while` has tested its condition; behind it the condition is false."""
        before, after = (region.blocks[0] for region in op.regions)
        test = last_of(op.regions[0])
        goes_on, passed = self.extents.condition(test.operands[0]), list(test.operands)[1:]
        same = equal_integers(self.extents, after.arguments, passed)
        rows = list(zip(before.arguments, op.operands, last_of(op.regions[1]).operands, strict=False))
        found = invariants(self.extents, rows, [*self._facts, goes_on, *same])
        kept = [fact for facts in found.values() for fact in facts]
        opaque = Branch(op, UNKNOWN_BRANCH)
        yield self._scoped(op.regions[0], [opaque], kept)
        yield self._scoped(op.regions[1], [opaque], [*kept, goes_on, *same])
        for fact in (*kept, negation(goes_on), *equal_integers(self.extents, op.results, passed)):
            self._learn(fact)

    def _scoped(self, region: ir.Region, guards: list[Guard], facts: list[Condition]) -> Steps:
        known, guarded = len(self._facts), len(self._guards)
        if not self._guards:
            self._certain = known
        self._guards.extend(guards)
        for fact in facts:
            self._learn(fact)
        for block in region.blocks:
            yield self._block(block)
        del self._facts[known:]
        del self._guards[guarded:]

    def _learn(self, fact: Condition) -> None:
        """Adds a fact, unless the ranges of types say it already or it is one of the last."""
        if fact not in self._facts[-8:] and not always_holds(fact):
            self._facts.append(fact)

    def _assume(self, op: ir.Operation) -> None:
        """util.assume.int: one list of alternatives for each operand; the value meets one of them."""
        for operand, alternatives in zip(op.operands, op.attributes["assumptions"], strict=False):
            known = self.extents.value(operand)
            self._learn(any_of(assumption(known, str(a)) for a in alternatives))

    def _add(self, op: ir.Operation, requirement: Requirement, here: list[Condition]) -> None:
        facts = list(self._facts)
        guards = (*self._guards, *requirement.guards)
        always = self.extents.facts_about(symbols(requirement.condition))
        # An index of a loop of the op lies below the loop's size, which says nothing of whether the loop has a round.
        of_rounds = [fact for fact in always if guards and self._is_about_rounds(fact)]
        defined = [fact for fact in always if fact not in of_rounds]
        inner = [fact for guard in requirement.guards if isinstance(guard, Loop) for fact in guard.facts]
        self.obligations.append(
            Obligation(
                op,
                self._function,
                op.name,
                # What does not hold always is put into words now, before checks are written into the program.
                partial(as_written, op, requirement.sentence, requirement.itself)
                if requirement.condition == TRUE
                else as_written(op, requirement.sentence, requirement.itself),
                requirement.condition,
                (*defined, *facts, *of_rounds, *inner, *here),
                len(defined) + (self._certain if self._guards else len(facts)),
                guards,
                requirement.elements,
                self._called,
            )
        )
        if requirement.afterwards is not None:
            self._learn(requirement.afterwards)
        elif not requirement.guards:
            self._learn(requirement.condition)

    def _is_about_rounds(self, fact: Condition) -> bool:
        return any(self.extents.is_inner(symbol) for symbol in symbols(fact).values())


def argument_symbols(extents: Extents, condition: Condition) -> bool:
    """Whether every symbol of ``condition`` is an argument of a function, or a dimension of one."""
    return all(
        s.ident >= 0
        and is_argument(extents.handle(s).value)
        and extents.handle(s).value.owner.owner.operation.name in FUNCTIONS
        for s in symbols(condition).values()
    )
