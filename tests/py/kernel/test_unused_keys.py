"""A sort of which the program reads the values alone, as a permutation: the compiler crashes over the keys on Vulkan, and rejects keys of an
unknown number everywhere."""

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes

VULKAN = ["--iree-hal-target-device=vulkan"]
SORT = """
func.func @main(%keys: tensor<{n}xi32>, %x: tensor<{n}xi32>) -> tensor<{n}xi32> {{
  %r:2 = iree_linalg_ext.sort dimension(0) outs(%keys, %x : tensor<{n}xi32>, tensor<{n}xi32>) {{
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %less = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %less : i1
  }} -> tensor<{n}xi32>, tensor<{n}xi32>
  return %r#1 : tensor<{n}xi32>
}}
"""


@pytest.mark.parametrize(("n", "found"), [(17, [("FIS107", "repaired")]), (16, [])])
def test_values_are_sorted_by_keys_that_nothing_reads(tmp_path, n, found):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(SORT.format(n=n))
    report = fissile.compile(source, output, VULKAN)
    assert [(f.code, f.severity.value) for f in report.findings] == found
    if "vulkan" not in {runtime.name for runtime in runtimes.present()}:
        pytest.skip("no Vulkan device answers here")
    keys = np.random.default_rng(0).permutation(n).astype(np.int32)
    [values] = run(output, [keys, np.arange(n, dtype=np.int32)], "vulkan")
    np.testing.assert_array_equal(values, np.argsort(keys))


@pytest.mark.parametrize("runtime", [one.name for one in runtimes.present() if one.name != "cuda"])
def test_keys_of_an_unknown_number(tmp_path, runtime):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(SORT.format(n="?"))
    flags = CPU if runtime == "local-task" else VULKAN
    report = fissile.compile(source, output, [*flags, "--guard=off"])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS105", "repaired")]
    for n in (1, 9, 30):
        keys = np.random.default_rng(n).permutation(n).astype(np.int32)
        [values] = run(output, [keys, np.arange(n, dtype=np.int32)], runtime)
        np.testing.assert_array_equal(values, np.argsort(keys))
