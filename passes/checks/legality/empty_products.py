"""Does IREE crash on a product over a dimension without elements (FIS416)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding

from ..dispatch_places import labelled


def check_empty_products(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS416 of each op."""
    return [
        Finding(
            "FIS416",
            f"IREE crashes on {op.name} over a dimension without elements",
            subject=op.name,
            places=labelled(place_of(op), "there is nothing to add up"),
        )
        for op in found
    ]
