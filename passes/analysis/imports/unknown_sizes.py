"""ONNX ops of which IREE's import computes with a size that it does not know."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.dialect.places import ops_of

from .onnx_values import OPERATOR, sizes_of

POOLS = ("onnx.AveragePool", "onnx.LpPool", "onnx.MaxPool")
EXTREMES = ("onnx.ArgMax", "onnx.ArgMin")
CROP = "onnx.CenterCropPad"
CHANNELS = "onnx.LRN"
SAME = ("SAME_UPPER", "SAME_LOWER")
_ATTRIBUTE = "torch.onnx."


def takes_unknown_sizes(op: ir.Operation) -> bool:
    """Whether IREE 3.13 computes ``op`` with a size of -1 (torch-mlir's number for a size that is not known).

    These are the borders of a pool with auto_pad = SAME_UPPER or SAME_LOWER, the padded image of a maximum with other borders before than
    after, the position of the last of equal elements, whether an image is to be cropped or padded, and the image over whose channels a
    local response is averaged, if several of its sizes are not known.
    """
    if op.name != OPERATOR or "name" not in op.attributes or not op.operands:
        return False
    name, sizes = text_of(op, "name"), sizes_of(op.operands[0])
    if sizes is None or None not in sizes:
        return False
    if name in POOLS:
        return None in sizes[2:] and _measures(op, name)
    if name in EXTREMES:
        return bool(number(op, "select_last_index", 0)) and sizes[number(op, "axis", 0)] is None
    if name == CHANNELS:
        return sizes.count(None) > 1
    return name == CROP and any(sizes[axis] is None for axis in integers(op, "axes") or range(len(sizes)))


def _measures(pool: ir.Operation, name: str) -> bool:
    """Whether the borders of ``pool`` depend on its sizes, or differ where IREE pads the image itself."""
    if text_of(pool, f"{_ATTRIBUTE}auto_pad") in SAME:
        elements = integers(pool, "kernel_shape") or []
        dilations = integers(pool, "dilations") or [1] * len(elements)
        totals = [dilation * (count - 1) for dilation, count in zip(dilations, elements, strict=True)]
        uneven = name == "onnx.MaxPool" and any(total % 2 for total in totals)
        return uneven or set(integers(pool, "strides") or [1]) != {1}
    if name == "onnx.MaxPool" and (borders := integers(pool, "pads")) is not None:
        half = len(borders) // 2
        return borders[:half] != borders[half:]
    return False


def ops_of_unknown_sizes(module: ir.Operation) -> list[ir.Operation]:
    """Those ops in ``module`` (phase start), in program order."""
    return [op for op in ops_of(module, OPERATOR) if takes_unknown_sizes(op)]


def number(op: ir.Operation, name: str, default: int) -> int:
    """The attribute ``name`` of an ONNX op."""
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return default if held is None else ir.IntegerAttr(held).value


def real(op: ir.Operation, name: str, default: float) -> float:
    """The same of a float."""
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return default if held is None else ir.FloatAttr(held).value


def integers(op: ir.Operation, name: str) -> list[int] | None:
    """The same of a list."""
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return [ir.IntegerAttr(one).value for one in held] if isinstance(held, ir.ArrayAttr) else None
