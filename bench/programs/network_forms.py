"""ONNX's reference networks in the forms people deploy: fp32, fp16, int8 quantise/dequantise; and smaller inputs.

Weights are random (see examples/onnx_models.py). fp16 is onnxruntime's converter, int8 its static quantiser with
random images for calibration.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from bench.programs.onnx_blocks import BLOCKS
from fissile.pipelines.numerics.compare import Tolerance

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from onnx_models import input_names, network  # noqa: E402

OWN_PIXELS = 224
"""Height and width of every reference network's input."""

RESIZABLE = ("densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet")
"""The others (alexnet, vgg19, zfnet512) have fully connected layers of a fixed number of pixels."""

CALIBRATION_IMAGES = 4

TOLERANCES = {
    "fp32": Tolerance(relative=1e-4, scaled=1e-5, reason="float32 sums in another order"),
    "fp16": Tolerance(scaled=0.02, reason="every layer rounds to 11 bits, and sums in another order"),
    "int8": Tolerance(
        scaled=0.1, reason="a value next to a rounding border falls on either side, in every layer"
    ),
}
"""Of the network's outputs, by form. docs/networks.md has what was measured; onnxruntime's own integer kernels differ from
its float arithmetic by up to 3.6% of the largest output in int8 (resnet50, shufflenet, inception_v1 at 64x64)."""

FORMS = tuple(TOLERANCES)


