"""A decomposed softmax computes the same numbers, as dispatches of its own."""

import iree.runtime
import numpy as np
import pytest

from fissile.dialect import ops_of
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
SOFTMAX = """
func.func @f(%x: tensor<?x7x3xf32>) -> tensor<?x7x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x7x3xf32>
  %e = tensor.empty(%n) : tensor<?x7x3xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x7x3xf32>) outs(%e : tensor<?x7x3xf32>) -> tensor<?x7x3xf32>
  return %r : tensor<?x7x3xf32>
}
"""


def test_the_same_numbers_in_four_dispatches(tmp_path):
    session = Session(LLVM_CPU)
    module = session.parse_text(SOFTMAX)
    session.run(module, "global-optimization")
    run_pipeline(
        "builtin.module(fissile-decompose-softmax,fissile-lower-boundaries)",
        module.op,
        report=pytest.fail,
        verify_contracts=True,
    )
    session.run(module, "flow")
    assert len(ops_of(module.op, "flow.dispatch")) == 4
    session.run(module, "end")
    session.write(module, tmp_path / "f.vmfb")
    loaded = iree.runtime.load_vm_flatbuffer_file(str(tmp_path / "f.vmfb"), driver="local-sync")
    x = np.random.default_rng(0).standard_normal((5, 7, 3)).astype(np.float32)
    x[2, 3, 1] = 80
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        loaded.f(x).to_host(), expected, rtol=1e-5
    )  # near -80 one f32 step of the exponent is 8e-6
