"""What is no program of tensors is refused as stock refuses it, with what it is and how it is used; a program that stock compiles has no such note."""

import subprocess
import sys
from pathlib import Path

import pytest
from planted_faults import compile_here, functions, planted, stocks_bytes

import fissile
from fissile.cli.main import main

GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
ALONE = """
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source public @alone {
  hal.executable.export public @ones ordinal(0) layout(#layout) count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @ones() {
      %one = arith.constant 1.0 : f32
      %n = hal.interface.constant.load layout(#layout) ordinal(0) : index
      %y = hal.interface.binding.subspan layout(#layout) binding(0)
          : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<8xf32>>
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      iree_tensor_ext.dispatch.tensor.store %f, %y, offsets = [0], sizes = [%n], strides = [1]
          : tensor<?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<8xf32>>
      return
    }
  }
}
"""
REFUSED = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "no.such"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_the_mode_that_compiles_it_is_named_and_does(tmp_path):
    source, output = tmp_path / "alone.mlir", tmp_path / "alone.vmfb"
    source.write_text(ALONE)
    report = fissile.compile(source, output, GFX942, check=False)
    [error] = report.errors
    assert error.code == "FIS104" and any("--compile-mode=hal-executable" in note for note in error.notes)
    assert main(["compile", *GFX942, "--compile-mode=hal-executable", str(source), "-o", str(output)]) == 0
    assert output.stat().st_size > 0


