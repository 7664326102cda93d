"""Integer arithmetic of sizes, as a program computes it from the shapes of its tensors."""

from __future__ import annotations

from math import prod

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of

from .onnx_values import OPERATOR, integers_of, sizes_of

REMAINDER, QUOTIENT = "onnx.Mod", "onnx.Div"
PYTHON_REMAINDERS = ("aten.remainder.int", "aten.fmod.int")
"""The second is what iree-turbine writes for Python's % of sizes; the dialect has no such op."""
_MOST = 16
"""Elements: the sizes of one tensor, or the widths of its borders."""
_DEEP = 24
_SIZED = {
    "onnx.CenterCropPad": 1, "onnx.ConstantOfShape": 0, "onnx.Expand": 1, "onnx.OneHot": 1, "onnx.Pad": 1, "onnx.Range": 0, "onnx.Reshape": 1,
    "onnx.Resize": 1, "onnx.Slice": 1, "onnx.Split": 1, "onnx.Tile": 1, "onnx.TopK": 1, "onnx.Upsample": 1,
}  # fmt: skip
"""Op -> the number of its first operand that is a list of sizes, positions or widths."""
_COUNTS = ("onnx.Shape", "onnx.Size", "torch.aten.size.int", "torch.symbolic_int")
_KEEP = (
    "onnx.Add", "onnx.Cast", "onnx.Concat", "onnx.Div", "onnx.Gather", "onnx.Identity", "onnx.Mod", "onnx.Mul", "onnx.ReduceProd", "onnx.ReduceSum",
    "onnx.Reshape", "onnx.Slice", "onnx.Squeeze", "onnx.Unsqueeze", "torch.aten.add.int", "torch.aten.floordiv.int", "torch.aten.mul.int",
)  # fmt: skip
"""Ops whose result is not negative where no number that they compute with is."""
_FIRST_ALONE = ("onnx.Gather", "onnx.ReduceProd", "onnx.ReduceSum", "onnx.Reshape", "onnx.Slice", "onnx.Squeeze", "onnx.Unsqueeze")  # fmt: skip
"""Of these the first operand alone is such a number; the others say where it is."""


def rounds_otherwise(op: ir.Operation) -> bool:
    """Whether ``op`` divides a number that may be negative, and IREE 3.13 rounds to the other side.

    As sizes of tensors are numbers and no tensors there, the import turns `onnx.Mod` into a remainder with the sign of the dividend, and
    `onnx.Div` into a quotient that is rounded down. Where they stay tensors, both are right.
    """
    name = name_of(op)
    if name in PYTHON_REMAINDERS:
        return (
            len(op.operands) == 2
            and str(op.results[0].type) == "!torch.int"
            and may_be_negative(op.operands[0])
        )
    if name not in (REMAINDER, QUOTIENT) or len(op.operands) != 2 or not _is_list(op.results[0]):
        return False
    if (
        name == REMAINDER
        and (held := attribute(op, "torch.onnx.fmod")) is not None
        and ir.IntegerAttr(held).value
    ):
        return False
    return may_be_negative(op.operands[0]) and _becomes_size(op.results[0], _DEEP)


def has_no_lowering(op: ir.Operation) -> bool:
    """Whether ``op`` is Python's % as iree-turbine writes it. TorchScript's op of this name has a float as its result."""
    return (
        name_of(op) == PYTHON_REMAINDERS[1]
        and len(op.operands) == 2
        and str(op.results[0].type) == "!torch.int"
    )


def name_of(op: ir.Operation) -> str:
    """`onnx.Mod`, `aten.remainder.int`: what the front end calls ``op``."""
    return _full_name(op).removeprefix("torch.")


def _full_name(op: ir.Operation) -> str:
    return text_of(op, "name") if op.name == OPERATOR and "name" in op.attributes else op.name


def may_be_negative(value: ir.Value, deep: int = _DEEP) -> bool:
    """Whether a number of ``value`` may be negative: not where it is counted, or computed from what is."""
    if isinstance(value.owner, ir.Block) or not deep:
        return True
    op = value.owner.operation
    name = _full_name(op)
    if name in _COUNTS:
        return False
    if name == "torch.constant.int":
        return ir.IntegerAttr(op.attributes["value"]).value < 0
    if (numbers := integers_of(value)) is not None:
        return any(number < 0 for number in numbers)
    if name == "onnx.Max":
        return all(may_be_negative(one, deep - 1) for one in op.operands)
    if name not in _KEEP:
        return True
    operands = list(op.operands)[:1] if name in _FIRST_ALONE else op.operands
    return any(may_be_negative(one, deep - 1) for one in operands)


def _is_list(value: ir.Value) -> bool:
    """Whether ``value`` is an integer or a short list of them."""
    sizes, element = sizes_of(value), str(value.type).rpartition(",")[2].rstrip(">")
    if sizes is None or element not in ("si64", "si32") or len(sizes) > 1 or None in sizes:
        return False
    return prod(size or 0 for size in sizes) <= _MOST


def _becomes_size(value: ir.Value, deep: int) -> bool:
    """Whether an op takes its sizes from ``value``, or from what is computed of it."""
    for use in value.uses:
        op = use.owner.operation
        first = _SIZED.get(_full_name(op))
        if first is not None and use.operand_number >= first:
            return True
        computed = [one for one in op.results if _is_list(one)]
        if deep and any(_becomes_size(one, deep - 1) for one in computed):
            return True
    return False
