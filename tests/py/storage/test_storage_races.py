"""Ops of one dispatch that give its result to threads in different ways: reported, cut off, and right; silent elsewhere."""

import numpy as np
import pytest
from iree.compiler import ir

import fissile
from fissile.passes.analysis.kernel.sharing import unsynchronised
from fissile.passes.analysis.memory.footprint import STORAGE
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import present
from fissile.target import find_target

needs_vulkan = pytest.mark.skipif(
    "vulkan" not in [r.name for r in present()], reason="no Vulkan device answers here"
)


def depthwise(channels: int, out: int, stride: int) -> tuple[str, list[np.ndarray], np.ndarray]:
    """A depthwise convolution, NCHW, 3x3: the program, inputs, and what it computes."""
    size = (out - 1) * stride + 3
    x, r = f"tensor<1x{channels}x{size}x{size}xf32>", f"tensor<1x{channels}x{out}x{out}xf32>"
    text = f"""
func.func @f(%x: {x}, %w: tensor<{channels}x3x3xf32>) -> {r} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {r}
  %start = linalg.fill ins(%zero : f32) outs(%e : {r}) -> {r}
  %r = linalg.depthwise_conv_2d_nchw_chw {{strides = dense<{stride}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}
      ins(%x, %w : {x}, tensor<{channels}x3x3xf32>) outs(%start : {r}) -> {r}
  return %r : {r}
}}
"""
    generator = np.random.default_rng(0)
    given = generator.integers(-9, 10, (1, channels, size, size)).astype(np.float32)
    window = generator.integers(-9, 10, (channels, 3, 3)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(given, (3, 3), axis=(2, 3))[:, :, ::stride, ::stride]
    return text, [given, window], np.einsum("nchwij,cij->nchw", windows, window).astype(np.float32)


@needs_vulkan
@pytest.mark.parametrize(("channels", "out", "stride"), ((16, 4, 2), (112, 4, 2), (32, 8, 1)))
def test_a_depthwise_convolution_is_right_after_its_fill_is_cut_off(tmp_path, channels, out, stride):
    """Stock computes 95 of the 256 values of the first one wrong on lavapipe, and says nothing."""
    text, inputs, expected = depthwise(channels, out, stride)
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert [(f.code, f.severity.value) for f in report.findings if f.code != "FIS175"] == [
        ("FIS111", "repaired")
    ]
    assert "storage" in report.findings[0].message
    assert fissile.verify(
        source, output, inputs=inputs, expected=[expected], on="vulkan", tolerance="0,1e-5"
    ).agrees


@needs_vulkan
def test_so_is_what_is_computed_of_it_in_the_same_dispatch(tmp_path):
    """A barrier stands behind the copy of the start, and none behind the sum: cutting the fill off is not enough."""
    text, inputs, expected = depthwise(16, 4, 2)
    kind = "tensor<1x16x4x4xf32>"
    text = text.replace(
        f"  return %r : {kind}",
        f"""  %e2 = tensor.empty() : {kind}
  %d = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%r : {kind}) outs(%e2 : {kind}) {{
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  }} -> {kind}
  return %d : {kind}""",
    )
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text("#same = affine_map<(n, c, h, w) -> (n, c, h, w)>" + text)
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert [(f.code, f.severity.value) for f in report.findings if f.code != "FIS175"] == [
        ("FIS111", "repaired")
    ]
    assert fissile.verify(
        source, output, inputs=inputs, expected=[2 * expected], on="vulkan", tolerance="0,1e-5"
    ).agrees


def test_check_tells_it(tmp_path):
    source = tmp_path / "f.mlir"
    source.write_text(depthwise(16, 4, 2)[0])
    report = fissile.check(source, ["vulkan", "gfx942"], probe="all")
    assert [(f.code, f.target) for f in report.findings if f.code == "FIS111"] == [("FIS111", "vulkan")]


ACCUMULATED = """
func.func @f() attributes {{gpu.known_block_size = array<i32: 4, {threads}, 1>}} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = hal.interface.binding.subspan layout(<bindings = [#hal.pipeline.binding<storage_buffer>]>) binding(0) offset(%c0)
      : memref<4x4xf32, #hal.descriptor_type<storage_buffer>>
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %start = memref.subview %r[{first}] [1, 1] [1, 1]
      : memref<4x4xf32, #hal.descriptor_type<storage_buffer>> to memref<1x1xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>
  memref.store %zero, %start[%c0, %c0] : memref<1x1xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>
  {between}
  %sum = memref.subview %r[{second}] [1, 1] [1, 1]
      : memref<4x4xf32, #hal.descriptor_type<storage_buffer>> to memref<1x1xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>
  %before = memref.load %sum[%c0, %c0] : memref<1x1xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>
  memref.store %before, %sum[%c0, %c0] : memref<1x1xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>
  {after}
  return
}}
"""

READ_BY_ROWS = "%last = memref.load %r[%x, %y] : memref<4x4xf32, #hal.descriptor_type<storage_buffer>>"


@pytest.mark.parametrize(
    ("first", "second", "between", "after", "races"),
    (
        ("%x, %y", "%y, %x", "", "", True),
        ("%x, %y", "%x, %y", "", "", False),
        ("%x, %y", "%y, %x", "gpu.barrier", "", False),
        ("%x, %y", "%y, %x", "gpu.barrier", READ_BY_ROWS, True),
        ("%x, %y", "%y, %x", "gpu.barrier", "gpu.barrier " + READ_BY_ROWS, False),
        ("%c0, %c0", "%c0, %c0", "", "", True),
    ),
    ids=(
        "turned",
        "the same thread",
        "a barrier between",
        "a barrier too few",
        "a barrier each",
        "one place for all threads",
    ),
)
def test_which_results_in_storage_race(first, second, between, after, races):
    text = ACCUMULATED.format(first=first, second=second, threads=4, between=between, after=after)
    with ir.Context() as context:
        from iree.compiler.dialects import hal  # noqa: F401  (its attributes)

        context.allow_unregistered_dialects = True
        found = unsynchronised(ir.Module.parse(text).operation, distributed=True)
    assert [(race.space, race.type) for race in found] == ([(STORAGE, "4x4xf32")] if races else [])


ROWS = """
func.func @f() attributes {{gpu.known_block_size = array<i32: 4, {threads}, 1>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %r = hal.interface.binding.subspan layout(<bindings = [#hal.pipeline.binding<storage_buffer>]>) binding(0) offset(%c0)
      : memref<16x8xf32, #hal.descriptor_type<storage_buffer>>
  %x = gpu.thread_id x
  %pair = arith.divui %x, %c2 : index
  %twice = arith.muli %x, %c2 : index
  %beyond = arith.addi %twice, %c1 : index
  scf.for %i = %x to %c16 step {step} {{
    %e = memref.load %r[{row}, %c0] : memref<16x8xf32, #hal.descriptor_type<storage_buffer>>
    memref.store %e, %r[{row}, %c1] : memref<16x8xf32, #hal.descriptor_type<storage_buffer>>
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("row", "step", "threads", "races"),
    (
        ("%x", "%c4", 1, False),
        ("%twice", "%c4", 1, False),
        ("%beyond", "%c4", 1, False),
        ("%i", "%c4", 1, False),
        ("%i", "%c2", 1, True),
        ("%pair", "%c4", 1, True),
        ("%c0", "%c4", 1, True),
        ("%x", "%c4", 4, True),
    ),
)
def test_a_row_for_each_thread_is_no_race(row, step, threads, races):
    with ir.Context() as context:
        from iree.compiler.dialects import hal  # noqa: F401  (its attributes)

        context.allow_unregistered_dialects = True
        module = ir.Module.parse(ROWS.format(row=row, step=step, threads=threads))
        assert bool(unsynchronised(module.operation, distributed=True)) == races


VIEWS = """
func.func @f() attributes {{gpu.known_block_size = array<i32: 4, 1, 1>}} {{
  %c0 = arith.constant 0 : index
  %r = hal.interface.binding.subspan layout(<bindings = [#hal.pipeline.binding<storage_buffer>]>) binding(0) offset(%c0)
      : memref<4x4x4xf32>
  %x = gpu.thread_id x
  %a = memref.collapse_shape %r [[0], [1, 2]] : memref<4x4x4xf32> into memref<4x16xf32>
  %b = memref.collapse_shape %r {other}
  %e = memref.load %a[%x, %c0] : memref<4x16xf32>
  memref.store %e, %b[%x, %x] : {type}
  return
}}
"""


@pytest.mark.parametrize(
    ("other", "type", "races"),
    [
        ("[[0], [1, 2]] : memref<4x4x4xf32> into memref<4x16xf32>", "memref<4x16xf32>", False),
        ("[[0, 1], [2]] : memref<4x4x4xf32> into memref<16x4xf32>", "memref<16x4xf32>", True),
    ],
)
def test_rows_of_two_views_are_the_same_only_where_the_views_are(other, type, races):
    with ir.Context() as context:
        from iree.compiler.dialects import hal  # noqa: F401  (its attributes)

        context.allow_unregistered_dialects = True
        module = ir.Module.parse(VIEWS.format(other=other, type=type))
        assert bool(unsynchronised(module.operation, distributed=True)) == races


SORT = """
func.func @f(%a: tensor<{rows}x48xf32>) -> tensor<{rows}x48xf32> {{
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<{rows}x48xf32>) {{
  ^bb0(%x: f32, %y: f32):
    %g = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %g : i1
  }} -> tensor<{rows}x48xf32>
  return %r : tensor<{rows}x48xf32>
}}
"""
SCAN = """
func.func @f(%a: tensor<{rows}x48xf32>) -> tensor<{rows}x48xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{rows}x48xf32>
  %ce = tensor.empty() : tensor<{rows}xf32>
  %c = linalg.fill ins(%z : f32) outs(%ce : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%a : tensor<{rows}x48xf32>)
      outs(%e, %c : tensor<{rows}x48xf32>, tensor<{rows}xf32>) {{
  ^bb0(%x: f32, %y: f32):
    %g = arith.addf %x, %y : f32
    iree_linalg_ext.yield %g : f32
  }} -> tensor<{rows}x48xf32>, tensor<{rows}xf32>
  return %r#0 : tensor<{rows}x48xf32>
}}
"""


@needs_vulkan
@pytest.mark.parametrize(
    ("text", "expected"), [(SORT, lambda a: -np.sort(-a, axis=1)), (SCAN, lambda a: np.cumsum(a, axis=1))]
)
@pytest.mark.parametrize(("rows", "reported"), [(1, [("FIS111", "repaired")]), (3, [])])
def test_one_row_is_gone_along_by_one_thread(tmp_path, text, expected, rows, reported):
    """Stock lets all 64 threads of the workgroup sort the only row, in place; of several rows each has a thread."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(text.format(rows=rows))
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == reported
    given = np.random.default_rng(rows).integers(-99, 100, (rows, 48)).astype(np.float32)
    assert fissile.verify(source, output, inputs=[given], expected=[expected(given)], on="vulkan").agrees


