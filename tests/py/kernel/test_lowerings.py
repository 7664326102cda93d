"""The dialect's ops through IREE to numbers on llvm-cpu: a group is one dispatch, a precondition is kept."""

import iree.runtime
import numpy as np
import pytest
from iree.compiler import ir

from fissile.dialect import GROUP_TERMINATOR, GroupOp, ops_of
from fissile.dialect import register as register_dialect
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
LOWER = "builtin.module(fissile-lower-requires,fissile-lower-storage,fissile-lower-groups,fissile-lower-boundaries)"

# Two matmuls of ? x 8 by 8 x 8. The three texts differ in what stands around and between them.
PROGRAM = """
func.func @f(%a: tensor<?x8xf32>, %b: tensor<8x8xf32>) -> tensor<?x8xf32> attributes {{fissile.budget = 65536 : i64}} {{
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x8xf32>
  {before}
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  {open}
  %m = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  {between}
  %r = linalg.matmul ins({m}, %b : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  {close}
  return {result} : tensor<?x8xf32>
}}
"""
PLAIN = {
    "before": "%e = tensor.empty(%n) : tensor<?x8xf32>", "open": "", "between": "", "close": "",
    "m": "%m", "result": "%r",
}  # fmt: skip
GROUPED = PLAIN | {
    "open": '%g = "fissile.group"() ({',
    "close": "flow.return %r : tensor<?x8xf32> }) : () -> tensor<?x8xf32>",
    "result": "%g",
}
EVERYTHING_ELSE = PLAIN | {
    "before": """
  %c16 = arith.constant 16 : index
  %bytes = arith.constant 512 : index
  %ok = arith.cmpi ule, %n, %c16 : index
  "fissile.require"(%ok) {message = "f: at most 16 rows"} : (i1) -> ()
  %s = "fissile.alloc_storage"(%bytes) : (index) -> !fissile.storage
  %e = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?x8xf32>""",
    "between": '%cut = "fissile.boundary"(%m) : (tensor<?x8xf32>) -> tensor<?x8xf32>',
    "close": '"fissile.kill"(%s) : (!fissile.storage) -> ()',
    "m": "%cut",
}


@pytest.fixture(scope="module")
def session():
    made = Session(LLVM_CPU)
    register_dialect(made.context)
    return made


def lowered(session, parts, at):
    """The program with its fissile ops lowered at phase ``at``, and how many dispatches IREE forms of it."""
    module = session.parse_text(PROGRAM.format(**parts), "f.mlir")
    session.run(module, to=at)
    run_pipeline(LOWER, module.op, report=pytest.fail, verify_contracts=True)
    session.run(module, to="flow")
    return module, len(ops_of(module.op, "flow.dispatch"))


def runs(session, module, tmp_path):
    session.run(module, to="end")
    session.write(module, tmp_path / "f.vmfb")
    loaded = iree.runtime.load_vm_flatbuffer_file(str(tmp_path / "f.vmfb"), driver="local-sync")

    def call(rows):
        generator = np.random.default_rng(rows)
        a, b = (generator.standard_normal((n, 8)).astype(np.float32) for n in (rows, 8))
        np.testing.assert_allclose(loaded.f(a, b).to_host(), a @ b @ b, rtol=1e-4, atol=1e-5)

    return call


def test_without_a_group_iree_makes_two_dispatches(session):
    assert lowered(session, PLAIN, "start")[1] == 2


def test_a_group_is_one_dispatch_with_the_same_numbers(session, tmp_path):
    module, dispatches = lowered(session, GROUPED, "start")
    assert dispatches == 1
    call = runs(session, module, tmp_path)
    call(5)
    call(1)


def test_a_group_made_after_global_optimisation_is_one_dispatch(session, tmp_path):
    module = session.parse_text(PROGRAM.format(**PLAIN), "f.mlir")
    session.run(module, to="global-optimization")
    first, second = ops_of(module.op, "linalg.matmul")
    with ir.InsertionPoint(second), second.location:
        group = GroupOp([second.results[0].type])
        with ir.InsertionPoint(group.body):
            end = ir.Operation.create(GROUP_TERMINATOR, operands=[second.results[0]])
    second.results[0].replace_all_uses_except(group.results[0], end)
    for matmul in (first, second):
        matmul.move_before(end)
    run_pipeline(LOWER, module.op, report=pytest.fail, verify_contracts=True)
    session.run(module, to="flow")
    assert len(ops_of(module.op, "flow.dispatch")) == 1
    runs(session, module, tmp_path)(5)


@pytest.mark.parametrize("at", ["start", "global-optimization"])
def test_all_other_ops_lower_at_the_start_and_after_global_optimisation(session, tmp_path, at):
    module, dispatches = lowered(session, EVERYTHING_ELSE, at)
    assert dispatches == 2
    call = runs(session, module, tmp_path)
    call(16)
    with pytest.raises(RuntimeError, match="FAILED_PRECONDITION; f: at most 16 rows"):
        call(17)
