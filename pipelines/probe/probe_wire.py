"""What a probe server answers, as JSON values and back."""

from __future__ import annotations

from dataclasses import asdict

from fissile.finding import Place
from fissile.passes.analysis.kernel.narrow_access import NarrowAccess, Numbers
from fissile.passes.analysis.kernel.repeated_work import Repeated
from fissile.passes.analysis.memory.footprint import Allocation, Footprint
from fissile.quantity import Bytes, Certainty

from .diagnostics import Diagnostic
from .one_dispatch import Probed


def encode(value):
    """A `Probed` or Diagnostic (or None) as JSON values."""
    if value is None:
        return None

    def plain(item):
        if isinstance(item, Certainty):
            return item.value
        if isinstance(item, dict):
            return {key: plain(inner) for key, inner in item.items()}
        if isinstance(item, (list, tuple)):
            return [plain(inner) for inner in item]
        return item

    return plain(asdict(value))


def decode_diagnostic(data: dict | None) -> Diagnostic | None:
    if data is None:
        return None
    return Diagnostic(
        data["severity"],
        data["message"],
        data["text"],
        tuple(Place(**p) for p in data["places"]),
        tuple(data["tags"]),
    )


def decode_probed(data: dict) -> Probed:
    """What `encode` made of a `Probed`, all of its fields."""
    return Probed(
        decode_footprint(data["footprint"]),
        decode_diagnostic(data["failure"]),
        tuple(decode_allocation(a) for a in data["races"]),
        tuple(data["lost_signs"]),
        tuple(data["misplaced"]),
        data["iterations"],
        Repeated(**data["repeated"]),
        tuple(decode_allocation(a) for a in data["diagonals"]),
        decode_access(data["narrow"]),
        data["refusal"],
    )


def decode_access(data: dict) -> NarrowAccess:
    return NarrowAccess(Numbers(data["numbers"]), data["why"], data["refusal"])


def decode_allocation(data: dict) -> Allocation:
    count = Bytes(data["bytes"]["value"], Certainty(data["bytes"]["certainty"]), data["bytes"]["origin"])
    place = Place(**data["place"]) if data["place"] else None
    return Allocation(data["space"], count, data["type"], tuple(data["tags"]), place)


def decode_footprint(data: dict) -> Footprint:
    return Footprint(tuple(decode_allocation(a) for a in data["allocations"]))
