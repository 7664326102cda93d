"""An argument or a result of a type that IREE takes in no function (FIS407, and FIS410 where it is a number or a tensor)."""

from __future__ import annotations

from fissile.finding import Finding, Help
from fissile.passes.analysis.legality.boundary_types import BoundaryValue
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.messages import quoted

from .refused_op import CLASSES


def check_boundary(value: BoundaryValue) -> Finding:
    """FIS407 or FIS410 for ``value``."""
    code = "FIS410" if value.number else "FIS407"
    return Finding(
        code,
        f"{value.what} has a type that IREE takes in no function: {value.type}",
        subject=value.what,
        places=(value.place,) if value.place else (),
        helps=tuple(_helps(value)),
        notes=(f"class: {CLASSES[code]}",),
        stock=quoted(value.outcome.message),
        detail=value.outcome.text,
    )


def _helps(value: BoundaryValue) -> list[Help]:
    if not value.number:
        return [Help("export the model with tensors and numbers as arguments and results")]
    helps = []
    if value.as_bytes:
        cast = f"{iree_ops.FLOW_TENSOR_BITCAST} between {value.as_bytes} and {value.type} inside the function"
        helps.append(_checked(f"pass its bytes, as {value.as_bytes}", ("how", cast)))
    if value.instead:
        helps.append(_checked(f"use {value.instead} instead"))
    return helps or [Help("convert it in the model to a type that IREE takes, such as tensor<4xf32>")]


def _checked(title: str, *facts: tuple[str, str]) -> Help:
    return Help(title, facts=(("checked", "IREE compiles a function with that type"), *facts))
