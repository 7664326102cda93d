"""Writes an ONNX model that stock IREE 3.13 refuses for gfx942: one convolution of a quantised image.

python examples/quantised_onnx.py model.onnx
python examples/quantised_onnx.py model.onnx --size 512     a larger image (default 56)
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model(size: int = 56, channels: int = 64, filters: int = 256) -> onnx.ModelProto:
    """An int8 image of ``size`` rows and columns through a 3x3 convolution; weights are seeded random numbers."""
    weights = np.random.default_rng(0).integers(-128, 128, (filters, channels, 3, 3), dtype=np.int8)
    constants = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.zeros((), np.int8), "zero"),
        numpy_helper.from_array(np.array(0.02, np.float32), "x_scale"),
        numpy_helper.from_array(np.array(0.005, np.float32), "weights_scale"),
        numpy_helper.from_array(np.array(0.3, np.float32), "y_scale"),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_scale", "zero"], ["x_float"]),
        helper.make_node("DequantizeLinear", ["weights", "weights_scale", "zero"], ["weights_float"]),
        helper.make_node("Relu", ["x_float"], ["x_relu"]),
        helper.make_node("Conv", ["x_relu", "weights_float"], ["y_float"]),
        helper.make_node("QuantizeLinear", ["y_float", "y_scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "quantised_convolution",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, channels, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [1, filters, size - 2, size - 2])],
        constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", help="where the model goes")
    parser.add_argument("--size", type=int, default=56, help="rows and columns of the image (default 56)")
    args = parser.parse_args()
    onnx.save(model(args.size), args.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
