"""An ONNX graph written op by op, as exporters write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """An ONNX graph under construction; each method returns the name of what it makes."""

    def __init__(self, seed: int) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(seed)

    def weights(self, *shape: int, scale: float = 0.0) -> str:
        """Normal; of the standard deviation ``scale``, or of one that keeps a layer's outputs near 1."""
        deviation = scale or 1 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.constant(self._random.standard_normal(shape) * deviation, np.float32)

    def constant(self, values: object, kind: type = np.int64) -> str:
        name = f"c{len(self._tensors)}"
        self._tensors.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def op(self, kind: str, *operands: str, **attributes: object) -> str:
        return self.ops(kind, operands, 1, **attributes)[0]

    def ops(self, kind: str, operands: Sequence[str], results: int, **attributes: object) -> list[str]:
        made = [f"v{len(self._nodes)}_{i}" for i in range(results)]
        self._nodes.append(
            helper.make_node(kind, list(operands), made, name=f"n{len(self._nodes)}", **attributes)
        )
        return made

    def convolution(
        self,
        x: str,
        given: int,
        made: int,
        size: int,
        *,
        stride: int = 1,
        groups: int = 1,
        dilation: int = 1,
        dims: int = 2,
    ) -> str:
        """Padded so that a stride of 1 keeps the size; with a bias."""
        return self.op(
            "Conv",
            x,
            self.weights(made, given // groups, *[size] * dims),
            self.weights(made, scale=0.1),
            kernel_shape=[size] * dims,
            strides=[stride] * dims,
            dilations=[dilation] * dims,
            group=groups,
            pads=[dilation * (size // 2)] * (2 * dims),
        )

    def model(self, pixels: int, result: str) -> onnx.ModelProto:
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, pixels, pixels])
        made = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        model = helper.make_model(
            helper.make_graph(self._nodes, "main", [given], [made], self._tensors),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
        )
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)
