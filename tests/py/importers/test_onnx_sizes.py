"""ONNX models whose sizes the call decides (FIS165, FIS167, FIS168): as ONNX's own evaluator computes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
from onnx import helper, numpy_helper, parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

RANDOM = np.random.default_rng(9)
BORDER = """shape = Shape(x) length = Gather(shape, axis) negated = Neg(length) {} borders = Concat<axis=0>(none, none, none, rest)
    y = Pad(x, borders)"""
SIZES = {"axis": np.array([1]), "four": np.array([4]), "none": np.array([0])}


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def every_byte(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) * 37 % 256).astype(np.uint8).reshape(shape)


@dataclass(frozen=True)
class Model:
    """``head`` and ``body`` in ONNX's text format; ``calls``: the arguments of each call."""

    head: str
    body: str
    calls: tuple[tuple[np.ndarray, ...], ...]
    code: str
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    expected: Callable[[np.ndarray], np.ndarray] | None = None

    def proto(self):
        graph = parser.parse_graph(f"main ({self.head}) => (y) {{ {self.body} }}")
        graph.initializer.extend(
            numpy_helper.from_array(value, name) for name, value in self.constants.items()
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        model.graph.output[0].CopyFrom(inferred.graph.output[0])
        return model


def pool(
    kind: str, border: str, elements: int = 3, step: int = 2, dilation: int = 1, counted: int = 0
) -> Model:
    """``border``: as auto_pad names it, or the widths. ONNX's own evaluator is wrong for some of these pools."""
    auto, _, pads = border.partition(",")
    attributes = [
        f"kernel_shape=[{elements},{elements}]",
        f"strides=[{step},{step}]",
        f"dilations=[{dilation},{dilation}]",
    ]
    attributes += [f"pads=[{auto},{auto},{pads},{pads}]" if pads else f'auto_pad="{border}"']
    attributes += [f"count_include_pad={counted}"] * (kind == "AveragePool")

    def pooled(x: np.ndarray) -> np.ndarray:
        extent, borders = dilation * (elements - 1) + 1, []
        for size in x.shape[2:]:
            missing = max(0, (-(-size // step) - 1) * step + extent - size)
            first = (missing + 1) // 2 if border == "SAME_LOWER" else missing // 2
            borders.append((int(auto), int(pads)) if pads else (first, missing - first))
        wide = np.pad(x, [(0, 0), (0, 0), *borders], constant_values=np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(wide, (extent, extent), (2, 3))
        windows = windows[:, :, ::step, ::step, ::dilation, ::dilation]
        if kind == "MaxPool":
            return np.nanmax(windows, (4, 5))
        return np.nan_to_num(windows).mean((4, 5)) if counted else np.nanmean(windows, (4, 5))

    calls = tuple((floats(2, 3, size, size + 1),) for size in (6, 7, 8, 9))
    return Model(
        "float[b,3,h,w] x", f"y = {kind}<{', '.join(attributes)}>(x)", calls, "FIS168", expected=pooled
    )


LEVELS = tuple((np.array([[1, 3, 3, 2, 3, 0][:size]] * 2, np.float32),) for size in (3, 6))
IMAGES = tuple((floats(2, *sizes),) for sizes in ((4, 9), (9, 4), (6, 6)))


def local_response(x: np.ndarray) -> np.ndarray:
    """ONNX's own evaluator sums up the squares of other channels."""
    squares = np.pad(x * x, [(0, 0), (1, 1), (0, 0), (0, 0)])
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    return x / (2 + 0.5 / 3 * total) ** 0.75


LENGTHS = tuple((floats(2, size),) for size in (7, 8, 9))
WRONG = {
    "max_pool_upper": pool("MaxPool", "SAME_UPPER"),
    "max_pool_lower": pool("MaxPool", "SAME_LOWER", 4, 3, 2),
    "max_pool_two_borders": pool("MaxPool", "1,2"),
    "average_pool_upper": pool("AveragePool", "SAME_UPPER"),
    "average_pool_lower": pool("AveragePool", "SAME_LOWER", 4, 3),
    "average_pool_counted": pool("AveragePool", "SAME_LOWER", 4, 3, counted=1),
    "average_pool_with_gaps": pool("AveragePool", "SAME_UPPER", 3, 3, 2),
    "last_largest": Model("float[b,n] x", "y = ArgMax<axis=1, select_last_index=1>(x)", LEVELS, "FIS168"),
    "last_smallest": Model("float[b,n] x", "y = ArgMin<axis=-1, select_last_index=1, keepdims=0>(x)", LEVELS, "FIS168"),
    "middle": Model("float[b,h,w] x", "y = CenterCropPad<axes=[1,2]>(x, to)", IMAGES, "FIS168", {"to": np.array([6, 7])}),
    "local_response": Model("float[b,8,h,w] x", "y = LRN<size=3, bias=2.0, alpha=0.5>(x)", ((floats(2, 8, 3, 4),), (floats(3, 8, 5, 2),)), "FIS168", expected=local_response),
    "backwards_from_behind": Model("float[b,s] x", "y = Slice(x, from, to, axis, step)", LENGTHS, "FIS162", {"axis": np.array([1]), "from": np.array([8]), "to": np.array([1]), "step": np.array([-2])}),
    "to_a_multiple": Model("float[b,s] x", BORDER.format("rest = Mod(negated, four)"), LENGTHS, "FIS167", SIZES),
    "a_quotient": Model("float[b,s] x", BORDER.format("q = Div(negated, four) rest = Neg(q)"), LENGTHS, "FIS167", SIZES),
    "bytes_divided": Model("uint8[b,n] x, uint8[b,n] z", "y = Div(x, z)", ((every_byte(3, 9), every_byte(3, 9)[:, ::-1] | 1),), "FIS165"),
    "bytes_left": Model("uint8[b,n] x, uint8[b,n] z", "y = Mod(x, z)", ((every_byte(3, 9), every_byte(3, 9)[:, ::-1] | 1),), "FIS165"),
    "bytes_clipped": Model("uint8[b,n] x", "y = Clip(x, low, high)", ((every_byte(3, 9),),), "FIS165", {"low": np.array(5, np.uint8), "high": np.array(220, np.uint8)}),
    "bytes_unsigned": Model("uint8[b,n] x", "y = Abs(x)", ((every_byte(3, 9),),), "FIS165"),
    "bytes_pooled": Model("uint8[b,3,h,w] x", "y = MaxPool<kernel_shape=[2,2], pads=[1,1,1,1]>(x)", ((every_byte(1, 3, 6, 7),),), "FIS165"),
}  # fmt: skip
SMALL = RANDOM.integers(-128, 128, (2, 5, 4)).astype(np.int8)
REJECTED = {
    "a_row": Model("float[8] x, float[b,8,n] z", "y = MatMul(x, z)", ((floats(8), floats(2, 8, 3)),), "fissile-multiply-batches"),
    "a_column": Model("float[b,s,8] x, float[8] z", "y = MatMul(x, z)", ((floats(2, 3, 8), floats(8)),), "fissile-multiply-batches"),
    "bytes": Model("uint8[b,s,5] x, int8[b,5,n] z", "y = MatMulInteger(x, z)", ((every_byte(2, 3, 5), SMALL),), "fissile-multiply-batches"),
    "blocks": Model("float[b,3,h,w] x", "y = SpaceToDepth<blocksize=2>(x)", ((floats(2, 3, 4, 6),), (floats(1, 3, 8, 2),)), "fissile-gather-blocks"),
}  # fmt: skip
RIGHT = {
    "side_by_side": pool("MaxPool", "SAME_LOWER", 3, 1),
    "averages_side_by_side": pool("AveragePool", "SAME_UPPER", 4, 1),
    "borders_of_its_own": Model("float[b,3,h,w] x", "y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)", ((floats(2, 3, 6, 7),),), ""),
    "the_first_largest": Model("float[b,n] x", "y = ArgMax<axis=1>(x)", LEVELS, ""),
    "positive": Model("float[b,s] x", BORDER.replace("Neg(length)", "Identity(length)").format("rest = Mod(negated, four)"), LENGTHS, "", SIZES),
    "no_size": Model("int64[b,n] x", "y = Mod(x, four)", ((np.arange(-9, 9).reshape(2, 9),),), "", {"four": np.array(4)}),
    "bytes_added": Model("uint8[b,n] x", "y = Add(x, x)", ((every_byte(3, 9),),), ""),
}  # fmt: skip


def called(vmfb, source, arguments):
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], list(arguments), runtime)
    return answer[0] if isinstance(answer, list) else None


def same(got, wanted) -> bool:
    if got is None or got.shape != wanted.shape:
        return False
    return np.allclose(got.view(wanted.dtype) if got.dtype.itemsize == 1 else got, wanted, 1e-5, 1e-6)


def checked(model: Model, folder, rejected: bool = False):
    """Whether each call gives what it should: of fissile's module, and of stock's unless that is ``rejected``."""
    source, ours, imported, theirs = (
        folder / name for name in ("main.onnx", "ours.vmfb", "in.mlir", "stock.vmfb")
    )
    proto = model.proto()
    onnx.save(proto, source)
    report = fissile.compile(source, ours, CPU, check=False)
    words = [sys.executable, "-m", "iree.compiler.tools.import_onnx", source, "-o", imported]
    subprocess.run(words, check=True, timeout=300)
    assert (compile_stock(imported, theirs, [*CPU], timeout=300.0) is None) != rejected
    built = (ours,) if rejected else (ours, theirs)
    names = [one.name for one in proto.graph.input]
    answers = []
    for call in model.calls:
        if model.expected is not None:
            wanted = model.expected(*call)
        else:
            [wanted] = ReferenceEvaluator(proto).run(None, dict(zip(names, call, strict=True)))
        answers.append([same(called(vmfb, imported, call), np.asarray(wanted)) for vmfb in built])
    return report, answers


@pytest.mark.parametrize("name", WRONG)
def test_sizes_of_the_call_count(tmp_path, name):
    """Once stock is right for all calls, IREE has changed, and the op need not be rewritten."""
    report, answers = checked(WRONG[name], tmp_path)
    [finding] = [f for f in report.findings if f.code == WRONG[name].code]
    assert finding.severity.value == "repaired"
    assert all(ours for ours, _theirs in answers)
    assert not all(theirs for _ours, theirs in answers)


@pytest.mark.parametrize("name", REJECTED)
def test_what_stock_rejects_is_written_with_other_ops(tmp_path, name):
    report, answers = checked(REJECTED[name], tmp_path, rejected=True)
    [finding] = [f for f in report.findings if f.code == "FIS421"]
    assert dict(finding.helps[0].facts)["pass"] == REJECTED[name].code
    assert all(map(all, answers))


@pytest.mark.parametrize("name", RIGHT)
def test_what_stock_computes_rightly_stays(tmp_path, name):
    report, answers = checked(RIGHT[name], tmp_path)
    assert not {f.code for f in report.findings} & {"FIS165", "FIS167", "FIS168"}
    assert all(map(all, answers))


def test_a_pool_that_also_tells_places_is_not_written(tmp_path):
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text("""\
func.func @main(%x: !torch.vtensor<[1,1,?],f32>) -> !torch.vtensor<[1,1,?],si64> attributes {torch.onnx_meta.opset_version = 19 : si64} {
  %r:2 = torch.operator "onnx.MaxPool"(%x) {torch.onnx.auto_pad = "SAME_UPPER", torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [2 : si64]}
    : (!torch.vtensor<[1,1,?],f32>) -> (!torch.vtensor<[1,1,?],f32>, !torch.vtensor<[1,1,?],si64>)
  return %r#1 : !torch.vtensor<[1,1,?],si64>
}
""")
    report = fissile.compile(source, output, CPU, check=False)
    assert [f.severity.value for f in report.findings if f.code == "FIS168"] == ["error"]
    assert report.exit_code == 1 and not output.exists()
