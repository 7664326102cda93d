"""A convolution of groups as one `linalg.generic`: channels are a dimension of groups and one inside of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attribute
from fissile.passes.analysis.imports.stablehlo_ops import element_of, shape_of, width_of
from fissile.passes.remedies.generic_ops import build_generic

from ..stablehlo.sizes import as_value, index
from ..stablehlo.values import bits_as, widened, without_sign
from .bordered import bordered

_NUMBERS = re.compile(r"\[(?P<given>[^\]]*)\]x\[(?P<kernel>[^\]]*)\]->\[(?P<made>[^\]]*)\]")


def is_writable(op: ir.Operation) -> bool:
    """Windows that are not reversed, without holes between the elements that are read, nor a border that takes elements away."""
    spatial = len(shape_of(op.operands[0])) - 2
    reverse = "window_reversal" in op.attributes and any(ir.DenseBoolArrayAttr(op.attributes["window_reversal"]))  # fmt: skip
    holes = set(_numbers(op, "lhs_dilation", spatial)) - {1}
    window = [size for size, name in zip(shape_of(op.operands[1]), dims_of(op)[1], strict=True) if name.isdigit()]  # fmt: skip
    known = ir.ShapedType.get_dynamic_size() not in window
    elements = [element_of(one) for one in (*op.operands, op.results[0])]
    numbers = all(isinstance(one, (ir.FloatType, ir.IntegerType)) and width_of(one) > 1 for one in elements)
    return known and numbers and not reverse and not holes and min(_borders(op, spatial), default=0) >= 0


def of_all_groups(op: ir.Operation, count: int) -> ir.Value:
    """The result of the convolution ``op`` of ``count`` groups."""
    given, kernel_dims, made_dims = dims_of(op)
    spatial = len(given) - 2
    result = ir.RankedTensorType(op.results[0].type)
    value, kernel = (widened(one, result.element_type) for one in op.operands)
    value, kernel = without_sign(value), without_sign(kernel)
    element = element_of(value)
    zero = arith.constant(element, 0.0 if isinstance(element, ir.FloatType) else 0)
    value = _around(op, value, given, zero)
    shapes = shape_of(value), shape_of(kernel)
    value = _split(value, given.index("f"), count)
    kernel = _split(kernel, kernel_dims.index("o"), count)
    # Loops: batch, each spatial dimension, group, made channel; each element of the window, read channel.
    names = ["b", *map(str, range(spatial)), "g", "o", *(f"w{at}" for at in range(spatial)), "i"]
    loop = {name: ir.AffineDimExpr.get(number) for number, name in enumerate(names)}
    steps, holes = _numbers(op, "window_strides", spatial), _numbers(op, "rhs_dilation", spatial)

    def place(name: str) -> list[ir.AffineExpr]:
        if name == "f":
            return [loop["g"], loop["i"]]
        if name == "b":
            return [loop["b"]]
        at = int(name)
        return [loop[name] * steps[at] + loop[f"w{at}"] * holes[at]]

    read = [one for name in given for one in place(name)]
    by = [
        one
        for name in kernel_dims
        for one in ([loop["g"], loop["o"]] if name == "o" else [loop["i" if name == "i" else f"w{name}"]])
    ]
    written = [one for name in made_dims for one in ([loop["g"], loop["o"]] if name == "f" else [loop[name]])]
    maps = [ir.AffineMap.get(len(names), 0, exprs) for exprs in (read, by, written)]
    sizes = _sizes(op, value, shapes, given, made_dims, kernel_dims, (steps, holes), count)
    empty = tensor.EmptyOp(sizes, element).result
    parallel = [True] * (spatial + 3) + [False] * (spatial + 1)
    generic, body = build_generic([value, kernel], [linalg.fill(zero, outs=[empty])], maps, parallel)
    with ir.InsertionPoint(body):
        left, right, total = body.arguments
        floats = isinstance(element, ir.FloatType)
        product = (arith.mulf if floats else arith.muli)(left, right)
        linalg.YieldOp([(arith.addf if floats else arith.addi)(total, product)])
    joined = _joined(generic.results[0], made_dims.index("f"))
    kind = ir.RankedTensorType.get(result.shape, element)
    joined = joined if joined.type == kind else tensor.CastOp(kind, joined).result
    return bits_as(joined, result.element_type)


def _sizes(
    op: ir.Operation,
    value: ir.Value,
    shapes: tuple[Sequence[int], Sequence[int]],
    given: Sequence[str],
    made: Sequence[str],
    kernel: Sequence[str],
    windows: tuple[Sequence[int], Sequence[int]],
    count: int,
) -> list[int | ir.Value]:
    """Those of the result, with the groups apart; ``value`` has its border, and ``shapes`` are those before the groups were set apart."""
    unknown = ir.ShapedType.get_dynamic_size()
    sizes: list[int | ir.Value] = []
    for name in made:
        if name == "f":
            sizes += [count, shapes[1][kernel.index("o")] // count]
            continue
        at = given.index(name)
        known = shapes[0][at]
        size: int | ir.Value = known
        if known == unknown:
            size = tensor.DimOp(value, index(at + (at > given.index("f")))).result
        if name == "b":
            sizes.append(size)
            continue
        step, hole = windows[0][int(name)], windows[1][int(name)]
        span = (shapes[1][kernel.index(name)] - 1) * hole + 1
        if isinstance(size, int):
            sizes.append(max(size - span + step, 0) // step)
        else:
            behind = arith.maxsi(arith.addi(size, as_value(step - span)), index(0))
            sizes.append(arith.divui(behind, index(step)))
    return sizes


def _around(op: ir.Operation, value: ir.Value, given: Sequence[str], zero: ir.Value) -> ir.Value:
    borders = _borders(op, len(given) - 2)
    if not any(borders):
        return value
    low, high = ([borders[2 * int(name) + side] if name.isdigit() else 0 for name in given] for side in (0, 1))  # fmt: skip
    return bordered(value, low, high, zero)


def _split(value: ir.Value, dim: int, count: int) -> ir.Value:
    """``dim``, whose size is known, as ``count`` groups and what is in each."""
    shape = list(shape_of(value))
    wide = [*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :]]
    return _regrouped("tensor.expand_shape", value, dim, wide, wide)


def _joined(value: ir.Value, dim: int) -> ir.Value:
    shape = list(shape_of(value))
    whole = [*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :]]
    return _regrouped("tensor.collapse_shape", value, dim, whole, None)


def _regrouped(name: str, value: ir.Value, dim: int, made: list[int], output: list[int] | None) -> ir.Value:
    unknown = ir.ShapedType.get_dynamic_size()
    rank = len(made) - 1 if output is not None else len(made)
    groups = [[at + (at > dim)] if at != dim else [dim, dim + 1] for at in range(rank)]
    i64 = ir.IntegerType.get_signless(64)
    rows = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, one) for one in row]) for row in groups])  # fmt: skip
    attributes: dict[str, ir.Attribute] = {"reassociation": rows}
    operands = [value]
    if output is not None:
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(output)
        for at, size in enumerate(output):
            if size == unknown:
                operands.append(tensor.DimOp(value, index(at - (at > dim))).result)
    type_ = ir.RankedTensorType.get(made, element_of(value))
    return ir.Operation.create(name, [type_], operands, attributes).results[0]


def dims_of(op: ir.Operation) -> tuple[list[str], list[str], list[str]]:
    """What each dimension of the tensor, the kernel and the result is: b, f, i, o, or the number of a spatial one."""
    found = _NUMBERS.search(str(attribute(op, "dimension_numbers")))
    assert found is not None  # the dialect's own form
    given, kernel, made = (found[name].replace(" ", "").split(",") for name in ("given", "kernel", "made"))
    return given, kernel, made


def _numbers(op: ir.Operation, name: str, count: int) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [1] * count


def _borders(op: ir.Operation, spatial: int) -> list[int]:
    """Before and behind each spatial dimension."""
    if "padding" not in op.attributes:
        return [0] * (2 * spatial)
    found = ir.DenseIntElementsAttr(op.attributes["padding"])
    return [int(found[at]) for at in range(2 * spatial)]
