"""Ops that ONNX Runtime adds to the standard: their definitions compute what it computes, and models of them compile."""

from __future__ import annotations

import json

import numpy as np
import pytest
from built import CPU

from fissile.cli.main import main

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from bench.onnx_programs import refused_ops, runtime_attention, runtime_ops  # noqa: E402
from fissile.pipelines.importers.definitions import expand  # noqa: E402
from fissile.pipelines.importers.definitions.writer import DEFINITIONS  # noqa: E402
from fissile.pipelines.importers.imported import importable  # noqa: E402
from fissile.pipelines.numerics import runtimes  # noqa: E402
from fissile.pipelines.numerics.signature import signatures_of_source  # noqa: E402

RANDOM = np.random.default_rng(11)
TABLES = (runtime_ops.TABLE, runtime_attention.TABLE, refused_ops.TABLE)
NAMES = [name for table in TABLES for name in table.names()]
ROUNDED_ACTIVATIONS = {"dynamic_lstm": 2e-2}
"""ONNX Runtime quantises the activations too."""


def program(name):
    return next(table for table in TABLES if name in table.names()).program(name)


def close(found, wanted, tolerance=1e-5) -> bool:
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.dtype.itemsize == wanted.dtype.itemsize and wanted.dtype.kind in "iu":
        found = found.view(wanted.dtype)  # IREE's integers have no sign
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if not wanted.size:
        return True
    worst = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
    quantised = wanted.dtype.itemsize == 1  # a value next to a rounding border may be one step off
    return bool(worst <= (1 if quantised else tolerance * max(1e-9, np.abs(wanted).max())))


def written_out(model):
    """``model`` with every definition in it."""
    known = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return known if expand.expand(known, expand.definable(known)) else model


def foreign(model) -> list[str]:
    return [node.op_type for node in model.graph.node if node.domain]


@pytest.mark.parametrize("name", NAMES)
def test_the_definition_computes_what_onnxruntime_computes(name):
    model, arguments, wanted = program(name)
    made = written_out(model)
    assert not foreign(made)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(
        None, {one.name: value for one, value in zip(made.graph.input, arguments, strict=True)}
    )
    tolerance = ROUNDED_ACTIVATIONS.get(name, 1e-5)
    assert all(close(one, other, tolerance) for one, other in zip(found, wanted, strict=True))


def test_every_definition_has_a_program():
    written = set()
    for name in NAMES:
        for node in program(name)[0].graph.node:
            written.add((node.domain, node.op_type))
    assert not DEFINITIONS.keys() - written


