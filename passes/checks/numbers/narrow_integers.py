"""Does the host compute with integers that have fewer bits than the VM's (FIS148)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.narrow_integers import NarrowOp, reads_sign

from ..dispatch_places import labelled


def check_narrow_integers(found: Iterable[NarrowOp]) -> list[Finding]:
    """FIS148 of each op."""
    return [
        Finding(
            "FIS148",
            f"IREE computes {one.op.name} of i{one.bits} on the host with 32 bits: "
            + ("the sign is lost" if reads_sign(one.op) else "bits above the width count"),
            subject=one.op.name,
            places=labelled(one.place, f"computed on the host, in i{one.bits}"),
        )
        for one in found
    ]
