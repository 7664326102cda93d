"""Packs, unpacks and gathers as reads by index: equal to NumPy on llvm-cpu and on default Vulkan, where stock refuses them."""

import numpy as np
import pytest
from built import CPU, build, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile
from fissile.pipelines.numerics import runtimes

VULKAN = ("--iree-hal-target-device=vulkan",)


def tensor(shape, kind: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def packed_shape(shape, inner, tiles, outer):
    counts = [-(-size // tiles[inner.index(d)]) if d in inner else size for d, size in enumerate(shape)]
    return (*(counts[d] for d in outer), *tiles)


def layout(inner, tiles, outer) -> str:
    return f"outer_dims_perm = {list(outer)} inner_dims_pos = {list(inner)} inner_tiles = {list(tiles)}"


def pack(shape, inner, tiles, outer, dynamic: bool = False) -> str:
    made = packed_shape(shape, inner, tiles, outer)
    x, y = (
        tensor(["?", *shape[1:]] if dynamic else shape),
        tensor(["?" if d == 0 and dynamic else made[i] for i, d in enumerate(outer)] + list(tiles)),
    )
    size = (
        (
            "  %c0 = arith.constant 0 : index\n"
            f"  %n = tensor.dim %x, %c0 : {x}\n  %t = arith.constant {tiles[inner.index(0)] if 0 in inner else 1} : index\n"
            "  %s = arith.ceildivui %n, %t : index\n"
        )
        if dynamic
        else ""
    )
    return f"""
func.func @main(%x: {x}) -> {y} {{
  %z = arith.constant -7.0 : f32
{size}  %e = tensor.empty({"%s" if dynamic else ""}) : {y}
  %r = linalg.pack %x padding_value(%z : f32) {layout(inner, tiles, outer)} into %e : {x} -> {y}
  return %r : {y}
}}
"""


def unpack(shape, inner, tiles, outer) -> str:
    x, y = tensor(packed_shape(shape, inner, tiles, outer)), tensor(shape)
    return f"""
func.func @main(%x: {x}) -> {y} {{
  %e = tensor.empty() : {y}
  %r = linalg.unpack %x {layout(inner, tiles, outer)} into %e : {x} -> {y}
  return %r : {y}
}}
"""


def numpy_pack(x, inner, tiles, outer):
    wanted = [
        -(-n // tiles[inner.index(d)]) * tiles[inner.index(d)] if d in inner else n
        for d, n in enumerate(x.shape)
    ]
    x = np.pad(x, [(0, w - n) for w, n in zip(wanted, x.shape, strict=True)], constant_values=-7)
    split, at = [], []
    for d, size in enumerate(x.shape):
        at.append(len(split))
        split += [size // tiles[inner.index(d)], tiles[inner.index(d)]] if d in inner else [size]
    return x.reshape(split).transpose([*(at[d] for d in outer), *(at[d] + 1 for d in inner)])


def numpy_unpack(y, shape, inner, tiles, outer):
    order, padded = [], []
    for d in range(len(shape)):
        order.append(outer.index(d))
        padded.append(y.shape[outer.index(d)])
        if d in inner:
            order.append(len(shape) + inner.index(d))
            padded[-1] *= tiles[inner.index(d)]
    return y.transpose(order).reshape(padded)[tuple(slice(0, size) for size in shape)]


def built_by_itself(text: str, path):
    changed = build(text, path, "fissile-decompose-movement")
    assert "linalg.generic" in changed and not any(
        name in changed for name in ("linalg.pack", "linalg.unpack", ".gather")
    )


@st.composite
def layouts(draw):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    inner = draw(st.lists(st.sampled_from(range(len(shape))), min_size=1, max_size=len(shape), unique=True))
    tiles = [draw(st.integers(1, 4)) for _ in inner]
    outer = draw(st.permutations(range(len(shape))))
    return shape, inner, tiles, outer


@settings(max_examples=examples(4, 15), deadline=None, derandomize=True)
@given(layouts())
def test_any_layout_and_back(tmp_path_factory, one):
    shape, inner, tiles, outer = one
    path = tmp_path_factory.mktemp("moved") / "x.vmfb"
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    built_by_itself(pack(*one), path)
    packed = run(path, [x])[0]
    np.testing.assert_array_equal(packed, numpy_pack(x, inner, tiles, outer))
    built_by_itself(unpack(*one), path)
    np.testing.assert_array_equal(run(path, [packed])[0], x)


def test_a_dynamic_pack(tmp_path):
    path, x = tmp_path / "x.vmfb", np.arange(35, dtype=np.float32).reshape(7, 5)
    built_by_itself(pack((7, 5), [0, 1], [4, 2], [1, 0], dynamic=True), path)
    np.testing.assert_array_equal(run(path, [x])[0], numpy_pack(x, [0, 1], [4, 2], [1, 0]))


DYNAMIC_TILES = """
func.func @main(%x: tensor<?x?xf32>, %t: index, %u: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant -7.0 : f32
  %a = tensor.dim %x, %c0 : tensor<?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = arith.ceildivui %a, %t : index
  %n = arith.ceildivui %b, %u : index
  %e = tensor.empty(%n, %m, %t, %u) : tensor<?x?x?x?xf32>
  %p = linalg.pack %x padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%t, %u]
      into %e : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %o = util.optimization_barrier %p : tensor<?x?x?x?xf32>
  %q = flow.tensor.tie_shape %o : tensor<?x?x?x?xf32>{%n, %m, %t, %u}
  %f = tensor.empty(%a, %b) : tensor<?x?xf32>
  %r = linalg.unpack %q outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%t, %u]
      into %f : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("target", ("llvm-cpu", "vulkan"))
def test_tiles_of_dynamic_size(tmp_path, target):
    """Stock refuses both for Vulkan, and the unpack for llvm-cpu; there and back again is the source."""
    path = tmp_path / "x.vmfb"
    report = fissile.compile(DYNAMIC_TILES, path, [f"--target={target}", "--guard=off"], check=False)
    assert report.output and {f.code for f in report.findings if f.severity.value == "repaired"} <= {
        "FIS105",
        "FIS108",
    }
    if target == "vulkan" and not any(runtime.name == "vulkan" for runtime in runtimes.present()):
        pytest.skip("no Vulkan device")
    x = np.arange(77, dtype=np.float32).reshape(7, 11)
    np.testing.assert_array_equal(run(path, [x, 4, 3], *(["vulkan"] if target == "vulkan" else []))[0], x)


GATHER = """
func.func @main(%x: {x}, %i: {i}) -> {y} {{
  %e = tensor.empty() : {y}
  %r = iree_linalg_ext.gather dimension_map = {order} ins(%x, %i : {x}, {i}) outs(%e : {y}) -> {y}
  return %r : {y}
}}
"""
PLACES = np.int32([[2, 0], [5, 3], [0, 1]])
GATHERS = {
    "rows": (
        GATHER.format(x=tensor([6, 4, 3]), i=tensor([3], "i32"), y=tensor([3, 4, 3]), order=[0]),
        PLACES[:, 0],
        lambda x, i: x[i],
    ),
    "pairs": (
        GATHER.format(x=tensor([6, 4, 3]), i=tensor([3, 2], "i32"), y=tensor([3, 3]), order=[0, 1]),
        PLACES,
        lambda x, i: x[i[:, 0], i[:, 1]],
    ),
    "turned": (
        GATHER.format(x=tensor([4, 6, 3]), i=tensor([3, 2], "i32"), y=tensor([3, 3]), order=[1, 0]),
        PLACES,
        lambda x, i: x[i[:, 1], i[:, 0]],
    ),
    "batches": (
        GATHER.format(x=tensor([6, 4, 3]), i=tensor([3, 2, 1], "i32"), y=tensor([3, 2, 4, 3]), order=[0]),
        PLACES[:, :, None],
        lambda x, i: x[i[:, :, 0]],
    ),
}


@pytest.mark.parametrize("name", GATHERS)
def test_gathers(tmp_path, name):
    text, indices, expected = GATHERS[name]
    path = tmp_path / "x.vmfb"
    x = np.arange(72, dtype=np.float32).reshape((4, 6, 3) if name == "turned" else (6, 4, 3))
    built_by_itself(text, path)
    np.testing.assert_array_equal(run(path, [x, indices])[0], expected(x, indices))


@pytest.mark.parametrize(
    ("text", "inputs", "expected"),
    (
        (pack((10, 7), [1, 0], [4, 8], [1, 0]), [(10, 7)], lambda x: numpy_pack(x, [1, 0], [4, 8], [1, 0])),
        (
            unpack((10, 7), [1, 0], [4, 8], [1, 0]),
            [(2, 2, 4, 8)],
            lambda y: numpy_unpack(y, (10, 7), [1, 0], [4, 8], [1, 0]),
        ),
        (GATHERS["pairs"][0], [(6, 4, 3)], lambda x: GATHERS["pairs"][2](x, PLACES)),
    ),
    ids=("pack", "unpack", "gather"),
)
def test_vulkan_builds_and_runs_what_stock_refuses(tmp_path, text, inputs, expected):
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    assert fissile.compile(source, path, list(VULKAN), repair="off", check=False).errors
    report = fissile.compile(source, path, list(VULKAN), check=False)
    assert report.output and [f.code for f in report.findings if f.severity.value == "repaired"] == ["FIS108"]
    if not any(runtime.name == "vulkan" for runtime in runtimes.present()):
        pytest.skip("no Vulkan device")
    given_ = [np.random.default_rng(1).standard_normal(shape).astype(np.float32) for shape in inputs]
    more = [PLACES] if "gather" in text else []
    np.testing.assert_array_equal(run(path, [*given_, *more], "vulkan")[0], expected(*given_))


REFLECTED = """
func.func @main(%x: tensor<2x64xf32>) -> tensor<2x80xf32> {
  %e = tensor.empty() : tensor<2x80xf32>
  %before = tensor.extract_slice %x[0, 1] [2, 8] [1, 1] : tensor<2x64xf32> to tensor<2x8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, -j + 7)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%before : tensor<2x8xf32>) outs(%before : tensor<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<2x8xf32>
  %behind = tensor.extract_slice %x[0, 55] [2, 8] [1, 1] : tensor<2x64xf32> to tensor<2x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, -j + 7)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%behind : tensor<2x8xf32>) outs(%behind : tensor<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<2x8xf32>
  %1 = tensor.insert_slice %a into %e[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x80xf32>
  %2 = tensor.insert_slice %b into %1[0, 72] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x80xf32>
  %3 = tensor.insert_slice %x into %2[0, 8] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<2x80xf32>
  return %3 : tensor<2x80xf32>
}
"""


@pytest.mark.parametrize(
    ("flags", "runtime"),
    [(CPU, "local-task"), (VULKAN, "vulkan"), (("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"), "")],
    ids=["llvm-cpu", "vulkan", "gfx942"],
)  # fmt: skip
def test_a_padding_that_reflects(tmp_path, flags, runtime):
    """As torch's reflection_pad1d enters; stock's tiles of an op that reads backwards are none that its verifier accepts."""
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text(REFLECTED)
    found = fissile.compile(source, output, list(flags), check=False).findings
    assert {f.severity.value for f in found} == {"repaired"}
    assert any("read each element" in h.title for f in found for h in f.helps) and all(f.stock for f in found)
    if runtime in {r.name for r in runtimes.present()}:
        x = np.arange(128, dtype=np.float32).reshape(2, 64)
        [got] = run(output, [x], runtime)
        np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (8, 8)), "reflect"))