def test_another_refused_program_has_no_such_note(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(REFUSED)
    report = fissile.compile(source, tmp_path / "x.vmfb", GFX942, check=False)
    assert report.errors and not any("--compile-mode" in note for f in report.errors for note in f.notes)


SPEC = """
module attributes { transform.with_named_sequence } {
  transform.named_sequence @__kernel_config(%m: !transform.any_op {transform.consumed}) -> !transform.any_op attributes { iree_codegen.tuning_spec_entrypoint } {
    transform.yield %m : !transform.any_op
  }
}
"""
TRANSFORMED = """
module attributes { transform.with_named_sequence } {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.absf %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
"""
DEVICE_CODE = """
gpu.module @k {
  gpu.func @f(%a: memref<4xf32>) kernel {
    gpu.return
  }
}
"""
EXECUTABLE = """
#layout = #hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>]>
#target = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
hal.executable private @exe {
  hal.executable.variant public @v target(#target) {
    hal.executable.export public @go ordinal(0) layout(#layout) count(%d: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func @go() {
        return
      }
    }
  }
}
"""
OTHERS = {
    "spec": (SPEC, "is a tuning spec: give it beside a program, with --iree-codegen-tuning-spec-path"),
    "transformed": (TRANSFORMED, "with --iree-codegen-transform-dialect-library"),
    "device": (DEVICE_CODE, "holds gpu.module outside of its functions"),
    "executable": (EXECUTABLE, "holds executables and no function that dispatches them"),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("command", ["audit", "check", "compile"])
def test_what_is_no_program_of_tensors_is_refused_as_by_stock_with_what_it_is(
    tmp_path, capsys, command, kind
):
    text, words = OTHERS[kind]
    source = tmp_path / "x.mlir"
    source.write_text(text)
    output = ["-o", str(tmp_path / "x.vmfb")] if command == "compile" else []
    status = main([command, "--target=llvm-cpu", str(source), *output])
    shown = capsys.readouterr()
    if (command, kind) == ("check", "executable"):
        assert status == 2 and "already contains executables" in shown.err
    else:
        assert status == 1 and words in " ".join((shown.out + shown.err).split())


def test_a_program_that_stock_compiles_is_not_refused_for_what_stands_beside_it(tmp_path):
    host = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n"
    sequence = (
        "transform.sequence failures(propagate) {\n^bb0(%m: !transform.any_op):\n  transform.yield\n}\n"
    )
    source = tmp_path / "x.mlir"
    source.write_text(EXECUTABLE + host + sequence)
    for command, output in (("audit", []), ("compile", ["-o", str(tmp_path / "x.vmfb")])):
        assert main([command, "--target=llvm-cpu", str(source), *output]) == 0


UNDEFINED = """
func.func private @named(tensor<4xf32>) -> tensor<4xf32>
func.func private @uncalled(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @named(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_a_function_without_a_body_is_told_how_iree_finds_one(tmp_path, capsys):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(UNDEFINED)
    assert main(["compile", "--target=llvm-cpu", str(source), "-o", str(output)]) == 1
    printed = " ".join("".join(capsys.readouterr()).split())
    assert "@named has no body" in printed and "@module.function" in printed and "@uncalled" not in printed
    source.write_text(UNDEFINED.replace("@named", "@other.named"))
    assert main(["compile", "--target=llvm-cpu", str(source), "-o", str(output)]) == 0


BUFFERS = """
func.func @first(%a: memref<16xf32>, %i: index) -> f32 {
  %v = memref.load %a[%i] : memref<16xf32>
  return %v : f32
}
"""
LOCAL_BUFFER = """
func.func private @outside(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = memref.alloc() : memref<4xf32>
  %0 = "no.such"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("command", ["compile", "check", "audit"])
@pytest.mark.parametrize(
    ("program", "noted"), [(BUFFERS, True), (LOCAL_BUFFER, False)], ids=["argument", "local"]
)
def test_functions_on_buffers_are_told_what_iree_takes(tmp_path, capsys, command, program, noted):
    source = tmp_path / "in.mlir"
    source.write_text(program)
    more = ["-o", str(tmp_path / "out.vmfb")] if command == "compile" else []
    assert main([command, str(source), "--target=llvm-cpu", *more]) == 1
    printed = "".join(capsys.readouterr())
    assert ("@first takes memory that the caller owns (memref)" in printed) == noted
    assert ("Write arguments and results as tensors" in printed) == noted


CUSTOM_TYPE = """
module @example {
  func.func private @custom.string.create(!util.buffer) -> !custom.string
  func.func private @custom.string.length(!custom.string) -> index attributes {vm.signature = (!vm.ref<!custom.string>) -> i64}
  func.func @main() -> index {
    %text = util.buffer.constant : !util.buffer = "hello"
    %made = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    %length = call @custom.string.length(%made) : (!custom.string) -> index
    return %length : index
  }
}
"""


def test_a_type_of_a_runtime_module_is_no_unknown_op(tmp_path):
    """IREE passes on what it does not know about a type, and a module of the user's runtime defines it."""
    source, stock = tmp_path / "in.mlir", tmp_path / "stock.vmfb"
    source.write_text(CUSTOM_TYPE)
    iree = str(Path(sys.executable).with_name("iree-compile"))
    subprocess.run([iree, *GFX942, str(source), "-o", str(stock)], check=True, timeout=300)
    report = fissile.compile(source, tmp_path / "out.vmfb", GFX942)
    assert not report.findings and (tmp_path / "out.vmfb").read_bytes() == stock.read_bytes()
    source.write_text(CUSTOM_TYPE.replace("return %length", '"custom.end"() : () -> ()\n    return %length'))
    report = fissile.compile(source, tmp_path / "end.vmfb", GFX942, check=False)
    assert [f.code for f in report.errors] == ["FIS406"] and not (tmp_path / "end.vmfb").exists()
    assert "crashes on it in a later phase" in report.errors[0].stock


def test_a_type_of_a_runtime_module_comes_out_where_fissile_fails(tmp_path, monkeypatch):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(CUSTOM_TYPE)
    with planted(functions()["pipelines.compile.guarded_compile.GuardedCompile.run"]):
        report = compile_here(monkeypatch, [*GFX942, str(source), "-o", str(output)])
    assert [f.code for f in report.findings] == ["FIS903"] and report.exit_code == 0
    assert output.read_bytes() == stocks_bytes([*GFX942, str(source), "-o", str(tmp_path / "stock.vmfb")])
