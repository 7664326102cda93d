"""Does IREE join two ops that put a tensor into larger ones, at wrong places (FIS157)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.nested_inserts import NestedInsert

from ..dispatch_places import labelled

PADDED_TWICE = "pads a padded tensor"


def check_nested_inserts(found: Iterable[NestedInsert]) -> list[Finding]:
    """FIS157 of each pair."""
    return [
        Finding(
            "FIS157",
            joined_inserts(one.outer.name, one.inner.name),
            subject=one.outer.name,
            places=labelled(one.place, PADDED_TWICE),
        )
        for one in found
    ]


def joined_inserts(outer: str, inner: str) -> str:
    return f"IREE joins {outer} with the {inner} before it, and puts the elements at other positions"