@dataclass(frozen=True)
class Network:
    """A model with one input, and the numbers that onnxruntime gives for it."""

    name: str
    form: str
    model: onnx.ModelProto

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(d.dim_value for d in self.model.graph.input[0].type.tensor_type.shape.dim)

    @property
    def weight_bytes(self) -> int:
        return sum(numpy_helper.to_array(tensor).nbytes for tensor in self.model.graph.initializer)

    def image(self, seed: int = 0) -> np.ndarray:
        """A random input of the type that the model takes: standard normal, [1, 3, pixels, pixels]."""
        return _images(self.shape, seed, 1)[0].astype(np.float16 if self.form == "fp16" else np.float32)

    def expected(self, image: np.ndarray) -> list[np.ndarray]:
        """onnxruntime's outputs. Its own fusions are off: they would put integer kernels in place of int8's floats."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.model.SerializeToString(), options)
        return session.run(None, {input_names(self.model)[0]: image})


def build(name: str, form: str, pixels: int | None = None, seed: int = 0) -> Network:
    """The network ``name`` as ``form`` for ``pixels`` (None: 224, or a block's own). Raises ValueError for a size it cannot take."""
    if form not in FORMS:
        raise ValueError(f"no form '{form}': {', '.join(FORMS)}")
    if name in BLOCKS:
        if pixels:
            raise ValueError(f"{name} has an input size of its own")
        model = BLOCKS[name](seed)
    else:
        _check_size(name, pixels or OWN_PIXELS)
        model = network(name, seed=seed)
        if pixels and pixels != OWN_PIXELS:
            model = resized(model, pixels)
        tame(model, seed)
    if form == "fp16":
        model = half(model)
    elif form == "int8":
        model = quantised(model, input_names(model)[0], seed)
    return Network(name, form, model)


def _check_size(name: str, pixels: int) -> None:
    """Before the weights are drawn: those of the fully connected networks are half a gigabyte."""
    if pixels != OWN_PIXELS and name not in RESIZABLE:
        raise ValueError(f"{name} takes {OWN_PIXELS}x{OWN_PIXELS} only")
    if pixels % 32 and name not in ("squeezenet", "densenet121"):
        raise ValueError(f"{name} takes multiples of 32 pixels")


def resized(model: onnx.ModelProto, pixels: int) -> onnx.ModelProto:
    """The same network for another input size: its last 7x7 pooling becomes a global one, its reshapes follow."""
    graph = model.graph
    given = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "AveragePool" and list(attributes["kernel_shape"].ints) == [7, 7]:
            del node.attribute[:]
            node.op_type = "GlobalAveragePool"
        elif node.op_type == "Reshape" and node.input[1] in given:
            shape = numpy_helper.to_array(given[node.input[1]])
            if len(shape) >= 4 and min(shape[-2:]) > 1:  # channel shuffle: … height, width
                shape = np.concatenate([shape[:-2], shape[-2:] * pixels // OWN_PIXELS])
                given[node.input[1]].CopyFrom(numpy_helper.from_array(shape, node.input[1]))
    dims = [d.dim_value for d in graph.input[0].type.tensor_type.shape.dim]
    named = graph.input[0].name
    graph.input[0].CopyFrom(
        helper.make_tensor_value_info(named, onnx.TensorProto.FLOAT, [*dims[:2], pixels, pixels])
    )
    outputs = [helper.make_tensor_value_info(o.name, onnx.TensorProto.FLOAT, None) for o in graph.output]
    del graph.value_info[:], graph.output[:]
    graph.output.extend(outputs)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def tame(model: onnx.ModelProto, seed: int) -> None:
    """Keeps random weights from growing the activations of residual networks until fp16 overflows.

    The last scale of each residual branch is a quarter (trained networks start it at zero), and the last layer's
    weights give scores of standard deviation 2: a softmax that says 0 and 1 would agree with almost anything.
    """
    graph = model.graph
    given = {tensor.name: tensor for tensor in graph.initializer}
    maker = {output: node for node in graph.node for output in node.output}

    def scale(name: str, factor: float) -> None:
        given[name].CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(given[name]) * np.float32(factor), name)
        )

    for node in graph.node:
        for branch in node.input if node.op_type == "Sum" else ():
            if branch in maker and maker[branch].op_type == "BatchNormalization":
                scale(maker[branch].input[1], 0.25)
    last = [node for node in graph.node if node.op_type in ("Gemm", "Conv")][-1]
    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    seen.graph.output.append(helper.make_tensor_value_info(last.output[0], onnx.TensorProto.FLOAT, None))
    shape = tuple(d.dim_value for d in graph.input[0].type.tensor_type.shape.dim)
    session = onnxruntime.InferenceSession(seen.SerializeToString())
    scores = session.run([last.output[0]], {input_names(model)[0]: _images(shape, seed, 1)[0]})[0]
    for weights in last.input[1:]:
        while weights not in given:  # behind a reshape
            weights = maker[weights].input[0]
        scale(weights, 2.0 / float(scores.std()))


def half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Weights, activations, input and output in fp16."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    made = convert_float_to_float16(model, keep_io_types=False)
    del made.graph.value_info[:]  # the converter leaves float32 types of values that are fp16 now
    tensors = [
        *made.graph.initializer,
        *(a.t for node in made.graph.node for a in node.attribute if a.HasField("t")),
    ]
    for tensor in tensors:  # as raw bytes: iree-import-onnx does not read fp16 kept as integers
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    return onnx.shape_inference.infer_shapes(made, strict_mode=True)


def quantised(model: onnx.ModelProto, given: str, seed: int) -> onnx.ModelProto:
    """int8 weights and activations between QuantizeLinear and DequantizeLinear; batch normalisation is folded first.

    The last softmax stays in float32.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    shape = tuple(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)

    class Images(CalibrationDataReader):
        def __init__(self) -> None:
            self.left: Iterator[np.ndarray] = iter(_images(shape, seed + 1, CALIBRATION_IMAGES))

        def get_next(self) -> dict | None:
            image = next(self.left, None)
            return None if image is None else {given: image}

    # The quantiser warns through the root logger, about nothing that can be changed here.
    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="fissile-quantise-") as name:
        folder = Path(name)
        onnx.save(model, folder / "float.onnx")
        quant_pre_process(folder / "float.onnx", folder / "folded.onnx", skip_symbolic_shape=True)
        # A last softmax in int8 has ten different values of a thousand: it would agree with almost anything.
        last = [
            node.name for node in onnx.load(folder / "folded.onnx").graph.node if node.op_type == "Softmax"
        ][-1:]
        quantize_static(
            folder / "folded.onnx",
            folder / "int8.onnx",
            Images(),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=last,
        )
        return onnx.load(folder / "int8.onnx")


def _images(shape: tuple[int, ...], seed: int, count: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape).astype(np.float32) for _ in range(count)]
