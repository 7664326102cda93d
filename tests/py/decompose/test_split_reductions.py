"""Long rows added up in parts: equal to NumPy on llvm-cpu for any shape, and right on lavapipe where stock's are not."""

from math import isqrt

import numpy as np
import pytest
from built import build, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile
from fissile.effect import Effect
from fissile.passes.definition import PassFailed
from fissile.passes.failures.long_loop import MOST_ITERATIONS
from fissile.passes.remedies.decompose.split_reductions import parts_of
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.report.text import summary

VULKAN = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
COMBINED = {  # the op, the element type, what the sum starts from, NumPy's form
    "addf": ("f32", "0.5", lambda x: x.astype(np.float64).sum),
    "maximumf": ("f32", "-1.0", lambda x: x.max),
    "minimumf": ("f32", "1.0", lambda x: x.min),
    "addi": ("i32", "7", lambda x: x.sum),
    "xori": (
        "i32",
        "7",
        lambda x: lambda axis, initial: np.bitwise_xor.reduce(x, axis=axis, initial=initial),
    ),
    "andi": (
        "i32",
        "-1",
        lambda x: lambda axis, initial: np.bitwise_and.reduce(x, axis=axis, initial=initial),
    ),
    "maxsi": ("i32", "-3", lambda x: x.max),
    "minsi": ("i32", "3", lambda x: x.min),
}


def reduction(shape, dimension: int, name: str, element: str, start: str) -> str:
    """A sum along ``dimension``, which may be dynamic elsewhere."""
    rank = len(shape)
    loops = ", ".join(f"d{i}" for i in range(rank))
    kept = ", ".join(f"d{i}" for i in range(rank) if i != dimension)
    kinds = ", ".join('"reduction"' if i == dimension else '"parallel"' for i in range(rank))
    x = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    y = f"tensor<{''.join(f'{n}x' for i, n in enumerate(shape) if i != dimension)}{element}>"
    return f"""
func.func @main(%x: {x}) -> {y} {{
  %z = arith.constant {start} : {element}
  %e = tensor.empty() : {y}
  %f = linalg.fill ins(%z : {element}) outs(%e : {y}) -> {y}
  %r = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> ({kept})>],
                       iterator_types = [{kinds}]}} ins(%x : {x}) outs(%f : {y}) {{
  ^bb0(%in: {element}, %sum: {element}):
    %s = arith.{name} %sum, %in : {element}
    linalg.yield %s : {element}
  }} -> {y}
  return %r : {y}
}}
"""


def softmax(shape, dimension: int) -> str:
    x = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return f"""
func.func @main(%x: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %r = linalg.softmax dimension({dimension}) ins(%x : {x}) outs(%e : {x}) -> {x}
  return %r : {x}
}}
"""


def softmax_in_numpy(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@st.composite
def reductions(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=0, max_size=2))
    dimension = draw(st.integers(0, len(shape)))
    shape.insert(dimension, draw(st.integers(2, 300)))
    return tuple(shape), dimension, draw(st.sampled_from(sorted(COMBINED)))


@settings(max_examples=examples(8, 25), deadline=None, derandomize=True)
@given(reductions())
def test_any_sum_of_any_length(tmp_path_factory, one):
    shape, dimension, name = one
    path = tmp_path_factory.mktemp("split") / "x.vmfb"
    element, start, expected = COMBINED[name]
    changed = build(
        reduction(shape, dimension, name, element, start),
        path,
        "fissile-split-reductions{ops=1},fissile-lower-boundaries",
    )
    assert changed.count(f"arith.{name}") >= 2
    rng = np.random.default_rng(0)
    x = (
        rng.standard_normal(shape).astype(np.float32)
        if element == "f32"
        else rng.integers(-99, 99, shape).astype(np.int32)
    )
    wanted = expected(x)(axis=dimension, initial=float(start) if element == "f32" else int(start))
    np.testing.assert_allclose(
        run(path, [x])[0], wanted, rtol=1e-5 if name == "addf" else 0, atol=1e-5 if name == "addf" else 0
    )


@settings(max_examples=examples(3, 8), deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(lambda s: max(s) > 1))
def test_any_softmax(tmp_path_factory, shape):
    path, dimension = tmp_path_factory.mktemp("split") / "x.vmfb", shape.index(max(shape))
    build(softmax(shape, dimension), path, "fissile-split-reductions{ops=0},fissile-lower-boundaries")
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(run(path, [x])[0], softmax_in_numpy(x, dimension), rtol=1e-5)


