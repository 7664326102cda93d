"""The ops of a program that have an effect and a text of their own, by which they are found again in what IREE makes of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree.legality.traced import EFFECTS

from .units import FUNCTIONS, op_name

_PLUMBING = ("builtin.module", "tensor.empty", *FUNCTIONS)


@dataclass(frozen=True)
class Effect:
    """``text`` is in quotes, as IREE prints it; ``around`` the op in whose body it stands, and empty in a function's own."""

    op: str
    text: str
    place: Place | None
    around: str = ""


def effects(module: ir.Operation) -> list[Effect]:
    """Those whose text no other op of the module has, and that reads the same inside quotes."""
    found: list[Effect] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in EFFECTS and (text := text_of(op, EFFECTS[op.name])):
            parent = op.parent.operation
            around = "" if parent.name in FUNCTIONS else op_name(parent)
            found.append(Effect(op.name, f'"{text}"', place_of(op), around))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    times = Counter(effect.text for effect in found)
    return [
        e
        for e in found
        if times[e.text] == 1 and e.text[1:-1].isprintable() and not {'"', "\\"} & set(e.text[1:-1])
    ]


def op_counts(module: ir.Operation) -> dict[str, int]:
    """How often each op occurs, by its own name; constants, terminators and functions are left out."""
    found: Counter[str] = Counter()

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name not in _PLUMBING and "constant" not in name and not name.endswith((".return", ".yield")):
            found[name] += 1
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return dict(found)
