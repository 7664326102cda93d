"""Parts of ONNX ops that IREE's import leaves out, without a message (FIS162, FIS163): repaired they compute what ONNX's own evaluator does."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from built import CPU
from iree_versions import since

import fissile
from fissile.pipelines.numerics.build import compile_stock

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
import iree.runtime as rt  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

RANDOM = np.random.default_rng(7)


class Graph:
    """Nodes of their own inputs and constants, one output each; ``expected`` has what each computes."""

    def __init__(self) -> None:
        self.nodes, self.inputs, self.constants = [], [], []
        self.arguments: list[np.ndarray] = []
        self.expected: dict[str, np.ndarray] = {}

    def add(self, name: str, op: str, values, constant=(), expected=None, **attributes) -> None:
        names = []
        for number, value in enumerate(values):
            if value is None:
                names.append("")
                continue
            names.append(f"{name}_{number}")
            value = np.asarray(value)
            if number in constant:
                self.constants.append(numpy_helper.from_array(value, names[-1]))
            else:
                self.inputs.append(_declared(names[-1], value))
                self.arguments.append(value)
        node = helper.make_node(op, names, [name], name=name, **attributes)
        if expected is None:
            alone = helper.make_graph(
                [node],
                "alone",
                [_declared(n, np.asarray(v)) for n, v in zip(names, values, strict=True) if n],
                [helper.make_empty_tensor_value_info(name)],
            )
            given = {n: np.asarray(v) for n, v in zip(names, values, strict=True) if n}
            (expected,) = ReferenceEvaluator(_model(alone)).run(None, given)
        self.nodes.append(node)
        self.expected[name] = np.asarray(expected)

    def save(self, path) -> None:
        outputs = [_declared(name, value) for name, value in self.expected.items()]
        onnx.save(_model(helper.make_graph(self.nodes, "main", self.inputs, outputs, self.constants)), path)

    def run(self, module) -> dict[str, np.ndarray]:
        loaded = rt.load_vm_flatbuffer(module.read_bytes(), driver="local-sync")
        results = loaded.main(*self.arguments)
        results = results if isinstance(results, (list, tuple)) else [results]
        found = [result.to_host() for result in results]
        return {
            name: one.view(wanted.dtype) if one.dtype.itemsize == wanted.dtype.itemsize else one
            for one, (name, wanted) in zip(found, self.expected.items(), strict=True)
        }


def _model(graph):
    domains = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10)


def _declared(name: str, value: np.ndarray):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    return found.shape == expected.shape and np.allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=1e-4, equal_nan=True
    )


def floats(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-3, 3, shape).astype(np.float32)


def bytes_of(*shape: int, high: int = 120) -> np.ndarray:
    return RANDOM.integers(0, high, shape).astype(np.int8)


def scale(value: float) -> np.float32:
    return np.float32(value)


def product(graph: Graph, name: str, a, b, a_zero: int = 7, b_zero: int = 3) -> None:
    values = [a, scale(0.05), np.int8(a_zero), b, scale(0.02), np.int8(b_zero), scale(0.5), np.int8(5)]
    graph.add(name, "QLinearMatMul", values, constant=(1, 2, 4, 5, 6, 7))


def convolution(graph: Graph, name: str, per_channel: bool, bias: bool, **attributes) -> None:
    weights = RANDOM.uniform(0.01, 0.05, 3).astype(np.float32) if per_channel else scale(0.02)
    zeros = np.array([1, 0, 4], np.int8) if per_channel else np.int8(2)
    values = [
        bytes_of(1, 2, 6, 6),
        scale(0.05),
        np.int8(6),
        bytes_of(3, 2, 3, 3),
        weights,
        zeros,
        scale(1.5),
        np.int8(3),
    ]
    values += [np.array([900, -400, 50], np.int32)] if bias else []
    graph.add(name, "QLinearConv", values, constant=(1, 2, 4, 5, 6, 7, 8), **attributes)


def pooled(x: np.ndarray, kernel: int, step: int, dilation: int, pads, counted: bool) -> np.ndarray:
    """A pool of one dimension with ceil_mode = 1; ONNX 1.19's evaluator is wrong for some."""
    (size,), before, after = x.shape[2:], *pads
    extent = dilation * (kernel - 1) + 1
    count = math.ceil((size + before + after - extent) / step) + 1
    count -= (count - 1) * step >= size + before
    rows = []
    for number in range(count):
        places = [number * step - before + n * dilation for n in range(kernel)]
        inside = [place for place in places if 0 <= place < size]
        divisor = sum(place < size + after for place in places) if counted else len(inside)
        rows.append(x[:, :, inside].sum(axis=2) / divisor)
    return np.stack(rows, axis=2).astype(np.float32)


