"""ONNX's own reference networks, made useful: seeded random weights, today's opset, an input size of choice.

The `onnx` package ships them as `light_*` models whose weights are one value repeated, which would hide most mistakes:
a convolution that reads the wrong pixel or the wrong filter computes the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
from onnx import helper, numpy_helper

OPSET, IR_VERSION = 17, 8
"""What iree-import-onnx (IREE 3.13) imports without conversion."""


def names() -> list[str]:
    """The networks there are, by name without `light_`."""
    return sorted(path.stem.removeprefix("light_") for path in _folder().glob("light_*.onnx"))


def network(name: str, pixels: int | None = None, seed: int = 0) -> onnx.ModelProto:
    """The reference network ``name`` with random weights; input [1, 3, pixels, pixels], its own 224 if None.

    ``pixels`` can be changed for fully convolutional networks only (squeezenet); onnx's shape inference raises
    for others, whose last layers fix it.
    """
    model = onnx.load(str(_folder() / f"light_{name}.onnx"))
    graph = model.graph
    generator = np.random.default_rng(seed)
    known = {tensor.name: tensor for tensor in graph.initializer}
    roles = _roles(graph)
    nodes = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in known:
            shape = numpy_helper.to_array(known.pop(node.input[0]))
            weight = _weight(roles.get(node.output[0], ""), tuple(map(int, shape)), generator)
            known[node.output[0]] = numpy_helper.from_array(weight, node.output[0])
        else:
            nodes.append(node)
    for tensor in graph.initializer:
        if tensor.name in known and tensor.data_type == onnx.TensorProto.FLOAT:
            weight = _weight(roles.get(tensor.name, ""), tuple(tensor.dims), generator)
            known[tensor.name] = numpy_helper.from_array(weight, tensor.name)
    used = {name for node in nodes for name in node.input}
    inputs = [value for value in graph.input if value.name not in known and value.name in used]
    for value in inputs:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if pixels and len(dims) == 4:
            dims[2:] = [pixels, pixels]
        value.CopyFrom(helper.make_tensor_value_info(value.name, onnx.TensorProto.FLOAT, dims))
    outputs = [helper.make_tensor_value_info(o.name, onnx.TensorProto.FLOAT, None) for o in graph.output]
    initializers = [tensor for tensor in known.values() if tensor.name in used]
    made = helper.make_model(
        helper.make_graph(nodes, name, inputs, outputs, initializers),
        opset_imports=model.opset_import,
        ir_version=IR_VERSION,
    )
    made = onnx.version_converter.convert_version(made, OPSET)
    made.ir_version = IR_VERSION
    made = onnx.shape_inference.infer_shapes(made, strict_mode=True)
    onnx.checker.check_model(made, full_check=True)
    return made


def input_names(model: onnx.ModelProto) -> list[str]:
    given = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in given]


def _folder() -> Path:
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def _roles(graph: onnx.GraphProto) -> dict[str, str]:
    """Weight name -> `variance`, `scale` or `mean` for batch normalisation; others need no role."""
    roles = {}
    for node in graph.node:
        if node.op_type == "BatchNormalization":
            roles.update(zip(node.input[1:5], ("scale", "bias", "mean", "variance"), strict=True))
    return roles


def _weight(role: str, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    """Values that keep activations near 1 from layer to layer (He's rule), so that no output saturates or vanishes."""
    if role in ("variance", "scale"):
        return generator.uniform(0.5, 1.5, shape).astype(np.float32)
    spread = 0.1 if len(shape) < 2 else np.sqrt(2.0 / np.prod(shape[1:]))
    return (generator.standard_normal(shape) * spread).astype(np.float32)
