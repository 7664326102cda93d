"""Does code for the CPU count where a product of booleans is one of truth values (FIS216)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding

from ..dispatch_places import labelled


def check_boolean_products(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS216 of each op."""
    return [
        Finding(
            "FIS216",
            f"{op.name} of booleans: IREE counts the products that are true, and reads whether the count is odd",
            subject=op.name,
            places=labelled(place_of(op), "multiplied and added as bytes"),
        )
        for op in found
    ]
