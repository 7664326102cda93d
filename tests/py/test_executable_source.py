"""A dispatch written by hand: refused as a program, with the mode that compiles it in a note; a host program has no such note."""

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