def pool(
    graph: Graph, name: str, size: int, kernel: int, step: int, dilation=1, pads=(0, 0), counted=True
) -> None:
    x = floats(1, 1, size)
    graph.add(
        name, "AveragePool", [x], expected=pooled(x, kernel, step, dilation, pads, counted), kernel_shape=[kernel],
        strides=[step], dilations=[dilation], pads=list(pads), ceil_mode=1, count_include_pad=int(counted),
    )  # fmt: skip


def backwards(graph: Graph, name: str, start: int) -> None:
    values = [floats(5, 4), [start], [-(2**31)], [0], [-1]]
    values[1:] = [np.array(one, np.int64) for one in values[1:]]
    graph.add(name, "Slice", values, constant=(1, 2, 3, 4))


def scaled(graph: Graph, name: str, **attributes) -> None:
    a, b = floats(2, 3, 4), floats(2, 4, 5)
    whole = (a @ b * attributes.get("alpha", 1.0)).astype(np.float32)
    graph.add(name, "FusedMatMul", [a, b], expected=whole, domain="com.microsoft", **attributes)


def peepholes(graph: Graph, name: str, values: np.ndarray) -> None:
    lstm = [floats(4, 1, 3), floats(1, 8, 3), floats(1, 8, 2), floats(1, 16), None, None, None, values]
    graph.add(name, "LSTM", lstm, constant=(7,), hidden_size=2)


def wrong_by_stock() -> Graph:
    graph = Graph()
    scaled(graph, "factor", alpha=0.125)
    peepholes(graph, "peepholes", floats(1, 6))
    convolution(graph, "bias_of_channels", per_channel=True, bias=True, pads=[1, 0, 1, 1])
    product(graph, "batch", bytes_of(2, 3, 4), bytes_of(2, 4, 5))
    halves = np.array([[[[-0.5, 0.5], [0.5, -0.5], [0.0, 0.0]]]], np.float32)
    graph.add("nearest", "GridSample", [floats(1, 1, 4, 4), halves], mode="nearest", align_corners=0)
    large = np.array([1.0, 5000.0, -1e6, np.inf, 3e4], np.float32)
    graph.add(
        "cast",
        "CastLike",
        [large, np.zeros(1, onnx.helper.tensor_dtype_to_np_dtype(TensorProto.FLOAT8E4M3FN))],
    )
    pool(graph, "counted_padding", 7, 2, 2)
    pool(graph, "two_past_the_end", 7, 3, 3, counted=False)
    backwards(graph, "backwards", 6)
    return graph


def rejected_by_stock() -> Graph:
    """Or built wrong: of these stock is not asked."""
    graph = Graph()
    convolution(graph, "pads_that_differ", per_channel=False, bias=True, pads=[0, 0, 1, 1], strides=[2, 2])
    product(graph, "more_batches", bytes_of(2, 2, 3, 4), bytes_of(2, 2, 4, 5))
    product(graph, "one_matrix", bytes_of(2, 3, 4), bytes_of(4, 5))
    points = RANDOM.uniform(-1.6, 1.6, (1, 4, 3, 2)).astype(np.float32)
    for mode, padding in itertools.product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection")):
        for corners in (0, 1):
            values = [floats(1, 2, 5, 6), points]
            name = f"{mode}_{padding}_{corners}"
            graph.add(name, "GridSample", values, mode=mode, padding_mode=padding, align_corners=corners)
    return graph


def built_right_by_stock() -> Graph:
    graph = Graph()
    scaled(graph, "no_factor")
    convolution(graph, "no_bias", per_channel=True, bias=False, pads=[1, 0, 1, 1])
    convolution(graph, "one_scale", per_channel=False, bias=True, pads=[1, 1, 1, 1])
    product(graph, "matrices", bytes_of(3, 4), bytes_of(4, 5))
    product(graph, "zeros", bytes_of(2, 3, 4), bytes_of(2, 4, 5), a_zero=0, b_zero=0)
    pool(graph, "exact", 8, 2, 2)
    pool(graph, "one_past_the_end", 8, 3, 3, counted=False)
    backwards(graph, "from_the_last", 4)
    graph.add("half_pixel", "Resize", [floats(1, 1, 4, 4), None, None, np.array([1, 1, 2, 2])], constant=(3,), mode="linear",
              coordinate_transformation_mode="pytorch_half_pixel")  # fmt: skip
    return graph


def never_written() -> Graph:
    graph = Graph()
    graph.add("one_element", "Resize", [floats(1, 1, 4, 4), None, None, np.array([1, 1, 1, 2])], constant=(3,), mode="linear",
              coordinate_transformation_mode="pytorch_half_pixel")  # fmt: skip
    pool(graph, "dilated", 9, 2, 3, dilation=2, pads=(1, 0))
    return graph


def compiled(graph: Graph, folder):
    source, output = folder / "model.onnx", folder / "model.vmfb"
    graph.save(source)
    return fissile.compile(source, output, CPU, check=False), output