LAST = """
func.func @f(%y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %ce = tensor.empty() : tensor<4xf32>
  %c = linalg.fill ins(%z : f32) outs(%ce : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%y : tensor<8x4xf32>) outs(%e, %c : tensor<8x4xf32>, tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<8x4xf32>, tensor<4xf32>
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<4xf32>
}
"""


@needs_vulkan
def test_a_fill_that_every_thread_repeats_does_not_write_over_what_a_thread_has_stored(tmp_path):
    """An inclusive scan only writes its accumulator: in stock's kernel all 64 threads fill it, four of them store the sums, and the others fill it again."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(LAST)
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert ("FIS111", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    given = np.arange(32, dtype=np.float32).reshape(8, 4)
    sums = np.cumsum(given, axis=0)
    assert fissile.verify(source, output, inputs=[given], expected=[sums, sums[-1]], on="vulkan").agrees


FFT = """
func.func @f(%x: tensor<4x32xf32>) -> (tensor<4x17xf32>, tensor<4x17xf32>) {
  %c = stablehlo.fft %x, type = RFFT, length = [32] : (tensor<4x32xf32>) -> tensor<4x17xcomplex<f32>>
  %re = stablehlo.real %c : (tensor<4x17xcomplex<f32>>) -> tensor<4x17xf32>
  %im = stablehlo.imag %c : (tensor<4x17xcomplex<f32>>) -> tensor<4x17xf32>
  return %re, %im : tensor<4x17xf32>, tensor<4x17xf32>
}
"""


@needs_vulkan
def test_a_part_of_a_fourier_transform_is_computed_by_one_thread(tmp_path):
    """All 64 do each of its five stages otherwise, in place; and IREE refuses the constant of i64 by which it permutes its input."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(FFT)
    report = fissile.compile(source, output, [*flags_for(find_target("vulkan")), "--guard=off"], check=False)
    assert sorted((f.code, f.severity.value) for f in report.findings) == [
        ("FIS108", "repaired"),
        *[("FIS111", "repaired")] * 5,
    ]
    given = np.random.default_rng(0).normal(size=(4, 32)).astype(np.float32)
    expected = np.fft.rfft(given).astype(np.complex64)
    assert fissile.verify(
        source,
        output,
        inputs=[given],
        expected=[expected.real, expected.imag],
        on="vulkan",
    ).agrees


