"""Scatters that add at places that differ: each thread has a place of its own, and fissile takes none for a race (FIS111)."""

import numpy as np
import pytest
from iree.compiler import ir

import fissile
from fissile.passes.analysis.kernel.sharing import unsynchronised
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import present
from fissile.target import find_target

needs_vulkan = pytest.mark.skipif(
    "vulkan" not in [r.name for r in present()], reason="no Vulkan device answers here"
)


@needs_vulkan
@pytest.mark.parametrize("size", ["64", "?"])
@pytest.mark.parametrize("columns", [(), (6,)], ids=str)
def test_a_scatter_adds_at_places_that_differ(tmp_path, size, columns):
    """Each thread reads and writes one place of its own, which is loaded: no race, and stock is right."""
    of = "".join(f"x{n}" for n in columns)
    x, v = f"tensor<{size}{of}xi32>", f"tensor<5{of}xi32>"
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(f"""
func.func @f(%x: {x}, %v: {v}, %p: tensor<5x1xi32>) -> {x} {{
  %y = arith.muli %x, %x : {x}
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %p : {v}, tensor<5x1xi32>) outs(%y : {x}) {{
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    iree_linalg_ext.yield %t : i32
  }} -> {x}
  return %r : {x}
}}
""")
    report = fissile.compile(source, output, flags_for(find_target("vulkan")), check=False)
    assert "FIS111" not in {f.code for f in report.findings} and report.output
    generator = np.random.default_rng(3)
    given, new = (generator.integers(-9, 10, (n, *columns)).astype(np.int32) for n in (64, 5))
    places = generator.permutation(64)[:5].astype(np.int32)
    expected = given * given
    expected[places] += new
    assert fissile.verify(
        source, output, inputs=[given, new, places[:, None]], expected=[expected], on="vulkan"
    ).agrees


@pytest.mark.parametrize(("place", "races"), [("%t", 0), ("%c0", 1)])
def test_the_place_is_the_thread_s_own_where_it_is_loaded_by_the_thread(place, races):
    """Loaded from one place, it is the same for all threads: each adds to what another one may have written."""
    with ir.Context():
        module = ir.Module.parse(f"""
func.func @f(%p: memref<64xi32>) attributes {{gpu.known_block_size = array<i32: 64, 1, 1>}} {{
  %c0 = arith.constant 0 : index
  %t = gpu.thread_id x
  %m = memref.alloc() : memref<64xi32, #gpu.address_space<workgroup>>
  %l = memref.load %p[{place}] : memref<64xi32>
  %i = arith.index_cast %l : i32 to index
  %v = memref.load %m[%i] : memref<64xi32, #gpu.address_space<workgroup>>
  %w = arith.addi %v, %l : i32
  memref.store %w, %m[%i] : memref<64xi32, #gpu.address_space<workgroup>>
  return
}}""")
        assert len(unsynchronised(module.operation, distributed=True)) == races
