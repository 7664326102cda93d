"""16-bit sums in f32: what code generation refuses is built, and the numbers are closer to the exact ones."""

import iree.runtime
import numpy as np
import pytest

from fissile.dialect import ops_of
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import PhaseFailed, Session

LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
GFX942 = ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")
MATMUL = """
func.func @f(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %z = arith.constant 0.0 : {t}
  %e = tensor.empty() : tensor<{m}x{n}x{t}>
  %f = linalg.fill ins(%z : {t}) outs(%e : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) outs(%f : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %r : tensor<{m}x{n}x{t}>
}}
"""


def optimised(flags, text):
    session = Session(flags)
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    return session, module


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_gfx942_refuses_the_16_bit_sum_and_takes_the_wide_one(kind):
    text = MATMUL.format(m=128, n=128, k=256, t=kind)
    session, module = optimised(GFX942, text)
    with pytest.raises(PhaseFailed, match="failed to distribute"):
        session.run(module, "executable-targets")
    session, module = optimised(GFX942, text)
    run_pipeline("builtin.module(fissile-widen-accumulators)", module.op, report=pytest.fail)
    session.run(module, "executable-targets")


def test_the_wide_sum_is_the_exact_one_rounded(tmp_path):
    session, module = optimised(LLVM_CPU, MATMUL.format(m=8, n=4, k=512, t="f16"))
    run_pipeline("builtin.module(fissile-widen-accumulators)", module.op, report=pytest.fail)
    session.run(module, "end")
    session.write(module, tmp_path / "f.vmfb")
    loaded = iree.runtime.load_vm_flatbuffer_file(str(tmp_path / "f.vmfb"), driver="local-sync")
    generator = np.random.default_rng(0)
    # Multiples of 1/16 below 4: products and their sums are exact in f32, and not in f16.
    a, b = ((generator.integers(0, 64, shape) / 16).astype(np.float16) for shape in ((8, 512), (512, 4)))
    exact = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    in_16_bits = np.zeros((8, 4), np.float16)
    for k in range(512):
        in_16_bits += a[:, k : k + 1] * b[k]
    np.testing.assert_array_equal(loaded.f(a, b).to_host(), exact)
    assert (in_16_bits != exact).any()


def test_a_sum_in_f32_is_left_alone():
    session, module = optimised(LLVM_CPU, MATMUL.format(m=8, n=4, k=16, t="f32"))
    before = module.text()
    run_pipeline("builtin.module(fissile-widen-accumulators)", module.op, report=pytest.fail)
    assert module.text() == before and not ops_of(module.op, "arith.truncf")
