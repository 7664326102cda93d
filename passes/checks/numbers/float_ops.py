"""Does the host compute an op on floats otherwise than it is defined (FIS153)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.float_ops import FloatOp

from ..dispatch_places import labelled


def check_float_ops(found: Iterable[FloatOp]) -> list[Finding]:
    """FIS153 of each op."""
    return [
        Finding(
            "FIS153",
            f"on the host, IREE {one.what}",
            subject=one.op.name,
            places=labelled(one.place, "computed on the host"),
        )
        for one in found
    ]
