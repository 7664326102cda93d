"""`--save-temps`: what a model is imported as, and the IR from before the phase in which IREE fails."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from contract_shell import ADD, LLVM_CPU, PASS, holds, shell
from small_programs import TARGETS, quantised_conv

GFX942 = shlex.join(TARGETS["gfx942"])
REFUSED = "before-executable-targets.mlir"
CRASHES = """
func.func @f(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %v, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %s = arith.constant 0.5 : f32
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]>
      ins(%q, %k, %v, %s : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>, f32) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


def kept(folder: Path) -> list[str]:
    temps = folder / "temps"
    return sorted(file.name for file in temps.iterdir()) if temps.exists() else []


@pytest.mark.parametrize(
    "source, words, status", [("in.mlir", "", 0), ("- < in.mlir", "", 0), ("in.mlir", "--repair=off", 1)]
)
def test_stock_iree_fails_on_what_is_kept_as_on_the_program(source, words, status, folder):
    (folder / "in.mlir").write_text(quantised_conv(requantise=True))
    ended = shell(f"fissile compile {GFX942} {words} --save-temps=temps -o out {source}", folder)
    holds(ended, status, f"the IR from before phase executable-targets: temps/{REFUSED}")
    assert kept(folder) == [REFUSED] and (folder / "out").exists() is (status == 0)
    again = shell(
        f"iree-compile {GFX942} --compile-from=executable-configurations temps/{REFUSED} -o again", folder
    )
    assert again.returncode == 1 and "bytes of shared memory; exceeded" in again.stderr


def test_the_ir_from_before_a_crash_is_kept(folder):
    (folder / "in.mlir").write_text(CRASHES)
    words = f"{GFX942} --repair=off -o out --save-temps=temps"
    ended = shell(f"fissile compile in.mlir {words}", folder)
    holds(ended, 1, "error[FIS107]", "the IR from before phase ")
    [name] = kept(folder)
    assert name.startswith("before-") and "hal.executable" in (folder / "temps" / name).read_text()


def test_a_program_that_iree_compiles_leaves_nothing(folder):
    holds(shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --save-temps=temps", folder), 0)
    assert kept(folder) == []


def test_a_pass_of_the_users_that_fails_is_no_phase_that_does(folder):
    act = "from fissile.finding import Finding; from fissile.passes.definition import PassFailed; raise PassFailed([Finding('FIS101', 'no')])"
    (folder / "mine.py").write_text(PASS.format(act=act, top=""))
    passes = "--load-passes=mine.py '--pipeline-after=input:builtin.module(mine-p)'"
    ended = shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --save-temps=temps {passes}", folder)
    holds(ended, 1, "error[FIS101] no")
    assert kept(folder) == []


def test_what_a_model_is_imported_as_is_kept(folder):
    onnx = pytest.importorskip("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("NonesuchOp", ["x"], ["y"], domain="com.example")],
        "g",
        [helper.make_tensor_value_info("x", floats, [4])],
        [helper.make_tensor_value_info("y", floats, [4])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), str(folder / "m.onnx"))
    words = f"{' '.join(LLVM_CPU)} -o out --save-temps=temps"
    ended = shell(f"fissile compile m.onnx {words}", folder)
    assert ended.returncode == 1, ended.stderr
    assert "imported.mlirbc" in kept(folder), ended.stderr
    assert "what the model was imported as: temps/imported.mlirbc" in ended.stderr
    shown = shell("fissile-opt temps/imported.mlirbc", folder)
    assert "NonesuchOp" in shown.stdout, shown.stderr


@pytest.mark.parametrize("named", ["in.mlir", "in.mlir/below"])
def test_a_folder_that_cannot_be_one_is_refused_before_anything_is_done(named, folder):
    ended = shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --save-temps={named}", folder)
    holds(ended, 2, f"cannot write --save-temps={named}: in.mlir is no folder", "name a folder")
    assert not (folder / "out").exists()


def test_python_keeps_it_too(tmp_path):
    import fissile

    with pytest.raises(fissile.CompileError) as refused:
        fissile.compile(
            quantised_conv(requantise=True),
            target="gfx942",
            repair="off",
            flags=[f"--save-temps={tmp_path / 'temps'}"],
        )
    assert kept(tmp_path) == [REFUSED]
    assert str(tmp_path / "temps" / REFUSED) in str(refused.value.report)
