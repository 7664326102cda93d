"""Does IREE join two ops that put a tensor into larger ones, at wrong places (FIS157)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, Place
from fissile.passes.analysis.host.nested_inserts import NestedInsert

from ..dispatch_places import labelled


def check_nested_inserts(found: Iterable[NestedInsert]) -> list[Finding]:
    """FIS157 of each pair."""
    return [_finding(one.outer.name, one.inner.name, one.place) for one in found]


def check_nested_pads(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS157 of each outer op of StableHLO."""
    return [_finding(op.name, op.name, place_of(op)) for op in found]


def _finding(outer: str, inner: str, place: Place | None) -> Finding:
    return Finding(
        "FIS157",
        f"IREE joins {outer} with the {inner} before it, and puts the elements at other positions",
        subject=outer,
        places=labelled(place, "pads a padded tensor"),
    )