def extreme(shape, element: str, compare: str, value: str = "select", swapped: bool = False) -> str:
    """The largest or smallest value of each row and its position; the first or the last of equal ones, as ``compare`` says."""
    rows, columns = shape
    cmp = f"arith.{'cmpf' if element == 'f32' else 'cmpi'} {compare}, "
    start = {"f32": {"g": "0xFF800000", "l": "0x7F800000"}, "i32": {"g": "-2147483648", "l": "2147483647"}}
    greater = ("g" in compare) != swapped
    chosen = {
        "select": f"arith.select %c, %in, %most : {element}",
        "op": f"arith.{value} %in, %most : {element}",
    }
    return f"""
func.func @main(%x: tensor<{rows}x{columns}x{element}>) -> (tensor<{rows}x{element}>, tensor<{rows}xi32>) {{
  %least = arith.constant {start[element]["g" if greater else "l"]} : {element}
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{rows}x{element}>
  %g = tensor.empty() : tensor<{rows}xi32>
  %f = linalg.fill ins(%least : {element}) outs(%e : tensor<{rows}x{element}>) -> tensor<{rows}x{element}>
  %h = linalg.fill ins(%zero : i32) outs(%g : tensor<{rows}xi32>) -> tensor<{rows}xi32>
  %r:2 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{rows}x{columns}x{element}>) outs(%f, %h : tensor<{rows}x{element}>, tensor<{rows}xi32>) {{
  ^bb0(%in: {element}, %most: {element}, %at: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %c = {cmp}{"%most, %in" if swapped else "%in, %most"} : {element}
    %s = {chosen["select" if value == "select" else "op"]}
    %t = arith.select %c, %j, %at : i32
    linalg.yield %s, %t : {element}, i32
  }} -> (tensor<{rows}x{element}>, tensor<{rows}xi32>)
  return %r#0, %r#1 : tensor<{rows}x{element}>, tensor<{rows}xi32>
}}
"""


@pytest.mark.parametrize(
    ("element", "compare", "value", "swapped"),
    (
        ("f32", "ogt", "select", False),
        ("f32", "oge", "select", False),
        ("f32", "olt", "minimumf", False),
        ("f32", "ogt", "maximumf", False),
        ("f32", "olt", "select", True),
        ("i32", "sgt", "maxsi", False),
        ("i32", "sle", "select", False),
        ("i32", "sge", "select", True),
    ),
)
@pytest.mark.parametrize("columns", (2, 300, 1027))
def test_positions_of_extremes(tmp_path, columns, element, compare, value, swapped):
    """Of equal values the first or the last, as the whole row would have it: parts and rest stay in order."""
    changed = build(
        extreme((5, columns), element, compare, value, swapped),
        tmp_path / "x.vmfb",
        "fissile-split-reductions{ops=2},fissile-lower-boundaries",
    )
    assert changed.count("linalg.generic") >= (2 if columns > 2 else 1)
    x = (
        np.random.default_rng(0)
        .integers(-4, 5, (5, columns))
        .astype(np.float32 if element == "f32" else np.int32)
    )
    x[4] = 2  # all are equal
    last = "e" in compare
    positions = np.argmax if ("g" in compare) != swapped else np.argmin
    wanted = columns - 1 - positions(x[:, ::-1], axis=1) if last else positions(x, axis=1)
    values, found = run(tmp_path / "x.vmfb", [x])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(values, x[np.arange(5), wanted])


TRACE = """
func.func @main(%x: tensor<{n}x{n}xf32>) -> tensor<f32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}}
      ins(%x : tensor<{n}x{n}xf32>) outs(%f : tensor<f32>) {{
  ^bb0(%in: f32, %sum: f32):
    %s = arith.addf %sum, %in : f32
    linalg.yield %s : f32
  }} -> tensor<f32>
  return %r : tensor<f32>
}}
"""


def test_a_loop_that_indexes_one_operand_twice(tmp_path):
    build(
        TRACE.format(n=103), tmp_path / "x.vmfb", "fissile-split-reductions{ops=1},fissile-lower-boundaries"
    )
    x = np.random.default_rng(0).standard_normal((103, 103)).astype(np.float32)
    np.testing.assert_allclose(run(tmp_path / "x.vmfb", [x])[0], np.trace(x.astype(np.float64)), rtol=1e-5)


