"""A folded producer's consumers compute the same numbers: values and sums are exact in f32, so equality is required."""

import iree.runtime
import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from iree.compiler import ir

from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.remedies.fusion.fold_producers import fold_producers
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


@pytest.fixture(scope="module")
def session():
    return Session(LLVM_CPU)


def folded(session, text, path, ops):
    """The program with the source ops ``ops`` folded, as a callable."""
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    count = len(source_ops(module.op))
    run_pipeline(f"builtin.module(fissile-fold-producers{{ops={ops}}})", module.op, report=pytest.fail)
    assert len(source_ops(module.op)) < count
    session.run(module, "end")
    session.write(module, path)
    return iree.runtime.load_vm_flatbuffer_file(str(path), driver="local-sync")


def dims(count, order=None):
    return f"affine_map<({', '.join(f'd{i}' for i in range(count))}) -> ({', '.join(f'd{i}' for i in order or range(count))})>"


def program(shape, order, reduced):
    """An i8 input in ``order``, scaled along its last loop, summed over the loops ``reduced``."""
    rank = len(shape)
    read = [shape[i] for i in order]
    kept = [i for i in range(rank) if i not in reduced]
    spell = lambda sizes, kind: f"tensor<{''.join(f'{s}x' for s in sizes)}{kind}>"  # noqa: E731
    source, scale, middle = spell(read, "i8"), spell([shape[-1]], "f32"), spell(shape, "f32")
    result = spell([shape[i] for i in kept], "f32")
    kinds = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(rank))
    return f"""
func.func @f(%x: {source}, %s: {scale}) -> {result} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {middle}
  %p = linalg.generic {{indexing_maps = [{dims(rank, order)}, {dims(rank, [rank - 1])}, {dims(rank)}],
                       iterator_types = [{", ".join(['"parallel"'] * rank)}]}}
      ins(%x, %s : {source}, {scale}) outs(%e : {middle}) {{
  ^bb0(%i: i8, %k: f32, %o: f32):
    %f = arith.sitofp %i : i8 to f32
    %m = arith.mulf %f, %k : f32
    linalg.yield %m : f32
  }} -> {middle}
  %re = tensor.empty() : {result}
  %rf = linalg.fill ins(%z : f32) outs(%re : {result}) -> {result}
  %r = linalg.generic {{indexing_maps = [{dims(rank)}, {dims(rank, kept)}], iterator_types = [{kinds}]}}
      ins(%p : {middle}) outs(%rf : {result}) {{
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %i, %o : f32
    linalg.yield %t : f32
  }} -> {result}
  return %r : {result}
}}
"""


@st.composite
def reductions(draw):
    shape = draw(st.lists(st.integers(2, 9), min_size=2, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    reduced = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=len(shape) - 1))
    return shape, order, reduced


@settings(max_examples=examples(3, 6))
@given(reductions())
def test_permuted_and_broadcast_producers(session, tmp_path_factory, case):
    shape, order, reduced = case
    path = tmp_path_factory.mktemp("fold") / "f.vmfb"
    module = folded(session, program(shape, order, reduced), path, ops=0)
    generator = np.random.default_rng(0)
    x = generator.integers(-128, 128, [shape[i] for i in order]).astype(np.int8)
    s = generator.choice([0.25, 0.5, 2.0], shape[-1]).astype(np.float32)
    expected = (x.transpose(np.argsort(order)).astype(np.float32) * s).sum(axis=tuple(sorted(reduced)))
    np.testing.assert_array_equal(module.f(x, s).to_host(), expected)


CONVOLUTION = """
func.func @f(%x: tensor<1x3x9x8xi8>, %w: tensor<2x3x3x3xi8>) -> tensor<1x2x3x4xf32> {
  %z = arith.constant 0.0 : f32
  %xe = tensor.empty() : tensor<1x3x8x9xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, d, c)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x9x8xi8>) outs(%xe : tensor<1x3x8x9xf32>) {
  ^bb0(%i: i8, %o: f32):
    %f = arith.sitofp %i : i8 to f32
    linalg.yield %f : f32
  } -> tensor<1x3x8x9xf32>
  %we = tensor.empty() : tensor<2x3x3x3xf32>
  %wd = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w : tensor<2x3x3x3xi8>) outs(%we : tensor<2x3x3x3xf32>) {
  ^bb0(%i: i8, %o: f32):
    %f = arith.sitofp %i : i8 to f32
    linalg.yield %f : f32
  } -> tensor<2x3x3x3xf32>
  %e = tensor.empty() : tensor<1x2x3x4xf32>
  %a = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>}
      ins(%xd, %wd : tensor<1x3x8x9xf32>, tensor<2x3x3x3xf32>) outs(%a : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}
"""


def test_both_operands_of_a_strided_convolution(session, tmp_path):
    module = folded(session, CONVOLUTION, tmp_path / "f.vmfb", ops="0,1")
    generator = np.random.default_rng(0)
    x, w = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ([1, 3, 9, 8], [2, 3, 3, 3]))
    turned = x.transpose(0, 1, 3, 2).astype(np.int64)
    expected = np.zeros([1, 2, 3, 4])
    for i in range(3):
        for j in range(4):
            window = turned[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
            expected[:, :, i, j] = np.einsum("nchw,fchw->nf", window, w.astype(np.int64))
    np.testing.assert_array_equal(module.f(x, w).to_host(), expected)


def test_a_producer_keeps_the_users_that_cannot_take_it():
    text = """
    func.func @f(%x: tensor<4xi8>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
          ins(%x : tensor<4xi8>) outs(%e : tensor<4xf32>) {
      ^bb0(%i: i8, %o: f32):
        %f = arith.sitofp %i : i8 to f32
        linalg.yield %f : f32
      } -> tensor<4xf32>
      %q = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
                           iterator_types = ["parallel"]}
          ins(%p, %p : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) {
      ^bb0(%i: f32, %j: f32, %o: f32):
        %s = arith.addf %i, %j : f32
        %t = arith.addf %s, %o : f32
        linalg.yield %t : f32
      } -> tensor<4xf32>
      return %q, %p : tensor<4xf32>, tensor<4xf32>
    }
    """
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        [outcome] = fold_producers(source_ops(module.operation)[:1])
        assert outcome.operands == 2
        assert set(outcome.kept_for) == {
            "linalg.generic: it updates the tensor in place",
            "func.return: it has no body to fold into",
        }
        assert module.operation.verify() and len(source_ops(module.operation)) == 2
