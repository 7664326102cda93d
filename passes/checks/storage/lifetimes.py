"""Is every piece of storage released once, on every path, behind its last use? FIS301 to FIS309."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iree.compiler import ir

from fissile.dialect import ops_of, place_of
from fissile.effect import Effect
from fissile.finding import Finding, Place, Severity, ordered
from fissile.passes.analysis.bounds.value_names import name_of
from fissile.passes.analysis.host.early_releases import EarlyRelease
from fissile.passes.analysis.lifetime.explore import Fault, Trouble
from fissile.passes.analysis.lifetime.kinds import RELEASES, STREAM, pure_region_around, released
from fissile.passes.analysis.lifetime.module import Lifetimes, lifetimes_of
from fissile.passes.definition import Contract, Offence, Pass, define_property, option, register_pass
from fissile.passes.properties import WELL_FORMED

_CODES = {
    Fault.LEAK: "FIS301",
    Fault.TWICE: "FIS302",
    Fault.AFTER: "FIS303",
    Fault.CONSTANT: "FIS306",
    Fault.UNORDERED: "FIS307",
}


def lifetime_findings(module: ir.Operation) -> list[Finding]:
    """Everything wrong with the lifetimes in ``module``; nothing is changed."""
    return list(ordered([*_findings_of(lifetimes_of(module)), *_in_pure_regions(module)]))


def check_early_releases(found: Iterable[EarlyRelease]) -> list[Finding]:
    """FIS302 or FIS303 for each deallocation."""
    return list(ordered(_finding(one.seen, one.trouble) for one in found))


def check_released_parts(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS306 for each deallocation."""
    return list(
        ordered(
            Finding(
                "FIS306",
                f"{op.name} may release a part of a buffer, and the Vulkan runtime ends the call",
                subject=op.name,
                effect=Effect.UNPROVED,
                places=_places((op, "released here")),
            )
            for op in found
        )
    )


def _findings_of(functions: Iterable[Lifetimes]) -> Iterator[Finding]:
    """An allocation in a function that is called from several places is walked once for each. It is one defect where it leaks: never
    released if no call's storage is (FIS301), else not on every path (FIS304)."""
    functions = list(functions)
    leaks: dict[ir.Operation, list[tuple[Lifetimes, Trouble]]] = {}
    for seen in functions:
        for trouble in seen.walk.troubles:
            made = seen.flow.steps[trouble.made].op
            if trouble.fault is Fault.LEAK and made is not None:
                leaks.setdefault(made, []).append((seen, trouble))
    reported = {made: min(rows, key=lambda row: row[1].always)[1] for made, rows in leaks.items()}
    for seen in functions:
        yield from _findings(seen, reported)


def _findings(seen: Lifetimes, leaks: Mapping[ir.Operation, Trouble]) -> Iterator[Finding]:
    """``leaks`` has the one of each allocation that is reported."""
    for trouble in seen.walk.troubles:
        made = seen.flow.steps[trouble.made].op
        if trouble.fault is not Fault.LEAK or made is None or leaks[made] is trouble:
            yield _finding(seen, trouble)
    for op in dict.fromkeys(seen.flow.unknown):
        yield Finding(
            "FIS309",
            f"{op.name} takes storage, and what it does with it is not known: not checked",
            subject=op.name,
            severity=Severity.NOTE,
            places=_places((op, "")),
        )
    if not seen.walk.complete:
        yield Finding(
            "FIS309",
            f"function '{seen.name}' has too many paths to check them all",
            subject=seen.name,
            places=_places((seen.function, "")),
        )


def _finding(seen: Lifetimes, trouble: Trouble) -> Finding:
    steps = seen.flow.steps
    made, at = steps[trouble.made].op, steps[trouble.at].op
    other = steps[trouble.other].op if trouble.other is not None else None
    name = _name(made)
    way = _way(seen, trouble)
    code = _CODES[trouble.fault]
    if trouble.fault is Fault.LEAK and made is not None and made.name == STREAM:
        return Finding(
            "FIS308",
            f"{name} is not deallocated on {'any' if trouble.always else 'every'} path: its memory is free again when the last "
            "reference to it is dropped, not when the device is done",
            severity=Severity.NOTE,
            subject=name,
            places=_places(
                (made, "allocated here"), (other if other is not made else None, "last used here")
            ),
            notes=way,
        )
    if trouble.fault is Fault.LEAK:
        code = code if trouble.always else "FIS304"
        places = _places((made, "allocated here"), (other if other is not made else None, "last used here"))
        message = f"{name} is never released" if trouble.always else f"{name} is not released on every path"
    elif trouble.fault is Fault.TWICE:
        places = _places((at, "released again here"), (other, "released here"), (made, "allocated here"))
        message = f"{name} is released twice"
    elif trouble.fault is Fault.AFTER:
        places = _places((at, "used here"), (other, "released here"), (made, "allocated here"))
        message = f"{at.name if at else 'an op'} uses {name} after its release"
    elif trouble.fault is Fault.CONSTANT:
        places = _places((at, "released here"), (made, "made here"))
        message = f"{name} is released, and {_article(made)} is not an allocation"
    else:
        places = _places((at, "released here"), (other, "used here, perhaps later"), (made, "allocated here"))
        message = f"{name} is released while {other.name if other else 'queued work'} may still use it"
    # Two decisions may exclude each other in a way that no one sees here; one may not.
    sure = trouble.always or len(trouble.way) < 2
    effect: dict[str, Any] = {} if sure else {"effect": Effect.UNPROVED}
    return Finding(code, message, subject=name, places=places, notes=way, **effect)


