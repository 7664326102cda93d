"""ONNX ops of which IREE's import leaves out an attribute or an operand, without a message."""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.dialect.places import ops_of

from .legacy_axes import merges_dims
from .onnx_values import OPERATOR, floats_of, integers_of, sizes_of
from .pooling import has_partial_windows
from .recurrent_layers import recurrent_layer
from .unknown_sizes import integers

_ATTRIBUTE = "torch.onnx."


def left_out(op: ir.Operation) -> str:
    """What IREE 3.13 leaves out of ``op``; empty where it leaves out nothing that is known."""
    known = op.name == OPERATOR and "name" in op.attributes and len(op.operands) > 0 < len(op.results)
    look = _LEFT_OUT.get(text_of(op, "name")) if known else None
    return look(op) if look else ""


def ops_left_out(module: ir.Operation) -> list[ir.Operation]:
    """The ops in ``module`` (phase start) of which it leaves out something, in program order."""
    return [op for op in ops_of(module, OPERATOR) if left_out(op)]


def ops_that_crash(module: ir.Operation) -> list[ir.Operation]:
    """The ops in ``module`` (phase start) that IREE crashes on, of those that are known, in program order."""
    return [op for op in ops_of(module, OPERATOR) if _crashes(op)]


def _crashes(op: ir.Operation) -> bool:
    """Whether IREE 3.13 crashes as it pads the quantised image of ``op`` by other widths before than after."""
    if op.name != OPERATOR or text_of(op, "name") != "onnx.QLinearConv" or len(op.operands) < 8:
        return False
    widths = attribute(op, f"{_ATTRIBUTE}pads")
    if not isinstance(widths, ir.ArrayAttr) or not _is_one_element(op.operands[4]):
        return False
    numbers = [ir.IntegerAttr(width).value for width in widths]
    half = len(numbers) // 2
    return numbers[:half] != numbers[half:]


def _zero_points(op: ir.Operation) -> str:
    """IREE has a product of quantised matrices and none of batches of them: that one is of the bare integers."""
    if len(op.operands) != 8:
        return ""
    a, _, a_zero, b, b_scale, b_zero, *_ = op.operands
    if _rank(a) != 3 or _rank(b) != 3 or not _is_one_element(b_scale):
        return ""
    return "" if _is_zero(a_zero) and _is_zero(b_zero) else "the zero points of the inputs"


def _recurrent(op: ir.Operation) -> str:
    layer = recurrent_layer(op)
    return layer.left_out if layer is not None else ""


def _merged_dims(op: ir.Operation) -> str:
    return "the dimensions behind axis" if merges_dims(op) else ""


def _parts(op: ir.Operation) -> str:
    """Up to opset 12 the sizes of the parts are an attribute, and IREE makes equal parts."""
    sizes = integers(op, "split")
    return "the sizes of the parts" if sizes and len(set(sizes)) > 1 else ""


def _linear(op: ir.Operation) -> str:
    """IREE takes Upsample's linear mode for that of Resize, which places elements by their centres."""
    return "the places of the elements" if _text(op, "mode") == "linear" else ""


def _counted(op: ir.Operation) -> str:
    """ONNX numbers the elements of the whole tensor; IREE those of a channel, and, where it pads it itself, with the padding."""
    if len(op.results) < 2 or not any(True for _ in op.results[1].uses):
        return ""
    sizes, widths = sizes_of(op.operands[0]), integers(op, "pads") or []
    half = len(widths) // 2
    is_one = sizes is not None and sizes[:2] == [1, 1]
    if is_one and widths[:half] == widths[half:] and not _text(op, "auto_pad").startswith("SAME"):
        return ""
    return "where an element is in the whole tensor"


def _bias(op: ir.Operation) -> str:
    """With a scale for each channel of the weights, IREE adds the integers of the bias to floats as they are."""
    if len(op.operands) != 9 or str(op.operands[8].type) == "!torch.none" or _is_one_element(op.operands[4]):
        return ""
    return "" if _is_zero(op.operands[8]) else "the scale of the bias"


def _mode(op: ir.Operation) -> str:
    return "mode = CRD" if _text(op, "mode") == "CRD" else ""


def _class_weights(op: ir.Operation) -> str:
    """The mean of a weighted loss is divided by a sum of weights that IREE does not compute."""
    weighted = len(op.operands) > 2 and str(op.operands[2].type) != "!torch.none"
    return "the sum of the weights" if weighted and _text(op, "reduction") in ("", "mean") else ""


def _last_windows(op: ir.Operation) -> str:
    """IREE divides the last windows by the elements of a whole one."""
    return "the end of the last windows" if has_partial_windows(op) else ""


def _places(op: ir.Operation) -> str:
    """With pytorch_half_pixel one element comes from the first, and not from the middle; align_corners counts with sizes that are no
    integers, where scales make such."""
    given = [size for size in sizes_of(op.operands[0]) or () if size is not None]
    made = [size for size in sizes_of(op.results[0]) or () if size is not None]
    ranks = {len(sizes_of(value) or ()) for value in (op.operands[0], op.results[0])}
    if ranks != {len(given)} or len(given) != len(made) or _text(op, "mode") in ("", "nearest"):
        return ""  # a size is not known
    rows, places = list(zip(given, made, strict=True)), _text(op, "coordinate_transformation_mode")
    if places == "pytorch_half_pixel" and any(after == 1 != before for before, after in rows):
        return "coordinate_transformation_mode = pytorch_half_pixel where one element is left"
    scales = floats_of(op.operands[2]) if places == "align_corners" and len(op.operands) > 2 else None
    if scales and any(
        abs(size * scale - round(size * scale)) > 1e-4 for size, scale in zip(given, scales, strict=False)
    ):
        return "the sizes that are no integers"
    return ""


_LEFT_OUT: dict[str, Callable[[ir.Operation], str]] = {
    "onnx.QLinearConv": _bias,
    "onnx.QLinearMatMul": _zero_points,
    "onnx.AveragePool": _last_windows,
    "onnx.LSTM": _recurrent,
    "onnx.GRU": _recurrent,
    "onnx.RNN": _recurrent,
    "onnx.Resize": _places,
    "onnx.SpaceToDepth": _mode,
    "onnx.Split": _parts,
    "onnx.Upsample": _linear,
    "onnx.MaxPool": _counted,
    "onnx.Hardmax": _merged_dims,
    "onnx.DepthToSpace": _mode,
    "onnx.SoftmaxCrossEntropyLoss": _class_weights,
}


def _text(op: ir.Operation, name: str) -> str:
    return text_of(op, f"{_ATTRIBUTE}{name}")


def _rank(value: ir.Value) -> int | None:
    sizes = sizes_of(value)
    return None if sizes is None else len(sizes)


def _is_one_element(value: ir.Value) -> bool:
    sizes = sizes_of(value)
    return sizes is not None and set(sizes) <= {1}


def _is_zero(value: ir.Value) -> bool:
    """Whether ``value`` is a constant whose elements are 0."""
    numbers = integers_of(value) or floats_of(value)
    return numbers is not None and not any(numbers)
