"""Do threads share a buffer, in workgroup memory or a result in storage, without a barrier?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.footprint import WORKGROUP, Allocation

from ..dispatch_places import labelled


def check_races(dispatch: Dispatch, races: Sequence[Allocation], ops: Sequence[SourceOp]) -> Finding | None:
    """FIS111 where ``races`` (from the probe) is not empty: the result depends on the order of threads."""
    if not races:
        return None
    values, places = [], []
    for race in races:
        owner = next((ops[tag] for tag in race.tags if tag < len(ops)), None)
        values.append(f"{owner.name or owner.op} {race.type}" if owner else race.type)
        at = owner.place if owner else race.place
        places += labelled(at, "what it writes is shared between threads, with no barrier")
    places += labelled(dispatch.place, "root of the dispatch")
    what = values[0] if len(values) == 1 else f"{len(values)} values"
    where = "workgroup memory" if any(race.space == WORKGROUP for race in races) else "the result's storage"
    return Finding(
        "FIS111",
        f"threads read {what} in {where} with no barrier after it is written",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=tuple(dict.fromkeys(places)),
        notes=tuple(f"shared: {value}" for value in values) if len(values) > 1 else (),
    )
