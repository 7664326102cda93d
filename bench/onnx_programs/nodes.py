"""ONNX's own operator tests with sizes that the call decides.

The operands that a model has as constants (axes, sizes, weights, scales) become initialisers. Of the other inputs each size above 1
becomes a symbol of its own; a size of 1 stays where there are several inputs, because it may be there to be broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import numpy_helper

from bench.legality_sweep.models import onnx_cases
from bench.legality_sweep.operator_results import DRAWS, KINDS

ALL = range(1, 99)
CONSTANT_OPERANDS = {
    "AffineGrid": (1,), "BatchNormalization": ALL, "BlackmanWindow": (0,), "CausalConvWithState": (1, 2), "CenterCropPad": (1,), "Clip": ALL,
    "Col2Im": ALL, "ConstantOfShape": (0,), "Conv": ALL, "ConvInteger": ALL, "ConvTranspose": ALL, "CumProd": ALL, "CumSum": ALL, "DFT": ALL,
    "DeformConv": (1,), "DequantizeLinear": ALL, "Dropout": ALL, "Expand": ALL, "GRU": (1, 2, 3, 4), "GroupNormalization": ALL, "HammingWindow": (0,),
    "HannWindow": (0,), "InstanceNormalization": ALL, "LSTM": (1, 2, 3, 4, 7), "LayerNormalization": ALL, "MatMulInteger": ALL,
    "MaxUnpool": (2,), "MelWeightMatrix": range(99), "NonMaxSuppression": (2, 3, 4), "OneHot": ALL, "Pad": ALL, "QLinearConv": ALL,
    "QLinearMatMul": ALL, "QuantizeLinear": ALL, "RMSNormalization": ALL, "RNN": (1, 2, 3, 4), "Reshape": ALL, "Resize": ALL, "STFT": ALL,
    "Slice": ALL, "Split": ALL, "Squeeze": ALL, "Tile": ALL, "TopK": ALL, "Trilu": ALL, "Unsqueeze": ALL, "Upsample": ALL,
}  # fmt: skip
"""Op -> the numbers of its operands that are constants here; those of reductions beside it."""


def programs(first_only: bool) -> Iterator[tuple[str, onnx.ModelProto, list[np.ndarray], list[np.ndarray]]]:
    """Name, model, arguments and results of each test; with ``first_only`` the first size of each input alone is left open."""
    for case in onnx_cases(0):
        if case.name.endswith("_expanded") or any(word in case.name for word in DRAWS):
            continue
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        arguments, results = (_arrays(values) for values in case.data_sets[0])
        if arguments is None or results is None or len(model.graph.input) != len(arguments):
            continue
        left = _with_initialisers(model, arguments)
        if left and _opened(model, left, first_only):
            yield case.name.removeprefix("test_"), model, left, results


def _arrays(values) -> list[np.ndarray] | None:
    """None where one is no tensor that NumPy has a type for."""
    found = []
    for value in values:
        try:
            array = np.asarray(numpy_helper.to_array(value) if hasattr(value, "SerializeToString") else value)
        except (TypeError, ValueError):
            return None
        if array.dtype.kind not in KINDS or array.dtype.isbuiltin != 1:
            return None
        found.append(array)
    return found


def _with_initialisers(model: onnx.ModelProto, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """The arguments that are left once those that a model has as constants are its initialisers."""
    given = {one.name: value for one, value in zip(model.graph.input, arguments, strict=True)}
    for node in model.graph.node:
        numbers = ALL if node.op_type.startswith("Reduce") else CONSTANT_OPERANDS.get(node.op_type, ())
        for number, name in enumerate(node.input):
            if number in numbers and name in given:
                model.graph.initializer.append(numpy_helper.from_array(given.pop(name), name))
    left = [one for one in model.graph.input if one.name in given]
    del model.graph.input[:]
    model.graph.input.extend(left)
    return [given[one.name] for one in left]


def _opened(model: onnx.ModelProto, arguments: list[np.ndarray], first_only: bool) -> bool:
    """Whether a size is left open that was known: in inputs and results, and nowhere in between."""
    opened = 0
    for number, (one, value) in enumerate(zip(model.graph.input, arguments, strict=True)):
        if not one.type.HasField("tensor_type"):
            return False
        for dim, size in enumerate(one.type.tensor_type.shape.dim):
            if (dim and first_only) or (value.shape[dim] < 2 and len(arguments) > 1):
                continue
            size.dim_param = f"s{number}_{dim}"
            opened += 1
    del model.graph.value_info[:]
    for number, one in enumerate(model.graph.output):
        if not one.type.HasField("tensor_type"):
            return False
        for dim, size in enumerate(one.type.tensor_type.shape.dim):
            size.dim_param = f"r{number}_{dim}"
    return opened > 0