INVERSES = """
func.func @forth(%x: tensor<3x8xcomplex<f32>>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %c = stablehlo.fft %x, type = IFFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  %re = stablehlo.real %c : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xf32>
  %im = stablehlo.imag %c : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xf32>
  return %re, %im : tensor<3x8xf32>, tensor<3x8xf32>
}
func.func @back(%x: tensor<3x5xcomplex<f32>>) -> tensor<3x8xf32> {
  %r = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<3x5xcomplex<f32>>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
"""


@needs_vulkan
def test_equal_stages_of_two_transforms_are_repaired_in_both(tmp_path):
    """Both functions call the first stages, which get their offsets as parameters: the locations of those name the op before, which is
    none of the dispatch's. Of the last stage `back` uses one result: the other is computed from a copy of the tensor's rank."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(INVERSES)
    report = fissile.compile(source, output, [*flags_for(find_target("vulkan")), "--guard=off"], check=False)
    assert {f.severity.value for f in report.findings} == {"repaired"}
    rng = np.random.default_rng(0)
    whole, half = (rng.normal(size=(3, n)) + 1j * rng.normal(size=(3, n)) for n in (8, 5))
    half[:, 0].imag = half[:, -1].imag = 0
    inverse = np.fft.ifft(whole).astype(np.complex64)
    for function, given, wanted in (
        ("forth", whole, [inverse.real, inverse.imag]),
        ("back", half, [np.fft.irfft(half).astype(np.float32)]),
    ):
        assert fissile.verify(
            source,
            output,
            inputs=[given.astype(np.complex64)],
            expected=wanted,
            on="vulkan",
            function=function,
        ).agrees


NORMALISED = """\
func.func @f(%x: tensor<?x9x16xf32>) -> tensor<?x16x9xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x9x16xf32>
  %e = tensor.empty(%b) : tensor<?x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x9xf32>) -> tensor<?x9xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x9x16xf32>) outs(%start : tensor<?x9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %in : f32
    %sum = arith.addf %m, %out : f32
    linalg.yield %sum : f32
  } -> tensor<?x9xf32>
  %t = tensor.empty(%b) : tensor<?x16x9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c, b)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<?x9x16xf32>, tensor<?x9xf32>) outs(%t : tensor<?x16x9xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %q = math.rsqrt %v : f32
    %p = arith.mulf %in, %q : f32
    linalg.yield %p : f32
  } -> tensor<?x16x9xf32>
  return %r : tensor<?x16x9xf32>
}
"""


@needs_vulkan
def test_a_barrier_in_the_loop_over_workgroups_does_not_order_what_stands_behind_it(tmp_path):
    """Of a size of the call, a workgroup takes several rows in a loop, with a barrier in front of the sum and none behind it. With
    the fill cut off alone, 24 of 432 values are wrong on lavapipe."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(NORMALISED)
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert {(f.code, f.severity.value) for f in report.findings} == {("FIS111", "repaired")}
    x = np.random.default_rng(0).standard_normal((3, 9, 16)).astype(np.float32)
    wanted = (x / np.sqrt((x * x).sum(-1, keepdims=True))).transpose(0, 2, 1)
    checked = fissile.verify(source, output, inputs=[x], expected=[wanted], on="vulkan", tolerance="0,1e-5")
    assert checked.agrees
