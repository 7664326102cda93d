"""What IREE does wrong on every target, whatever code is generated: found and repaired, most when global optimisation is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.narrow_types import targets_of
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.globals.chained_globals import chained_globals
from fissile.passes.analysis.globals.evaluated import evaluated_ops
from fissile.passes.analysis.globals.fused_globals import fused_globals
from fissile.passes.analysis.globals.moved_accesses import moved_accesses
from fissile.passes.analysis.host.demoted_boundaries import demoted_boundaries
from fissile.passes.analysis.host.float_ops import float_ops
from fissile.passes.analysis.host.host_inserts import host_inserts
from fissile.passes.analysis.host.narrow_integers import narrow_integers
from fissile.passes.analysis.host.nested_inserts import nested_inserts
from fissile.passes.analysis.host.overwritten_arguments import may_return_arguments, overwritten_arguments
from fissile.passes.analysis.host.tensor_ranges import scattered_ranges
from fissile.passes.analysis.layout.empty_products import empty_products
from fissile.passes.analysis.loops.growing_loops import growing_loops
from fissile.passes.analysis.loops.while_operands import overfull_loops
from fissile.passes.analysis.program.stable_sorts import unstable_sorts
from fissile.passes.analysis.scalars.boolean_products import boolean_products
from fissile.passes.analysis.scalars.wide_scalars import moved_scalars, wide_scalars
from fissile.passes.catalogue import find_pass
from fissile.passes.checks.in_place.host_inserts import check_host_inserts
from fissile.passes.checks.in_place.tensor_ranges import check_tensor_ranges
from fissile.passes.checks.legality.empty_products import check_empty_products
from fissile.passes.checks.numbers.boolean_products import check_boolean_products
from fissile.passes.checks.numbers.demoted_boundaries import check_demoted_boundaries
from fissile.passes.checks.numbers.float_ops import check_float_ops
from fissile.passes.checks.numbers.global_accesses import check_chained_globals, check_moved_accesses
from fissile.passes.checks.numbers.growing_loops import check_growing_loops
from fissile.passes.checks.numbers.narrow_integers import check_narrow_integers
from fissile.passes.checks.numbers.nested_inserts import check_nested_inserts
from fissile.passes.checks.numbers.unstable_sorts import check_unstable_sorts
from fissile.passes.checks.refusals.before_dispatches import check_moved_scalars
from fissile.passes.checks.refusals.loops import check_while_operands
from fissile.passes.failures.failure import failures
from fissile.passes.failures.scalars.scalar_functions import ScalarFunctions
from fissile.passes.iree.attributes import read_target
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT
from fissile.passes.iree.targets import names_spirv

from ...phase_pipeline import PhaseHook
from ...repair.failures import suggested
from ...session import Module, PhaseFailed, Session
from . import global_order, repairing
from .guard import GUARDED_AT
from .late_reads import updated_before_read
from .lost_offsets import offsets_kept

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import OpRemedy, Remedy

SINGLE_ELEMENTS, RETURNED_ARGUMENTS = "flatten-inserts", "keep-arguments"


def single_elements(repair: bool, constants: bool = False) -> PhaseHook:
    """Finds FIS141, and repairs it where ``repair`` says so; ``constants``: that of constants, before IREE evaluates them."""

    def act(module: Module) -> list[Finding]:
        inserts = host_inserts(module.op, constants)
        if not inserts:
            return []
        from fissile.passes.remedies.host.flatten_inserts import FlattenInserts, can_flatten

        found = check_host_inserts(inserts)
        able = [can_flatten(one) for one in inserts]
        remedy = FlattenInserts(constants)
        if repair and any(able):
            found = [
                repairing.repaired(finding, remedy) if yes else finding
                for finding, yes in zip(found, able, strict=True)
            ]
            repairing.run(module, remedy, found)
        return found

    return PhaseHook(GUARDED_AT if constants else BOUNDARIES_PLACED_AT, SINGLE_ELEMENTS, act)


def returned_arguments(session: Session, repair: bool) -> PhaseHook:
    """Finds FIS142, and repairs it where ``repair`` says so. Only a module with a function that may return an argument as it came is looked at closer:
    on a clone, since what is updated in place is known when dispatches are formed."""

    def act(module: Module) -> list[Finding]:
        if not may_return_arguments(module.op):
            return []
        clone = module.clone()
        try:
            session.run(clone, DISPATCHES_OUTLINED_AT)
        except PhaseFailed:
            return []  # the compile comes there as well, and says why
        from fissile.passes.checks.in_place.overwritten_arguments import check_overwritten_arguments
        from fissile.passes.remedies.host.keep_arguments import KeepArguments

        overwritten = overwritten_arguments(clone.op)
        found = check_overwritten_arguments(overwritten)
        if repair and found:
            keep = KeepArguments(arguments=tuple(f"{one.function}:{one.number}" for one in overwritten))
            return repairing.apply(module, keep, found)
        return found

    return PhaseHook(BOUNDARIES_PLACED_AT, RETURNED_ARGUMENTS, act)


def evaluated_functions(repair: bool) -> PhaseHook:
    """Finds the failures of scalar functions in what IREE evaluates, and repairs them where ``repair`` says so. Others are found in their dispatches."""

    def act(module: Module) -> list[Finding]:
        if not module.marks.functions:
            return []
        evaluated = evaluated_ops(module.op)
        index = {op: number for number, op in enumerate(source_ops(module.op))} if evaluated else {}
        found: list[Finding] = []
        for failure in (one for one in failures() if isinstance(one, ScalarFunctions)):
            ops = [op for op in evaluated if failure.functions_in(op)]
            findings = [failure.of_constant(op) for op in ops]
            if repair and findings:
                from ...repair.strategies import OWN_REMEDY

                remedy = cast("type[OpRemedy]", find_pass(OWN_REMEDY[failure.code]))
                chosen = tuple(index[op] for op in ops)  # the bodies change, and the ops stay
                findings = repairing.apply(module, remedy(ops=chosen, **failure.for_constants), findings)
            found += findings
        return found

    return PhaseHook(GUARDED_AT, "evaluated-functions", act)


def findings_of_input(module: Module) -> list[Finding]:
    """What there is to repair in ``module`` at phase input."""
    found = [finding for row in ROWS if row.phase == GUARDED_AT for finding in row.find(module)]
    return [
        *found,
        *check_host_inserts(host_inserts(module.op, constants=True)),
        *evaluated_functions(False).act(module),
    ]


@dataclass(frozen=True)
class Row:
    """A failure that ``find`` finds in a module at ``phase``, and the pass that repairs it, which is imported where it is needed."""

    name: str
    phase: str
    find: Callable[[Module], list[Finding]]
    remedy: str
    options: Callable[[Session], dict[str, object]] = lambda _session: {}

    def hook(self, session: Session, repair: bool) -> PhaseHook:
        def act(module: Module) -> list[Finding]:
            found = self.find(module)
            if repair and found:
                return repairing.apply(
                    module, cast("Remedy", find_pass(self.remedy)(**self.options(session))), found
                )
            return found

        return PhaseHook(self.phase, self.name, act)


def _stable(module: Module) -> list[Finding]:
    return check_unstable_sorts(unstable_sorts(module.op)) if module.marks.stable_sorts else []


def _chained(module: Module) -> list[Finding]:
    return check_chained_globals((*chained_globals(module.op), *fused_globals(module.op)))


def _empty(module: Module) -> list[Finding]:
    return check_empty_products(empty_products(module.op)) if module.marks.empty_products else []


def _nested(module: Module) -> list[Finding]:
    return check_nested_inserts(nested_inserts(module.op))


def _boolean(module: Module) -> list[Finding]:
    found = boolean_products(module.op)
    targets = [read_target(text) for text in sorted(targets_of(module.op))] if found else []
    return check_boolean_products(found) if any(one.backend in KEEPS_PRODUCTS for one in targets) else []


def _lacks_wide(module: Module) -> bool:
    """Whether a target of ``module`` has SPIR-V and no 64-bit integers."""
    targets = [read_target(text) for text in sorted(targets_of(module.op))]
    return any(backend_named(one.backend).spirv and "int64" not in one.compute for one in targets)


def sizes_on_host(session: Session, repair: bool) -> PhaseHook:
    """What dispatch creation moves into dispatches and such a target lacks: found in a clone that has its dispatches."""

    def act(module: Module) -> list[Finding]:
        if not wide_scalars(module.op) or not _lacks_wide(module):
            return []
        clone = module.clone()
        try:
            moved = moved_scalars(session.run(clone, DISPATCHES_OUTLINED_AT).op)
        except PhaseFailed:  # the compile comes there as well, and says why
            return []
        found = check_moved_scalars(moved)
        return (
            repairing.apply(module, cast("Remedy", find_pass("fissile-hold-sizes")()), found)
            if repair and found
            else found
        )

    return PhaseHook(BOUNDARIES_PLACED_AT, SIZES, act)


SIZES = "sizes-on-host"
KEEPS_PRODUCTS = ("llvm-cpu", "vmvx")
"""The backends that keep matrix products as named ops until they have no booleans any more."""
ROWS = (
    Row("hide-sizes", GUARDED_AT, lambda m: check_growing_loops(growing_loops(m.op)), "fissile-hide-sizes"),
    Row("keep-order", GUARDED_AT, lambda m: check_moved_accesses(moved_accesses(m.op)), "fissile-keep-order"),
    Row("chained-globals", GUARDED_AT, _chained, "fissile-publish-globals"),
    Row("late-chained-globals", BOUNDARIES_PLACED_AT, _chained, "fissile-publish-globals"),
    Row("stable-sorts", GUARDED_AT, _stable, "fissile-stable-sorts"),
    Row(
        "demoted-boundaries",
        GUARDED_AT,
        lambda m: check_demoted_boundaries(demoted_boundaries(m.op)),
        "fissile-convert-boundaries",
        lambda session: {"words": names_spirv(session.flags)},
    ),
    Row("empty-products", GUARDED_AT, _empty, "fissile-drop-empty-products"),
    Row("nested-inserts", GUARDED_AT, _nested, "fissile-separate-inserts"),
    Row("late-nested-inserts", BOUNDARIES_PLACED_AT, _nested, "fissile-separate-inserts"),
    Row(
        "overfull-loops",
        BOUNDARIES_PLACED_AT,
        lambda m: check_while_operands(overfull_loops(m.op)),
        "fissile-pass-on-while-operands",
    ),
    Row(
        "host-integers",
        BOUNDARIES_PLACED_AT,
        lambda m: check_narrow_integers(narrow_integers(m.op)),
        "fissile-widen-host-integers",
    ),
    Row(
        "host-float-ops",
        BOUNDARIES_PLACED_AT,
        lambda m: check_float_ops(float_ops(m.op)),
        "fissile-rewrite-host-floats",
    ),
    Row("boolean-products", BOUNDARIES_PLACED_AT, _boolean, "fissile-generalise-booleans"),
    Row(
        "copied-ranges",
        BOUNDARIES_PLACED_AT,
        lambda m: check_tensor_ranges(scattered_ranges(m.op)),
        "fissile-copy-slices",
    ),
)
"""Those at phase input come before anything is canonicalised."""


def hooks(session: Session, repair: bool) -> list[PhaseHook]:
    """What is looked at and, where ``repair`` says so, repaired in every module that comes by."""
    return [
        *(row.hook(session, repair) for row in ROWS),
        evaluated_functions(repair),
        single_elements(repair, constants=True),
        single_elements(repair),
        returned_arguments(session, repair),
        updated_before_read(session, repair),
        offsets_kept(session, repair),
        sizes_on_host(session, repair),
        *global_order.scheduled_accesses(session, repair),
    ]


def findings_of(module: Module, session: Session) -> list[Finding]:
    """What there is to repair in ``module`` (at global optimisation), which is not changed but for what its dispatches would fail of."""
    found = [
        finding
        for hook in hooks(session, False)
        if hook.phase == BOUNDARIES_PLACED_AT and hook.name != SIZES
        for finding in hook.act(module)
    ] + global_order.findings_of(module, session)
    held = sizes_on_host(session, True).act(module)
    return [*found, *(suggested(one, "`fissile compile` applies it") for one in held)]
