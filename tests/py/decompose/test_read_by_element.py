"""Ops that read by element: the same numbers on llvm-cpu; and what default Vulkan refuses otherwise, run on lavapipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import iree.runtime
import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run_program
from small_programs import TARGETS

from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.remedies.decompose.read_by_element import ReadByElement
from fissile.pipelines.numerics.runtimes import present
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

BIN = Path(sys.executable).parent

WINDOW = """
func.func @f(%x: tensor<{n}x{width}x{c}xi8>, %w: tensor<{k}x{c}x{f}xi8>) -> tensor<{n}x{out}x{f}xi32> {{
  %z = arith.constant 7 : i32
  %e = tensor.empty() : tensor<{n}x{out}x{f}xi32>
  %acc = linalg.fill ins(%z : i32) outs(%e : tensor<{n}x{out}x{f}xi32>) -> tensor<{n}x{out}x{f}xi32>
  %r = linalg.conv_1d_nwc_wcf {{dilations = dense<{dilation}> : vector<1xi64>, strides = dense<{stride}> : vector<1xi64>}}
      ins(%x, %w : tensor<{n}x{width}x{c}xi8>, tensor<{k}x{c}x{f}xi8>) outs(%acc : tensor<{n}x{out}x{f}xi32>) -> tensor<{n}x{out}x{f}xi32>
  return %r : tensor<{n}x{out}x{f}xi32>
}}
"""

WIDE_INTEGERS = """
func.func @main(%a: tensor<64x100xi64>, %b: tensor<100x64xi64>) -> (tensor<64x100xi64>, tensor<64x64xi64>, tensor<64xi64>) {
  %z = arith.constant 0 : i64
  %e = tensor.empty() : tensor<64x100xi64>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x100xi64>) outs(%e : tensor<64x100xi64>) {
  ^bb0(%x: i64, %o: i64):
    %r = arith.muli %x, %x : i64
    linalg.yield %r : i64
  } -> tensor<64x100xi64>
  %me = tensor.empty() : tensor<64x64xi64>
  %macc = linalg.fill ins(%z : i64) outs(%me : tensor<64x64xi64>) -> tensor<64x64xi64>
  %m = linalg.matmul ins(%a, %b : tensor<64x100xi64>, tensor<100x64xi64>) outs(%macc : tensor<64x64xi64>) -> tensor<64x64xi64>
  %te = tensor.empty() : tensor<64xi64>
  %tacc = linalg.fill ins(%z : i64) outs(%te : tensor<64xi64>) -> tensor<64xi64>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
                       iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x100xi64>) outs(%tacc : tensor<64xi64>) {
  ^bb0(%x: i64, %o: i64):
    %r = arith.addi %x, %o : i64
    linalg.yield %r : i64
  } -> tensor<64xi64>
  return %s, %m, %t : tensor<64x100xi64>, tensor<64x64xi64>, tensor<64xi64>
}
"""


@pytest.fixture(scope="module")
def session():
    return Session(TARGETS["llvm-cpu"])


@settings(max_examples=examples(4, 10), deadline=None)
@given(
    n=st.integers(1, 2),
    c=st.integers(2, 5),
    f=st.integers(2, 6),
    k=st.integers(1, 3),
    out=st.integers(1, 9),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 2),
)
def test_a_window_reads_the_same_elements(session, tmp_path_factory, n, c, f, k, out, stride, dilation):
    width = (out - 1) * stride + (k - 1) * dilation + 1
    text = WINDOW.format(n=n, c=c, f=f, k=k, out=out, stride=stride, dilation=dilation, width=width)
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    able = [i for i, op in enumerate(source_ops(module.op)) if ReadByElement().match(op)]
    assert able
    names = ",".join(map(str, able))
    run_pipeline(f"builtin.module(fissile-read-by-element{{ops={names}}})", module.op, report=pytest.fail)
    assert "tensor.extract" in module.text()
    session.run(module, "end")
    path = tmp_path_factory.mktemp("element") / "out.vmfb"
    session.write(module, path)
    r = np.random.default_rng(0)
    x, w = r.integers(-128, 128, (n, width, c), np.int8), r.integers(-128, 128, (k, c, f), np.int8)
    loaded = iree.runtime.load_vm_flatbuffer_file(str(path), driver="local-sync")
    given_, expected = loaded.f(x, w).to_host(), np.full((n, out, f), 7, np.int64)
    for i in range(out):
        for j in range(k):
            expected[:, i] += x[:, i * stride + j * dilation].astype(np.int64) @ w[j].astype(np.int64)
    assert (given_ == expected).all()


@pytest.mark.skipif("vulkan" not in {r.name for r in present()}, reason="no Vulkan device answers here")
def test_64_bit_integers_that_default_vulkan_refuses_as_vectors_are_computed_one_by_one(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(WIDE_INTEGERS)
    stock = run_program(
        [BIN / "iree-compile", *TARGETS["vulkan"], source, "-o", "/dev/null"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "vector" in stock.stderr and stock.returncode
    done = run_program(
        [BIN / "fissile", "compile", *TARGETS["vulkan"], "--format=json", source, "-o", output],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    reported = {
        (f["code"], f["severity"], f["helps"][0]["remedy"]) for f in json.loads(done.stdout)["findings"]
    }
    assert reported == {("FIS104", "repaired", "fissile-read-by-element")} and done.returncode == 0
    r = np.random.default_rng(0)
    a, b = r.integers(-(2**40), 2**40, (64, 100)), r.integers(-(2**40), 2**40, (100, 64))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    outs = [tmp_path / f"{i}.npy" for i in range(3)]
    subprocess.run(
        [
            BIN / "iree-run-module",
            f"--module={output}",
            "--device=vulkan",
            "--function=main",
            f"--input=@{tmp_path}/a.npy",
            f"--input=@{tmp_path}/b.npy",
            *(f"--output=@{o}" for o in outs),
        ],
        check=True,
        timeout=300,
    )
    square, product, total = (np.load(o) for o in outs)
    with np.errstate(over="ignore"):
        assert (square == a * a).all() and (product == a @ b).all() and (total == a.sum(axis=1)).all()
