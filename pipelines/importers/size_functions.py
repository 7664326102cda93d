"""Python's functions on sizes in an exported PyTorch program, as ops on integers.

`torch.export` keeps `torch.sym_max(size, 20)` and `int(size / 2)` as calls of Python functions on symbolic sizes. iree-turbine 3.9
imports comparisons and `+ - * / // %` only, and raises AssertionError or NotImplementedError for others.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_MOST = 16
"""Factors of a power, and bits of a shift."""
_EXACT = 2**20
"""What a factor's numerator and denominator may be, so that a float64 holds the product with any size."""


@dataclass(frozen=True)
class _Ratio:
    """A number that Python computes as a float without rounding before the last division; each part is a node or an int."""

    above: Any
    below: Any


def as_integer_ops(graph: torch.fx.Graph) -> None:
    """Rewrites `sym_max`, `sym_min`, powers and shifts by a constant, and exact quotients as whole numbers, in place; others stay.

    A product with a factor such as 0.3 is rounded: integers would give another size in rare cases.
    """
    import torch

    of_two = {torch.sym_max: torch.ops.prim.max.int, torch.sym_min: torch.ops.prim.min.int}
    of_constants = {operator.pow: _power, operator.lshift: _times_power, operator.rshift: _over_power}
    for node in [node for node in graph.nodes if node.op == "call_function"]:
        made = None
        with graph.inserting_before(node):
            if node.target in of_two and all(map(_is_integer, node.args)):
                node.target = of_two[node.target]
            elif node.target in (math.trunc, torch.sym_int):
                ratio = _ratio(graph, node.args[0])
                made = None if ratio is None else _quotient(graph, ratio)
            elif node.target in of_constants and all(map(_is_integer, node.args)):
                value, count = node.args
                if isinstance(count, int) and 0 <= count <= _MOST:
                    made = of_constants[node.target](graph, value, count)
        if made is not None:
            _replace(node, made)
    for node in list(graph.nodes):
        if node.target is torch.sym_sqrt and _is_integer(size := _size(node.args[0])):
            node.target, node.args = torch.ops.aten.sqrt.int, (size,)
    for node in reversed(list(graph.nodes)):
        if node.target is torch.sym_float and not node.users:
            graph.erase_node(node)
        elif node.target is torch.sym_float and _is_integer(node.args[0]):
            node.target = torch.ops.aten.Float.Scalar


def _power(graph: torch.fx.Graph, base: Any, count: int) -> Any:
    made = base if count else 1
    for _ in range(count - 1):
        made = _call(graph, operator.mul, made, base)
    return made


def _times_power(graph: torch.fx.Graph, value: Any, count: int) -> Any:
    return _call(graph, operator.mul, value, 2**count)


def _over_power(graph: torch.fx.Graph, value: Any, count: int) -> Any:
    return _call(graph, operator.floordiv, value, 2**count)


def left_on_sizes(graph: torch.fx.Graph) -> list[str]:
    """The functions of Python on sizes that iree-turbine does not import."""
    import torch

    of_ints = {operator.pow, operator.lshift, operator.rshift, math.trunc}
    known = {
        torch.sym_max,
        torch.sym_min,
        torch.sym_int,
        torch.sym_float,
        torch.sym_sqrt,
        torch.sym_ite,
        *of_ints,
    }
    return sorted({node.target.__name__ for node in graph.nodes if node.target in known})


def _replace(node: torch.fx.Node, made: Any) -> None:
    node.replace_all_uses_with(made)
    pending = [node]
    while pending:
        dead = pending.pop()
        if not dead.users and dead.op == "call_function":
            pending += dead.all_input_nodes
            dead.graph.erase_node(dead)


def _ratio(graph: torch.fx.Graph, value: Any) -> _Ratio | None:
    import torch

    if _is_integer(value):
        return _Ratio(value, 1)
    if getattr(value, "op", "") != "call_function":
        return None
    if value.target is torch.sym_float:
        return _ratio(graph, value.args[0])
    if value.target is operator.truediv:
        above, below = map(_size, value.args)
        return _Ratio(above, below) if _is_integer(above) and _is_integer(below) else None
    if value.target is operator.mul:
        parts = [part for part in value.args if not isinstance(part, float)]
        [factor] = [part for part in value.args if isinstance(part, float)] or [0.0]
        ratio = _ratio(graph, parts[0]) if len(parts) == 1 else None
        above, below = factor.as_integer_ratio() if math.isfinite(factor) else (0, 1)
        if ratio is None or ratio.below != 1 or not 0 < above <= _EXACT or below > _EXACT:
            return None
        return _Ratio(_call(graph, operator.mul, ratio.above, above), below)
    return None


def _quotient(graph: torch.fx.Graph, ratio: _Ratio) -> Any:
    """``ratio`` rounded down, which is what cuts its fraction off if no part is negative."""
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    signs = [statically_known_true(_value(part) >= 0) for part in (ratio.above, ratio.below)]
    return _call(graph, operator.floordiv, ratio.above, ratio.below) if all(signs) else None


def _size(value: Any) -> Any:
    """What `sym_float` converts."""
    import torch

    return value.args[0] if getattr(value, "target", None) is torch.sym_float else value


def _is_integer(value: Any) -> bool:
    import torch

    return isinstance(_value(value), int | torch.SymInt) and not isinstance(value, bool)


def _value(value: Any) -> Any:
    """What the exporter knows of a node; another value is itself."""
    return value.meta.get("val") if hasattr(value, "meta") else value


def _call(graph: torch.fx.Graph, function: Callable, *operands: Any) -> Any:
    if all(isinstance(one, int) for one in operands):
        return function(*operands)
    node = graph.call_function(function, operands)
    node.meta["val"] = function(*map(_value, operands))
    return node