def test_a_position_in_several_loops_stays_whole(tmp_path):
    text = extreme((5, 300), "f32", "ogt").replace("(d0)>", "()>").replace('"parallel"', '"reduction"')
    text = text.replace("tensor<5xf32>", "tensor<f32>").replace("tensor<5xi32>", "tensor<i32>")
    with pytest.raises(PassFailed, match="the order of its terms is that of several loops"):
        build(text, tmp_path / "x.vmfb", "fissile-split-reductions{ops=2}")


POOL = """
func.func @main(%x: tensor<1x{h}x{w}x3xf32>) -> tensor<1x{oh}x{ow}x3xf32> {{
  %z = arith.constant {start} : f32
  %k = tensor.empty() : tensor<{kh}x{kw}xf32>
  %e = tensor.empty() : tensor<1x{oh}x{ow}x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x{oh}x{ow}x3xf32>) -> tensor<1x{oh}x{ow}x3xf32>
  %r = linalg.pooling_nhwc_{kind} {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<{dilation}> : tensor<2xi64>}}
      ins(%x, %k : tensor<1x{h}x{w}x3xf32>, tensor<{kh}x{kw}xf32>) outs(%f : tensor<1x{oh}x{ow}x3xf32>) -> tensor<1x{oh}x{ow}x3xf32>
  return %r : tensor<1x{oh}x{ow}x3xf32>
}}
"""


def pool(h, w, kh, kw, stride=1, dilation=1, kind="sum") -> str:
    oh, ow = ((n - (k - 1) * dilation - 1) // stride + 1 for n, k in ((h, kh), (w, kw)))
    return POOL.format(
        h=h,
        w=w,
        kh=kh,
        kw=kw,
        oh=oh,
        ow=ow,
        stride=stride,
        dilation=dilation,
        kind=kind,
        start="0.0" if kind == "sum" else "-9.0e9",
    )


@pytest.mark.parametrize(
    "sizes", ((11, 9, 7, 5), (11, 12, 3, 5, 2, 2), (9, 9, 9, 9), (1104, 1100, 1103, 1100)), ids=str
)
@pytest.mark.parametrize("kind", ("sum", "max"))
def test_windows(tmp_path, sizes, kind):
    """The largest has 1210000 steps: its 32 parts, of 34 * 1100 steps, are split again."""
    text = pool(*sizes, kind=kind)
    changed = build(text, tmp_path / "x.vmfb", "fissile-split-reductions{ops=1},fissile-lower-boundaries")
    assert changed.count("linalg.generic") >= (4 if sizes[0] > 1000 else 2)
    h, w, kh, kw, stride, dilation = (*sizes, 1, 1)[:6]
    x = np.random.default_rng(0).standard_normal((1, h, w, 3)).astype(np.float32)
    reach = ((kh - 1) * dilation + 1, (kw - 1) * dilation + 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))[
        :, ::stride, ::stride, :, ::dilation, ::dilation
    ]
    wanted = windows.sum(axis=(-2, -1), dtype=np.float64) if kind == "sum" else windows.max(axis=(-2, -1))
    np.testing.assert_allclose(
        run(tmp_path / "x.vmfb", [x])[0],
        wanted,
        rtol=1e-5 if kind == "sum" else 0,
        atol=2e-3 if kind == "sum" else 0,
    )


