"""Narrow elements that a target has no storage or no code for: read and written as words, if every op can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.fusion_groups import members
from fissile.passes.analysis.dispatch.narrow_types import (
    LAST_RESORT,
    NARROW_TYPES,
    PACKED_BOOLEAN,
    UNCOMMON,
    uncommon_types,
)
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.dispatch.slice import tensor_ops
from fissile.passes.analysis.kernel.evidence import gravest
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.containment import contained
from fissile.passes.definition import PassFailed
from fissile.passes.failures.failure import codes_of, failures
from fissile.passes.failures.narrow.narrow_elements import WORDS, NarrowElements
from fissile.passes.failures.not_built.not_legalized import NotLegalized
from fissile.passes.iree.attributes import PACKED_STORAGE
from fissile.passes.iree.pipelines import QUANTISATION_AS_GENERICS

from ..probe.stock_outcome import Generate, formed_dispatches, narrow_elements
from ..probe.unroll_limit import Foresee, unrolls
from ..session import Module

if TYPE_CHECKING:
    from .repair_case import Diagnosis

PASS = "fissile-pack-narrow-storage"
_VERBS = {"read": "read", "wrote": "write", "packed": "pack", "computed": "compute", "masked": "mask"}
NARROW = {one.code: one for one in failures() if isinstance(one, NarrowElements)}
"""IREE builds such a module, and its numbers are wrong."""
UNLOWERED = codes_of(lambda one: one.lacks_code)
"""How code generation fails of an element type that it does not know."""
ATTENTION_APART = "fissile-decompose-attention"
MOVEMENT_APART = "fissile-decompose-movement"
APART = (QUANTISATION_AS_GENERICS, ATTENTION_APART, MOVEMENT_APART)
"""They come before: what has narrow elements inside is packed as any other op, and no SPIR-V target takes one of these ops whole."""


@dataclass(frozen=True)
class Packed:
    """``module`` is the packed clone, None where nothing had to be packed or not all could be.

    ``findings`` report what was packed, ``refusals`` why it could not be.
    """

    module: Module | None
    findings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()


NOT_PACKED = Packed(None)


@dataclass(frozen=True)
class Narrow:
    """What packing is for: ``found`` reports it, dispatch by dispatch; nothing is packed where it is empty.

    ``types``: only these, where the target has storage for them; ``ops``: only these source ops. ``in_place``: integers below a byte
    are read and written as they are, and only computed in 32 bits.
    """

    found: tuple[Finding, ...] = ()
    types: tuple[str, ...] = ()
    ops: tuple[int, ...] = ()
    in_place: bool = False

    @property
    def pass_text(self) -> str:
        given = [
            f"{name}={','.join(map(str, some))}"
            for name, some in (("types", self.types), ("ops", self.ops))
            if some
        ]
        given += ["in-place=true"] if self.in_place else []
        return PASS + (f"{{{' '.join(given)}}}" if given else "")

    def help(self, how: str) -> Help:
        """What was done, ``how`` having its verbs in braces, with the same as advice."""
        done = how.format_map({verb: verb for verb in _VERBS})
        return Help(done, PASS, True, (("pass", self.pass_text),), how.format_map(_VERBS))

    @property
    def forms(self) -> tuple[Narrow, ...]:
        """This one, and what is left to try where its module does not hold."""
        return (self, replace(self, in_place=False)) if self.in_place else (self,)


def pack(origin: Module, narrow: Narrow) -> Packed:
    """Packs a clone of ``origin`` (at global optimisation), as ``narrow`` says.

    The caller runs the same check on what it makes of the result, and takes `unusable` where it still finds something.
    """
    if not narrow.found:
        return NOT_PACKED
    packed = origin.clone()
    found: list[Finding] = []
    # Indices are those of the module as it is: nothing is rewritten before.
    before = () if narrow.ops or narrow.types == (PACKED_BOOLEAN,) else APART
    try:
        passes = ",".join((*before, narrow.pass_text, "fissile-lower-boundaries,canonicalize,cse"))
        done = contained(
            "packing into words",
            lambda: _run(passes, packed, found),
            False,
        )
    except PassFailed as refused:
        return Packed(None, refusals=tuple(f.with_(severity=Severity.WARNING) for f in refused.findings))
    if not done:
        return NOT_PACKED
    return Packed(packed, _each_once([_packed_finding(finding, narrow) for finding in narrow.found]))


def _run(passes: str, packed: Module, found: list[Finding]) -> bool:
    from ..pass_runner import run_pipeline

    run_pipeline(f"builtin.module({passes})", packed.op, report=found.append)
    return True


def advised(narrow: Narrow) -> dict[int, Finding]:
    """What packing reports of each of ``narrow.found``, by identity, before anything is packed."""
    return {id(finding): _packed_finding(finding, narrow) for finding in narrow.found}


def find_narrow(configured: Module, generate: Generate) -> Narrow:
    """What is wrong with narrow elements of ``configured``: where one failure concerns all buffers, that alone."""
    return find_narrow_in(formed_dispatches(configured), generate)


def find_narrow_in(formed: Sequence[Dispatch], generate: Generate, foresee: Foresee = unrolls) -> Narrow:
    """The same of the configured dispatches ``formed``; no signs are looked for in what ``foresee`` finds unrolled."""
    findings: list[Finding] = []
    types: dict[str, None] = {}
    in_place = True
    for one in NARROW.values():
        if not (found := narrow_elements(one, formed, generate, foresee)):
            continue
        findings += one.explain_all(found)
        if one.every_buffer:
            return Narrow(tuple(findings))
        in_place &= one.in_place
        types |= {
            kind: None for _dispatch, evidence in found for kind in evidence.types if kind in NARROW_TYPES
        }
    return Narrow(tuple(findings), tuple(types), in_place=in_place and bool(findings))


def narrow_without_code(formed: Sequence[Dispatch]) -> list[Finding]:
    """What is known of narrow elements where no code is generated, by the failures that concern all buffers."""
    found: list[Finding] = []
    for one in NARROW.values():
        among = [d for d in formed if one.every_buffer and one.may_occur(d, partial(read_configured, d))]
        shown = [(d, gravest((one.around(d), one.without_code(d)))) for d in among]
        found += one.explain_all([(d, evidence) for d, evidence in shown if evidence])
    return found


def find_packed_booleans(origin: Module, message: str, detail: str) -> Narrow:
    """Booleans of a bit each that IREE refused, with ``message``, as it configured dispatches; nothing where it was something else."""
    using = [op for op in source_ops(origin.op) if PACKED_BOOLEAN in uncommon_types(op)]
    if not using or PACKED_STORAGE not in message:
        return Narrow()
    from fissile.passes.checks.refusals.packed_booleans import check_packed_booleans

    return Narrow(tuple(check_packed_booleans(using, message, detail)), (PACKED_BOOLEAN,))


def may_be_unlowered(origin: Module, last: bool = False) -> bool:
    """Whether ``origin`` computes with element types, or moves them, that most backends generate code for some of; ``last``: or bf16."""
    among = LAST_RESORT if last else UNCOMMON
    return any(uncommon_types(op, among) for op in tensor_ops(origin.op))


def find_unlowered(origin: Module, diagnosis: Diagnosis, codes: Sequence[str] = UNLOWERED) -> Narrow:
    """Dispatches that compute with 8-bit floats or with types below a byte, and fail by one of ``codes``.

    Without ``codes`` those that fail by any, and bf16 counts as well: what is tried last. IREE merges dispatches of equal body and
    keeps the locations of one: the ops of the others are found by what was fused.
    """
    ops = source_ops(origin.op)
    among = UNCOMMON if codes else LAST_RESORT
    found, types, chosen, moved = [], set(), set(), False
    for checked in diagnosis.failing:
        if codes and checked.failure.code not in codes:
            continue
        if not checked.dispatch.tags and (names := {b.element for b in checked.dispatch.bindings} & among):
            # It copies parts of tensors, and no source op has an index by which it could be chosen.
            found.append(checked.failure)
            types |= names
            moved = True
            continue
        alike = {
            *checked.dispatch.tags,
            *chain.from_iterable(members(list(diagnosis.groups), checked.dispatch.tags)),
        }
        tags = {tag for tag in alike if uncommon_types(ops[tag], among)}
        if tags:
            found.append(checked.failure)
            chosen |= tags
            types |= set().union(*(uncommon_types(ops[tag], among) for tag in tags))
    return Narrow(tuple(found), tuple(sorted(types)), () if moved else tuple(sorted(chosen)))


def unusable(finding: Finding, why: str) -> Finding:
    return finding.with_(
        notes=(*finding.notes, f"packing into 32-bit words was tried and does not hold: {why}")
    )


def _each_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for all dispatches with the same finding, with the first places."""
    alike: dict[tuple, list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.code, finding.message, finding.target, finding.helps), []).append(finding)
    merged = []
    for first, *others in alike.values():
        places = dict.fromkeys(place for finding in (first, *others) for place in finding.places)
        notes = (
            (*first.notes, f"the same of {len(others)} more dispatch{'es' if len(others) > 1 else ''}")
            if others
            else first.notes
        )
        merged.append(first.with_(places=tuple(places)[:4], notes=notes))
    return tuple(merged)


def _packed_finding(finding: Finding, narrow: Narrow) -> Finding:
    if narrow.ops:
        how = f"{' and '.join(narrow.types)} by their bits; {{computed}} in 32 bits in between"
        help_ = narrow.help("{read} and {wrote} " + how)
        if finding.code in UNLOWERED:
            return finding.with_(severity=Severity.REPAIRED, helps=(help_,))
        message = f"behind that failure ({finding.code}) {finding.target} has no code for {' and '.join(narrow.types)}"
        return Finding(
            NotLegalized.code,
            message,
            Severity.REPAIRED,
            finding.subject,
            finding.target,
            finding.places,
            helps=(help_,),
            stock=finding.stock or finding.message,
        )
    one = NARROW.get(finding.code)
    if one is None:
        return finding.with_(severity=Severity.REPAIRED, helps=(narrow.help(WORDS),))
    return one.repaired(finding, narrow.help(one.how if narrow.in_place else WORDS))
