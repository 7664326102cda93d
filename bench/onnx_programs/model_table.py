"""Programs of ONNX whose results have types that only onnxruntime, or ONNX's own evaluator, knows. Written as in `entries`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper

from . import entries
from .entries import ARGUMENT, argument, graph_of

Program = tuple[onnx.ModelProto, list[np.ndarray], list[np.ndarray]]
"""The model, the arguments of a call, and its results."""


class Table:
    """Programs by name."""

    def __init__(self, opset: int) -> None:
        self._opset = opset
        self._programs: dict[str, tuple] = {}

    def of(
        self, name: str, head: str, body: str, given: dict | None = None, opset: int = 0, **weights
    ) -> None:
        """``weights`` are arrays, or the sizes of random numbers, behind an element type of 4 bits where they have one."""
        assert name not in self._programs, name
        self._programs[name] = (head, body, given or {}, opset or self._opset, weights)

    def names(self) -> list[str]:
        return list(self._programs)

    def program(self, name: str) -> Program:
        """The model, its arguments, and what onnxruntime, or where it lacks the op ONNX's evaluator, computes."""
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        head, body, given, opset, weights = self._programs[name]
        inputs = head.partition("=>")[0]
        held = {name: weight(name, value) for name, value in weights.items()}
        graph = graph_of(head, body, held)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        arguments = [argument(one, given) for one in ARGUMENT.findall(inputs)]
        feeds = {one.name: value for one, value in zip(model.graph.input, arguments, strict=True)}
        try:
            # Its optimiser quantises activations beside weights of 4 bits.
            plain = onnxruntime.SessionOptions()
            plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(model.SerializeToString(), plain, ["CPUExecutionProvider"])
            found, types = session.run(None, feeds), session.get_outputs()
            shapes = [list(one.shape) for one in types]
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            found = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
            shapes = [list(np.shape(one)) for one in found]
        for declared, value, shape in zip(model.graph.output, found, shapes, strict=True):
            sizes = shape if len(shape) == value.ndim else [None] * value.ndim
            sizes = [size if isinstance(size, int | str) else None for size in sizes]
            element = helper.np_dtype_to_tensor_dtype(value.dtype)
            declared.type.CopyFrom(helper.make_tensor_type_proto(element, sizes))
        return model, arguments, [np.asarray(one) for one in found]

    def programs(self) -> Iterator[tuple[str, *Program]]:
        for name in self._programs:
            yield (name, *self.program(name))


def weight(name: str, value) -> onnx.TensorProto:
    """As `entries.weight`, or, behind an element type, random numbers of 4 bits."""
    if not isinstance(value, tuple) or not isinstance(value[0], str):
        return entries.weight(name, value)
    low, kind = {"int4": (-8, TensorProto.INT4), "uint4": (0, TensorProto.UINT4)}[value[0]]
    numbers = np.random.default_rng(0).integers(low, low + 16, value[1:])
    return helper.make_tensor(name, kind, value[1:], numbers.reshape(-1).tolist())