@given(st.integers(2, 10**7))
@settings(max_examples=500, deadline=None)
def test_parts_leave_nothing_over_where_a_number_near_the_root_divides(steps):
    parts, root = parts_of(steps), isqrt(steps)
    assert 1 <= parts <= max(2, 2 * root) and parts >= root // 4
    near = range(max(2, root // 2), 2 * root + 1)
    if any(steps % n == 0 for n in near if root / 2 < n <= root):
        assert steps % parts == 0


LONG = {  # the program, and how long its row is
    "softmax": (softmax((1, 22001), 1), 3 * 22001),
    "sum": (reduction((3, 66001), 1, "addf", "f32", "0.0"), 66001),
    "pooling": (pool(257, 259, 257, 259), 257 * 259),
    "position": (extreme((3, 70001), "f32", "ogt"), 70001),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_row_is_told_and_split(tmp_path, name):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    text, steps = LONG[name]
    source.write_text(text)
    [reported] = fissile.check(source, ["vulkan"]).findings
    assert (reported.code, reported.severity.value, reported.effect) == (
        "FIS125",
        "error",
        Effect.MAY_BE_WRONG,
    )
    assert int(reported.message.split(" runs ")[1].split()[0]) >= steps > MOST_ITERATIONS
    [done] = fissile.compile(source, output, VULKAN, check=False).findings
    assert (done.code, done.severity.value) == ("FIS125", "repaired") and "fissile-split-reductions" in str(
        done.helps
    )
    output.unlink()
    [left] = fissile.compile(source, output, VULKAN, repair="off", check=False).findings
    assert not output.exists() and (left.code, left.severity.value) == ("FIS125", "error")


@NO_VULKAN
@pytest.mark.parametrize("name", LONG)
def test_the_row_is_right_on_the_device(tmp_path, name):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(LONG[name][0])
    assert fissile.compile(source, output, VULKAN, check=False).output
    shape = {"softmax": (1, 22001), "sum": (3, 66001), "pooling": (1, 257, 259, 3), "position": (3, 70001)}[
        name
    ]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    wanted = {
        "softmax": lambda: softmax_in_numpy(x, 1),
        "sum": lambda: x.astype(np.float64).sum(axis=1),
        "pooling": lambda: x.astype(np.float64).sum(axis=(1, 2), keepdims=True),
        "position": lambda: x.argmax(axis=1),
    }[name]()
    np.testing.assert_allclose(
        run(output, [x], "vulkan")[-1], wanted, rtol=1e-5, atol=1e-9 if name == "softmax" else 1e-3
    )


LLVMPIPE = [*VULKAN, "--iree-vulkan-target=llvmpipe"]


@pytest.mark.parametrize(
    ("text", "flags", "target"),
    (
        (softmax((1, 21001), 1), VULKAN, "vulkan"),
        (reduction((3, 65001), 1, "addf", "f32", "0.0"), VULKAN, "vulkan"),
        (reduction((3, 128256), 1, "addf", "f32", "0.0"), LLVMPIPE, "vulkan:llvmpipe"),
    ),
    ids=("softmax", "sum", "a row across a subgroup"),
)
def test_silent_twins(tmp_path, text, flags, target):
    source = tmp_path / "x.mlir"
    source.write_text(text)
    assert not fissile.check(source, [target]).findings
    assert not fissile.compile(source, tmp_path / "x.vmfb", flags, check=False).findings


def test_a_sum_across_a_subgroup_may_be_too_long_as_well(tmp_path):
    """25 million terms for 64 threads: 390625 for each."""
    source = tmp_path / "x.mlir"
    source.write_text(
        reduction((5000, 5000), 1, "addf", "f32", "0.0")
        .replace("(d0)>", "()>")
        .replace('"parallel"', '"reduction"')
        .replace("tensor<5000xf32>", "tensor<f32>")
    )
    [reported] = fissile.check(source, ["vulkan:llvmpipe"]).findings
    assert reported.code == "FIS125" and " 390625 loop" in reported.message
    found = fissile.compile(source, tmp_path / "x.vmfb", LLVMPIPE, check=False).findings
    # The parts are added up by more workgroups than the device states, which is FIS144's warning.
    assert [f.severity.value for f in found if f.code != "FIS144"] == ["repaired"]


def test_what_cannot_be_split_is_withheld_unless_the_user_insists(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(reduction((3, 66001), 1, "divf", "f32", "1.0"))
    [reported] = fissile.compile(source, output, VULKAN, check=False).findings
    assert (
        not output.exists()
        and (reported.code, reported.severity.value) == ("FIS125", "error")
        and "no remedy helps" in str(reported.notes)
    )
    report = fissile.compile(source, output, VULKAN, allow_wrong=True, check=False)
    assert (
        output.exists()
        and [(f.code, f.severity.value) for f in report.findings] == [("FIS125", "warning")]
        and not report.exit_code
    )
    assert "WHOSE NUMBERS ARE WRONG" in summary(report) and "--allow-wrong-numbers" in str(
        report.findings[0].notes
    )
    [slow] = fissile.compile(source, output, [*VULKAN, "--iree-vulkan-target=rdna3"], check=False).findings
    assert (slow.code, slow.severity.value, slow.effect) == ("FIS125", "warning", Effect.SLOW)
