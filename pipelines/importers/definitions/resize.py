"""`Resize` between known sizes: a gather or a product with weights along each dimension that changes.

The weights are what the standard's own evaluator makes of unit vectors, in every mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .writer import NotDefined, Writer, defines

_MOST = 1024
"""Elements of a dimension: the weights of one are a matrix."""
_MOST_ELEMENTS = 2**24
"""Of what the weights of one dimension are evaluated on."""
_F32 = 1
"""Of TensorProto.DataType."""
_MODE = ("antialias", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "mode", "nearest_mode")  # fmt: skip


@dataclass(frozen=True)
class _Ratio:
    """The scale of a dimension for which ``wanted`` elements are stated, where ``policy`` takes it from another one, of ``size`` elements of
    which ``stated`` become."""

    policy: str
    wanted: int
    size: int
    stated: int


@defines("Resize", domain="")
def _resize(w: Writer) -> None:
    value = w.operand(0)
    sizes, wanted = w.sizes(value), w.sizes(w.result(0))
    axes = [axis % len(sizes) for axis in w.attribute("axes", None) or range(len(sizes))]
    scales, roi = w.value(w.operand(2)), w.value(w.operand(1))
    given = {name: found for name in _MODE if (found := w.attribute(name, None)) is not None}
    if (w.operand(1) and roi is None) or (w.operand(2) and scales is None):
        raise NotDefined("a region or scales that the call decides")
    policy = w.attribute("keep_aspect_ratio_policy", "stretch")
    stated, decisive = w.value(w.operand(3)), None
    if policy != "stretch" and scales is None:
        if stated is None or None in sizes:
            raise NotDefined("an aspect ratio that the call decides")
        ratios = [float(stated[number]) / (sizes[axis] or 1) for number, axis in enumerate(axes)]
        decisive = ratios.index(min(ratios) if policy == "not_larger" else max(ratios))
    along: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for number, axis in enumerate(axes):
        before, after = sizes[axis], wanted[axis]
        if before is None or after is None or max(before, after) > _MOST:
            raise NotDefined("sizes that the call decides, or large ones")
        scale = None if scales is None or not scales.size else float(scales[number])
        part = None if roi is None or not roi.size else [float(roi[number]), float(roi[number + len(axes)])]
        if before == after and part is None and (scale is None or scale == 1.0):
            continue
        other = None
        if stated is not None and decisive not in (None, number):
            of = decisive or 0
            other = _Ratio(policy, int(stated[number]), sizes[axes[of]] or 0, int(stated[of]))
        along[axis] = _weights(w, before, after, scale, part, given, other)
    made = value
    if not _has_fractions(w, value) and not all(map(_selects, along.values())):
        made = w.op("Cast", value, to=_F32)  # and back: the standard drops what is behind the point
    for axis, weights in along.items():
        made = _along(w, made, axis, weights)
    w.end(0, w.cast(made, value))


def _has_fractions(w: Writer, value: str) -> bool:
    from onnx import helper

    return helper.tensor_dtype_to_np_dtype(w.dtype(value)).kind not in "iu"


def _selects(found: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether each result is an element of the tensor."""
    weights, offset = found
    return bool(
        not offset.any()
        and (np.sort(weights, axis=0)[-1] == 1).all()
        and (np.count_nonzero(weights, axis=0) == 1).all()
    )


def _along(w: Writer, value: str, axis: int, found: tuple[np.ndarray, np.ndarray]) -> str:
    weights, offset = found  # [before, after], [after]
    if _selects(found):
        return w.op("Gather", value, w.ints(*weights.argmax(axis=0).tolist()), axis=axis)
    rank = w.rank(value)
    order = [*(dim for dim in range(rank) if dim != axis), axis]
    matrix = w.cast(w.array(weights.astype(np.float32)), value)
    product = w.op("MatMul", w.transpose(value, *order), matrix)
    if offset.any():
        product = w.op("Add", product, w.cast(w.array(offset.astype(np.float32)), value))
    return w.transpose(product, *(order.index(dim) for dim in range(rank)))


def _weights(
    w: Writer, before: int, after: int, scale, part, given: dict, other: _Ratio | None
) -> tuple[np.ndarray, np.ndarray]:
    """What each element contributes to each result, and what a result has without any."""
    offset = _evaluated(w, np.zeros((1, before), np.float32), after, scale, part, given, other)[0]
    return _evaluated(w, np.eye(before, dtype=np.float32), after, scale, part, given, other) - offset, offset


def _evaluated(
    w: Writer, rows: np.ndarray, after: int, scale, part, given: dict, other: _Ratio | None
) -> np.ndarray:
    """``rows`` resized along their second dimension."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    region = np.array([0, 0, 1, 1] if part is None else [0, part[0], 1, part[1]], np.float32)
    scales = np.array([] if scale is None else [1, scale], np.float32)
    sizes = np.array([len(rows), after] if scale is None else [], np.int64)
    operands = ["x", "r", "s" if scale is not None else "", "t" if scale is None else ""]
    if other is not None:
        # The scale is that of another dimension: along that one, all elements of a row are the same.
        if part is not None or rows.size * other.size > _MOST_ELEMENTS:
            raise NotDefined("a region with an aspect ratio, or large sizes")
        given = {**given, "axes": [1, 2], "keep_aspect_ratio_policy": other.policy}
        rows = np.repeat(rows[:, :, None], other.size, axis=2)
        sizes = np.array([other.wanted, other.stated], np.int64)
    node = helper.make_node(
        "Resize", [name for name in operands if name] if scale is not None else operands, ["y"], **given
    )
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("r", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("s", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("t", TensorProto.INT64, None),
    ]
    graph = helper.make_graph(
        [node], "one", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(19, w.known.opset))])
    try:
        [found] = ReferenceEvaluator(model).run(None, {"x": rows, "r": region, "s": scales, "t": sizes})
    except Exception as error:  # whatever the evaluator raises for modes that it does not have
        raise NotDefined(f"the standard's evaluator: {error}") from error
    made = np.asarray(found, np.float64)
    if other is not None:
        made = made[:, :, 0]
    if made.shape != (len(rows), after):
        raise NotDefined("another size than the model states")
    return made