def stocks(graph: Graph, folder):
    """What IREE makes of the model as IREE's importer writes it."""
    source, imported, output = (folder / f"stock.{end}" for end in ("onnx", "mlir", "vmfb"))
    graph.save(source)
    words = [sys.executable, "-m", "iree.compiler.tools.import_onnx", source, "-o", imported]
    subprocess.run(words, check=True, timeout=300)
    assert compile_stock(imported, output, [*CPU], timeout=300.0) is None
    return output


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    folder, graph = tmp_path_factory.mktemp("wrong"), wrong_by_stock()
    report, output = compiled(graph, folder)
    return graph, report, graph.run(output), graph.run(stocks(graph, folder))


COUNTED = since("3.13", "its import counts what stands past the padding's end as it should")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=COUNTED if name in ("counted_padding", "two_past_the_end") else ())
        for name in wrong_by_stock().expected
    ],
)
def test_what_stock_leaves_out_is_computed(wrong, name):
    """Where stock is right IREE has changed, and this part of FIS162 is not needed any more."""
    graph, _, ours, theirs = wrong
    assert same(ours[name], graph.expected[name]), (ours[name], graph.expected[name])
    assert not same(theirs[name], graph.expected[name]), f"stock is right: {name} need not be rewritten"


def test_each_is_reported_once(wrong):
    graph, report, *_ = wrong
    found = [f for f in report.findings if f.code in ("FIS162", "FIS163")]
    assert len(found) == len(graph.nodes) and {f.severity.value for f in found} == {"repaired"}


def test_what_stock_rejects_is_computed(tmp_path):
    graph = rejected_by_stock()
    _, output = compiled(graph, tmp_path)
    found = graph.run(output)
    assert not [name for name, wanted in graph.expected.items() if not same(found[name], wanted)]


def test_what_stock_builds_right_keeps_its_bytes(tmp_path):
    graph = built_right_by_stock()
    theirs, output = stocks(graph, tmp_path), tmp_path / "ours.vmfb"
    report = fissile.compile(tmp_path / "stock.mlir", output, CPU)
    assert not report.findings
    found = graph.run(output)
    assert not [name for name, wanted in graph.expected.items() if not same(found[name], wanted)]
    assert output.read_bytes() == theirs.read_bytes()


def test_ops_without_operands_are_left_to_iree(tmp_path):
    kinds = ("LSTM", "Resize", "Cast", "GridSample", "Slice", "AveragePool", "QLinearConv", "FusedMatMul")
    ops = [
        f'  %{kind} = torch.operator "onnx.{kind}"() : () -> !torch.vtensor<[5],f8E4M3FN>\n' for kind in kinds
    ]
    head = "func.func @main() attributes {torch.onnx_meta.opset_version = 21 : si64} {\n"
    (tmp_path / "in.mlir").write_text(head + "".join(ops) + "  return\n}\n")
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", CPU, check=False)
    assert report.exit_code == 1 and "FIS902" not in {f.code for f in report.findings}


def test_peepholes_that_are_zero_are_none(tmp_path):
    graph = Graph()
    peepholes(graph, "zero", np.zeros((1, 6), np.float32))
    report, output = compiled(graph, tmp_path)
    assert "FIS162" not in {f.code for f in report.findings}
    assert same(graph.run(output)["zero"], graph.expected["zero"])


def test_what_cannot_be_rewritten_is_not_written(tmp_path):
    graph = never_written()
    report, output = compiled(graph, tmp_path)
    errors = [f for f in report.errors if f.code == "FIS162"]
    assert len(errors) == len(graph.nodes) and report.exit_code == 1 and not output.exists()


@COUNTED
def test_the_pools_that_stock_gets_wrong_are_those_that_are_found(tmp_path):
    graph, wrong = Graph(), set()
    for kernel, step, dilation, size, counted in itertools.product(
        (2, 3), (2, 3), (1, 2), (7, 8), (False, True)
    ):
        for pads in ((0, 0), (1, 0), (0, 1)):
            name = (
                f"k{kernel}_s{step}_d{dilation}_n{size}_p{pads[0]}{pads[1]}_{'counted' if counted else 'not'}"
            )
            pool(graph, name, size, kernel, step, dilation, pads, counted)
            extent = dilation * (kernel - 1) + 1
            count = graph.expected[name].shape[2]
            excess = (count - 1) * step + extent - size - sum(pads)
            if excess > (0 if counted else 1):
                wrong.add(name)
    found = graph.run(stocks(graph, tmp_path))
    assert {name for name, wanted in graph.expected.items() if not same(found[name], wanted)} == wrong
    report = fissile.check(tmp_path / "stock.onnx", ["llvm-cpu"])
    assert len([f for f in report.findings if f.code == "FIS162"]) == len(wrong)