def one_node(kind, inputs, outputs, domain="com.microsoft", **attributes):
    """A model of one node; ``inputs`` are (name, element type, shape)."""
    node = helper.make_node(kind, [one[0] for one in inputs], list(outputs), domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "main",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


FLOAT = TensorProto.FLOAT


@pytest.mark.parametrize(
    "model",
    [
        one_node("FusedMatMul", [("x", FLOAT, [2, 3, 4]), ("y", FLOAT, [2, 4, 3])], "z", transBatchA=1),
        one_node("FusedConv", [("x", FLOAT, [1, 2, 8, 8]), ("w", FLOAT, [2, 2, 3, 3])], "z", activation="Softmax"),
        one_node("Attention", [("x", FLOAT, None), ("w", FLOAT, None)], "z", num_heads=2),
        one_node("Attention", [("x", FLOAT, [1, 2, 16]), ("w", FLOAT, [16, 48])], "z", num_heads=2, do_rotary=1),
        one_node("Attention", [("x", FLOAT, [1, 2, 16]), ("w", FLOAT, [16, 48])], "z"),
        one_node("QGemm", [("x", TensorProto.INT8, [2, 16])], "z"),
        one_node("MatMulNBits", [("x", FLOAT, [2, 64]), ("w", TensorProto.UINT8, [8, 2, 16]), ("s", FLOAT, [16])], "z"),
    ],
    ids=["transposed-batch", "activation", "unknown-rank", "rotary", "no-heads", "no-operands", "no-sizes"],
)  # fmt: skip
def test_a_use_that_no_definition_covers_stays(model):
    assert len(foreign(written_out(model))) == 1


def quantised_network(folder):
    """A convolutional network as ONNX Runtime's quantiser writes it by default (QOperator), its arguments and results."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class Samples(CalibrationDataReader):
        def __init__(self):
            self.left = iter([{"x": value} for value in images])

        def get_next(self):
            return next(self.left, None)

    images = [RANDOM.standard_normal((1, 3, 16, 16)).astype(np.float32) for _ in range(4)]
    shapes = {"k": (8, 3, 3, 3), "l": (8, 8, 3, 3), "w": (16, 10), "c": (10,)}
    weights = [
        numpy_helper.from_array((RANDOM.standard_normal(shape) * 0.2).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    graph = onnx.parser.parse_graph(
        """
        main (float[1,3,16,16] x) => (float[1,10] y) {
          a = Conv<pads=[1,1,1,1]>(x, k)
          b = Relu(a)
          d = Conv<pads=[1,1,1,1]>(b, l)
          e = Add(d, b)
          f = Sigmoid(e)
          g = Mul(e, f)
          h = Concat<axis=1>(g, b)
          i = GlobalAveragePool(h)
          j = Flatten(i)
          y = Gemm(j, w, c)
        }"""
    )
    graph.initializer.extend(weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "float.onnx")
    path = folder / "model.onnx"
    quantize_static(folder / "float.onnx", path, Samples(), quant_format=QuantFormat.QOperator)
    quantised = onnx.load(path)
    quantised.graph.name = "main"
    onnx.save(quantised, path)
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    return path, [images[0]], session.run(None, {"x": images[0]})


def command(folder, *words):
    """The exit status and the report of `fissile WORDS`."""
    report = folder / "report.json"
    status = main([*map(str, words), "--format=json", f"--report-file={report}"])
    return status, json.loads(report.read_text())


def results(model, module, driver, arguments):
    [runtime] = runtimes.named([driver])
    signature = signatures_of_source(importable(model, module.parent))["main"]
    found = runtimes.run(module, signature, list(arguments), runtime)
    assert isinstance(found, list), found
    return found


TARGETS = [(CPU, "local-task"), (["--iree-hal-target-device=vulkan"], "vulkan")]


@pytest.mark.parametrize(("flags", "driver"), TARGETS, ids=["llvm-cpu", "vulkan"])
def test_a_network_of_the_quantiser_compiles(tmp_path, flags, driver):
    path, arguments, wanted = quantised_network(tmp_path)
    status, report = command(tmp_path, "compile", path, *flags, "-o", tmp_path / "out.vmfb")
    assert status == 0
    written = {one["subject"] for one in report["findings"] if one["code"] == "FIS421"}
    assert {"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearConcat", "QGemm"} <= written
    found = results(path, tmp_path / "out.vmfb", driver, arguments)
    step = np.ptp(wanted[0]) / 255
    assert np.abs(found[0] - wanted[0]).max() <= 2 * step


COMPILED = ("grouped_open", "grouped_packed", "bits_zero_points", "attention_lengths", "embed", "rotary", "rotary_part", "rotary_heads_part", "simplified", "layer_old", "gru_both", "blocks_int4", "resize_antialias", "resize_crop", "resize_bytes", "transpose_lower", "transpose_groups", "integers_padded", "resize_not_larger", "norms_gaps", "norms_of_unknown_sizes", "patches_steps", "patches_volume", "skip_twice", "encoder_layer", "dynamic_matmul", "fused_matmul")  # fmt: skip


@pytest.mark.parametrize("name", COMPILED)
def test_it_compiles_and_computes_the_same(tmp_path, name):
    model, arguments, wanted = program(name)
    onnx.save(model, tmp_path / "model.onnx")
    status, _report = command(tmp_path, "compile", tmp_path / "model.onnx", *CPU, "-o", tmp_path / "out.vmfb")
    assert status == 0
    found = results(tmp_path / "model.onnx", tmp_path / "out.vmfb", "local-task", arguments)
    assert all(close(one, other, 1e-4) for one, other in zip(found, wanted, strict=True))


def test_it_is_suggested_and_not_done_where_repairs_are_off(tmp_path):
    model, _arguments, _wanted = program("skip_twice")
    path, output = tmp_path / "model.onnx", tmp_path / "out.vmfb"
    onnx.save(model, path)
    status, report = command(tmp_path, "compile", path, *CPU, "--repair=off", "-o", output)
    assert status == 1 and not output.exists()
    assert {one["code"] for one in report["findings"] if one["severity"] == "error"} <= {"FIS407", "FIS421"}
    status, report = command(tmp_path, "check", path, "--target=llvm-cpu")
    assert status == 1
    [found] = [one for one in report["findings"] if one["subject"] == "FastGelu"]
    assert found["severity"] == "error" and not any(one["applied"] for one in found["helps"])


def test_an_op_that_iree_lowers_stays_as_it_is(tmp_path):
    model, _arguments, _wanted = program("sigmoid_uint8")
    onnx.save(model, tmp_path / "model.onnx")
    status, report = command(tmp_path, "compile", tmp_path / "model.onnx", *CPU, "-o", tmp_path / "out.vmfb")
    assert status == 0 and not [one for one in report["findings"] if one["severity"] == "repaired"]
