"""What IREE does wrong on every target, whatever code is generated: found and repaired, most when global optimisation is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fissile.finding import Finding, Severity
from fissile.passes.analysis.host.growing_loops import growing_loops
from fissile.passes.analysis.host.host_inserts import host_inserts
from fissile.passes.analysis.host.narrow_integers import narrow_integers
from fissile.passes.analysis.host.overwritten_arguments import may_return_arguments, overwritten_arguments
from fissile.passes.analysis.host.tensor_ranges import scattered_ranges
from fissile.passes.analysis.program.stable_sorts import unstable_sorts
from fissile.passes.checks.numbers.growing_loops import check_growing_loops
from fissile.passes.checks.numbers.host_inserts import check_host_inserts
from fissile.passes.checks.numbers.narrow_integers import check_narrow_integers
from fissile.passes.checks.numbers.tensor_ranges import check_tensor_ranges
from fissile.passes.checks.numbers.unstable_sorts import check_unstable_sorts
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from .guard import GUARDED_AT

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import Remedy

NAMES = ("flatten-inserts", "keep-arguments", "hide-sizes", "stable-sorts", "host-integers", "tensor-ranges")


def single_elements(repair: bool) -> PhaseHook:
    """Finds FIS141, and repairs it where ``repair`` says so."""

    def act(module: Module) -> list[Finding]:
        inserts = host_inserts(module.op)
        if not inserts:
            return []
        from fissile.passes.remedies.host.flatten_inserts import FlattenInserts, can_flatten

        found = check_host_inserts(inserts)
        able = [can_flatten(one) for one in inserts]
        if repair and any(able):
            found = [
                _repaired(finding, FlattenInserts()) if yes else finding
                for finding, yes in zip(found, able, strict=True)
            ]
            module.about_to_change()
            _run(FlattenInserts(), module, found)
        return found

    return PhaseHook(BOUNDARIES_PLACED_AT, NAMES[0], act)


def _repaired(finding: Finding, remedy: Remedy) -> Finding:
    done = remedy.help(("pass", str(remedy)), ("numerics", remedy.numbers))
    return finding.with_(severity=Severity.REPAIRED, helps=(done,))


def _run(remedy: Remedy, module: Module, found: list[Finding]) -> None:
    from ...pass_runner import run_pipeline

    run_pipeline(f"builtin.module({remedy})", module.op, report=found.append)


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
        from fissile.passes.checks.numbers.overwritten_arguments import check_overwritten_arguments
        from fissile.passes.remedies.host.keep_arguments import KeepArguments

        overwritten = overwritten_arguments(clone.op)
        found = check_overwritten_arguments(overwritten)
        if repair and found:
            keep = KeepArguments(arguments=tuple(f"{one.function}:{one.number}" for one in overwritten))
            found = [_repaired(finding, keep) for finding in found]
            module.about_to_change()
            _run(keep, module, found)
        return found

    return PhaseHook(BOUNDARIES_PLACED_AT, NAMES[1], act)


def findings_of_input(module: Module) -> list[Finding]:
    """FIS137 and FIS146 of ``module`` (phase input)."""
    return [*_growing(module), *_unstable(module)]


def _growing(module: Module) -> list[Finding]:
    return check_growing_loops(growing_loops(module.op))


def _unstable(module: Module) -> list[Finding]:
    return check_unstable_sorts(unstable_sorts(module.op)) if module.marks.stable_sorts else []


def exchanged_keys(repair: bool) -> PhaseHook:
    """Finds FIS146, and repairs it where ``repair`` says so."""

    def remedy() -> Remedy:
        from fissile.passes.remedies.decompose.stable_sorts import StableSorts

        return StableSorts()

    return _at(GUARDED_AT, NAMES[3], _unstable, remedy, repair)


def changing_sizes(repair: bool) -> PhaseHook:
    """Finds FIS137, and repairs it where ``repair`` says so: before anything is canonicalised."""

    def remedy() -> Remedy:
        from fissile.passes.remedies.host.hide_sizes import HideSizes

        return HideSizes()

    return _at(GUARDED_AT, NAMES[2], _growing, remedy, repair)


def host_integers(repair: bool) -> PhaseHook:
    """Finds FIS148, and repairs it where ``repair`` says so."""

    def remedy() -> Remedy:
        from fissile.passes.remedies.host.widen_host_integers import WidenHostIntegers

        return WidenHostIntegers()

    def find(module: Module) -> list[Finding]:
        return check_narrow_integers(narrow_integers(module.op))

    return _at(BOUNDARIES_PLACED_AT, NAMES[4], find, remedy, repair)


def copied_ranges(repair: bool) -> PhaseHook:
    """Finds FIS149, and repairs it where ``repair`` says so."""

    def remedy() -> Remedy:
        from fissile.passes.remedies.host.copy_slices import CopySlices

        return CopySlices()

    def find(module: Module) -> list[Finding]:
        return check_tensor_ranges(scattered_ranges(module.op))

    return _at(BOUNDARIES_PLACED_AT, NAMES[5], find, remedy, repair)


def _at(
    phase: str,
    name: str,
    find: Callable[[Module], list[Finding]],
    remedy: Callable[[], Remedy],
    repair: bool,
) -> PhaseHook:
    """``remedy`` is made, and imported, only where something is found."""

    def act(module: Module) -> list[Finding]:
        found = find(module)
        if repair and found:
            chosen = remedy()
            found = [_repaired(finding, chosen) for finding in found]
            module.about_to_change()
            _run(chosen, module, found)
        return found

    return PhaseHook(phase, name, act)


def hooks(session: Session, repair: bool) -> list[PhaseHook]:
    """What is looked at and, where ``repair`` says so, repaired in every module that comes by."""
    return [
        changing_sizes(repair),
        exchanged_keys(repair),
        single_elements(repair),
        host_integers(repair),
        copied_ranges(repair),
        returned_arguments(session, repair),
    ]


def findings_of(module: Module, session: Session) -> list[Finding]:
    """What there is to repair in ``module`` (at global optimisation), which is not changed."""
    return [
        finding
        for hook in hooks(session, False)
        if hook.phase == BOUNDARIES_PLACED_AT
        for finding in hook.act(module)
    ]
