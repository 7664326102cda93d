"""Hyperbolic functions, and their inverses, in the bodies of ops."""

from __future__ import annotations

from iree.compiler import ir

from .bodies import ops_in_bodies

HYPERBOLICS = ("math.sinh", "math.cosh", "math.asinh", "math.acosh", "math.atanh")


def hyperbolics_in(op: ir.Operation) -> list[ir.Operation]:
    """Those in the regions of ``op`` of floats of 32 bits or less."""
    return [one for one in ops_in_bodies(op) if one.name in HYPERBOLICS and _is_narrow(one.results[0].type)]


def _is_narrow(type_: ir.Type) -> bool:
    return isinstance(type_, ir.FloatType) and type_.width <= 32
