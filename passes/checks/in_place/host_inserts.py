"""Does the host write a single element into a tensor of several dimensions (FIS141)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.host_inserts import HostInsert

from ..dispatch_places import labelled


def check_host_inserts(found: Iterable[HostInsert]) -> list[Finding]:
    """FIS141 of each op."""
    return [_finding(one) for one in found]


def _finding(one: HostInsert) -> Finding:
    shape = "x".join("?" if size is None else str(size) for size in one.shape)
    many = "as many elements as a row has, and more," if one.extra is None else f"{one.extra + 1} elements"
    return Finding(
        "FIS141",
        f"IREE writes {many} where {one.op.name} writes one, into a tensor of {shape}",
        subject=one.op.name,
        places=labelled(one.place, "the elements that follow are overwritten too"),
    )