def _way(seen: Lifetimes, trouble: Trouble) -> tuple[str, ...]:
    if trouble.always or not trouble.way:
        return ()
    parts = []
    for at, holds in trouble.way[:3]:
        op = seen.flow.steps[at].op
        where = place_of(op) if op is not None else None
        if op is not None:
            parts.append(
                f"the condition of {op.name}"
                + (f" in line {where.line}" if where and where.line else "")
                + f" is {str(holds).lower()}"
            )
    more = f" and {len(trouble.way) - 3} more" if len(trouble.way) > 3 else ""
    return (f"on a path where {', '.join(parts)}{more}",) if parts else ()


def _in_pure_regions(module: ir.Operation) -> Iterator[Finding]:
    for name in RELEASES:
        for op in ops_of(module, name):
            around = pure_region_around(op)
            if around is not None:
                what = name_of(released(op))
                yield Finding(
                    "FIS305",
                    f"{name} of {what} is inside {around.name}, which may have no side effect",
                    subject=name,
                    places=_places((op, "released here"), (around, "the pure region")),
                )


def _name(op: ir.Operation | None) -> str:
    return name_of(op.results[0]) if op is not None and len(op.results) else "an argument"


def _article(op: ir.Operation | None) -> str:
    return op.name if op is not None else "an argument"


def _places(*ops: tuple[ir.Operation | None, str]) -> tuple[Place, ...]:
    found = []
    for op, label in ops:
        place = place_of(op) if op is not None else None
        if place is not None:
            found.append(replace(place, label=label))
    return tuple(dict.fromkeys(found))


@define_property(
    "one-release-per-storage", "every storage is released once on every path, after its last use"
)
def ONE_RELEASE(op: ir.Operation) -> list[Offence]:
    return [
        Offence(f"{finding.code}: {finding.message}", finding.places[0] if finding.places else None)
        for finding in lifetime_findings(op)
        if finding.effect.is_error and finding.severity is not Severity.NOTE
    ]


@define_property("pure-regions-are-pure", "no release is in a region that may not have side effects")
def PURE_REGIONS(op: ir.Operation) -> list[Offence]:
    return [
        Offence(finding.message, finding.places[0] if finding.places else None)
        for finding in _in_pure_regions(op)
    ]


@register_pass
@dataclass(frozen=True)
class CheckLifetimes(Pass):
    """Reports storage that is not released exactly once, on every path, behind its last use.

    Covers memref.alloc with memref.dealloc, fissile.alloc_storage and fissile.alloc_tensor with fissile.kill, and
    stream.resource.alloca with stream.resource.dealloca. Every path through a function and the functions that it calls is
    walked: a leak (FIS301, FIS304), a double release (FIS302), a use after release (FIS303), a release inside a pure region
    (FIS305), of a constant (FIS306), or not ordered after all work on the device (FIS307) is reported with both places.
    With ``peak``, each function's peak of live bytes is reported with its lower bound: the bytes that are still needed at the
    same point (FIS308). Changes nothing.
    """

    name: ClassVar[str] = "fissile-check-lifetimes"
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    peak: bool = option(False, "report the peak of live bytes and its lower bound, too")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        seen = lifetimes_of(op)
        found = _findings_of(seen)
        for finding in ordered(
            [*found, *_in_pure_regions(op), *(_peak(one) for one in seen if self.peak and one.walk.moments)]
        ):
            report(finding)


def _peak(seen: Lifetimes) -> Finding:
    peak, bound = seen.walk.peak, seen.walk.bound
    steps = seen.flow.steps
    late = [m for m in peak.held if m not in peak.needed_by]
    notes = [
        "a size is not known, so there is no bound on the bytes that are needed at one point"
        if bound.needed.value is None
        else f"at least {bound.needed} bytes are needed at one point, with the allocations where they are"
    ]
    notes += [f"{_name(steps[m].op)} is alive and not used any more" for m in dict.fromkeys(late)]
    return Finding(
        "FIS308",
        f"peak of live bytes in '{seen.name}': {peak.live}; lower bound {bound.needed}",
        severity=Severity.NOTE,
        subject=seen.name,
        places=_places((steps[peak.at].op, "the peak is here")),
        notes=tuple(notes),
    )
