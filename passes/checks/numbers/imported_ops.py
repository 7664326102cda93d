"""Does IREE's import read an op of StableHLO, PyTorch or ONNX as another one (FIS154, FIS155, FIS160, FIS170)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.analysis.imports.misread_broadcasts import broadcast_dims
from fissile.passes.analysis.imports.narrow_operands import sign_extended_operands

from ..dispatch_places import labelled


def check_broadcasts(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS154 of each op."""
    return [
        Finding(
            "FIS154",
            f"IREE applies the inverse of the permutation [{', '.join(map(str, broadcast_dims(op)))}] of {op.name}",
            subject=op.name,
            places=labelled(place_of(op), "reorders dimensions"),
        )
        for op in found
    ]


def check_products(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS155 of each op."""
    return [
        Finding(
            "FIS155",
            f"IREE extends unsigned operands of {op.name} ({', '.join(map(str, sign_extended_operands(op)))}) as signed integers",
            subject=op.name,
            places=labelled(place_of(op), "has unsigned operands"),
        )
        for op in found
    ]


def check_selections(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS170 of each op."""
    return [
        Finding(
            "FIS170",
            f"IREE takes another one of equal elements than {op.name} selects",
            subject=op.name,
            places=labelled(place_of(op), "selects an element of each window"),
        )
        for op in found
    ]


def check_crops(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS160 of each op, with what its front end calls it."""
    return [
        Finding(
            "FIS160",
            f"IREE drops {name} with negative widths, or rejects it",
            subject=name,
            places=labelled(place_of(op), "takes elements away"),
        )
        for name, op in found
    ]
