"""Sorts by rank: equal to a stable sort on every runtime, where stock's loop is too long for lavapipe."""

import numpy as np
import pytest
from built import build, run

import fissile
from fissile.effect import Effect
from fissile.passes.definition import PassFailed
from fissile.pipelines.numerics import runtimes

VULKAN = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)


def sort(shape, along: int, predicate: str, dynamic: bool = False) -> str:
    """The values sorted, and where each came from."""
    sizes = "x".join("?" if dynamic and d == along else str(n) for d, n in enumerate(shape))
    values, places, rank = f"tensor<{sizes}xf32>", f"tensor<{sizes}xi32>", len(shape)
    loops, kinds = ", ".join(f"d{d}" for d in range(rank)), ", ".join(['"parallel"'] * rank)
    size = f"%at = arith.constant {along} : index\n  %n = tensor.dim %x, %at : {values}" if dynamic else ""
    return f"""
func.func @main(%x: {values}) -> ({values}, {places}) {{
  {size}
  %e = tensor.empty({"%n" if dynamic else ""}) : {places}
  %i = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>], iterator_types = [{kinds}]}} outs(%e : {places}) {{
  ^bb0(%o: i32):
    %d = linalg.index {along} : index
    %c = arith.index_cast %d : index to i32
    linalg.yield %c : i32
  }} -> {places}
  %s:2 = iree_linalg_ext.sort dimension({along}) outs(%x, %i : {values}, {places}) {{
  ^bb0(%a: f32, %b: f32, %p: i32, %q: i32):
    %k = arith.cmpf {predicate}, %a, %b : f32
    iree_linalg_ext.yield %k : i1
  }} -> {values}, {places}
  return %s#0, %s#1 : {values}, {places}
}}"""


def drawn(shape) -> np.ndarray:
    """Values with many ties."""
    return (np.round(np.random.default_rng(0).standard_normal(shape) * 4) / 4).astype(np.float32)


def sorted_by_numpy(x, along: int, falling: bool):
    order = np.argsort(-x if falling else x, axis=along, kind="stable")
    return np.take_along_axis(x, order, along), order


@pytest.mark.parametrize(
    ("shape", "along", "predicate"),
    [((40,), 0, "oge"), ((3, 17, 2), 1, "ole"), ((2, 30), 1, "olt"), ((5, 1), 1, "ogt")],
)
def test_equals_a_stable_sort(tmp_path, shape, along, predicate):
    changed = build(
        sort(shape, along, predicate), tmp_path / "x.vmfb", "fissile-rank-sorts,fissile-lower-boundaries"
    )
    assert "iree_linalg_ext.sort" not in changed
    x = drawn(shape)
    for found, wanted in zip(
        run(tmp_path / "x.vmfb", [x]), sorted_by_numpy(x, along, "g" in predicate), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_the_order_of_ties_is_stocks(tmp_path):
    """Of a comparator that holds of equal elements, as the one of torch.topk."""
    build(sort((2, 50), 1, "oge"), tmp_path / "stock.vmfb", "canonicalize")
    build(sort((2, 50), 1, "oge"), tmp_path / "ranked.vmfb", "fissile-rank-sorts,fissile-lower-boundaries")
    x = drawn((2, 50))
    for ours, theirs in zip(
        run(tmp_path / "ranked.vmfb", [x]), run(tmp_path / "stock.vmfb", [x]), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_rows_of_dynamic_size_are_refused(tmp_path):
    with pytest.raises(PassFailed, match="dynamic size"):
        build(sort((2, 50), 1, "oge", dynamic=True), tmp_path / "x.vmfb", "fissile-rank-sorts")


@NO_VULKAN
def test_a_sort_too_long_for_the_device_is_repaired_and_right(tmp_path):
    """257 elements: 66049 steps of one thread."""
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(sort((2, 257), 1, "oge"))
    [done] = fissile.compile(source, output, VULKAN, check=False).findings
    assert (done.code, done.severity.value, done.effect) == ("FIS125", "repaired", Effect.MAY_BE_WRONG)
    assert "fissile-rank-sorts" in str(done.helps)
    x = drawn((2, 257))
    for found, wanted in zip(run(output, [x], "vulkan"), sorted_by_numpy(x, 1, True), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_short_sort_is_left_as_it_is(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(sort((2, 64), 1, "oge"))
    assert "FIS125" not in [
        f.code for f in fissile.compile(source, tmp_path / "x.vmfb", VULKAN, check=False).findings
    ]


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "rdna3"])
@pytest.mark.parametrize(("n", "stalls"), [(12000, True), (2000, False)])
def test_on_real_gpus_a_sort_that_stalls_is_repaired(tmp_path, target, n, stalls):
    """1.0e9 iterations of one thread did not end within 60 s on an H100; what is only slow is left as it is."""
    source = tmp_path / "x.mlir"
    source.write_text(sort((2, n), 1, "olt"))
    how = ["--iree-hal-target-device=vulkan", f"--iree-vulkan-target={target}"] if target == "rdna3" else []
    named = {} if how else {"target": target}
    findings = fissile.compile(source, tmp_path / "x.vmfb", how, check=False, **named).findings
    repaired = [(one.code, one.effect) for one in findings if one.severity.value == "repaired"]
    assert repaired == ([("FIS125", Effect.STALLS)] if stalls else [])
