"""Programs of front ends up to phase abi: nothing is asserted of a lowering's own tables, and a refusal blames the op that is missing."""

import pytest

import fissile

CPU = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--compile-to=abi",
]
SPECTRUM = """
func.func @spectrum(%x: tensor<2x16xf32>) -> tensor<2x9xf32> {
  %s = "stablehlo.fft"(%x) {fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type RFFT>}
      : (tensor<2x16xf32>) -> tensor<2x9xcomplex<f32>>
  %i = stablehlo.imag %s : (tensor<2x9xcomplex<f32>>) -> tensor<2x9xf32>
  return %i : tensor<2x9xf32>
}
"""
WITHOUT_LOWERING = """
func.func @steps(%x: !torch.vtensor<[3,5],si64>) -> !torch.vtensor<[3,4],si64> {
  %n = torch.constant.int 1
  %none = torch.constant.none
  %d = torch.operator "torch.aten.no_such"(%x, %n, %n, %none, %none)
      : (!torch.vtensor<[3,5],si64>, !torch.int, !torch.int, !torch.none, !torch.none) -> !torch.vtensor<[3,4],si64>
  return %d : !torch.vtensor<[3,4],si64>
}
"""
PUT = """
func.func @put(%a: !torch.vtensor<[7,2],f32>, %i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[7,2],f32> {
  %one = torch.constant.float 1.0
  %v = torch.vtensor.literal(dense<1.0> : tensor<3x2xf32>) : !torch.vtensor<[3,2],f32>
  %no = torch.constant.bool false
  %l = torch.prim.ListConstruct %i : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index_put %a, %l, %v, %no
      : !torch.vtensor<[7,2],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,2],f32>, !torch.bool -> !torch.vtensor<[7,2],f32>
  return %r : !torch.vtensor<[7,2],f32>
}
"""


def compiled(text, tmp_path, guard="assert"):
    source, output = tmp_path / "x.mlir", tmp_path / "o.mlir"
    source.write_text(text)
    return fissile.compile(source, output, [*CPU, f"--guard={guard}"], check=False), output


def test_the_table_of_an_fft_needs_no_check(tmp_path):
    report, output = compiled(SPECTRUM, tmp_path)
    guarded = output.read_bytes()
    assert not report.findings
    compiled(SPECTRUM, tmp_path, guard="off")
    assert output.read_bytes() == guarded


def test_an_op_without_a_lowering_is_blamed_itself(tmp_path):
    report, output = compiled(WITHOUT_LOWERING, tmp_path)
    [error] = report.errors
    line = 1 + WITHOUT_LOWERING[: WITHOUT_LOWERING.index("torch.operator")].count("\n")
    assert error.code == "FIS421" and error.places[0].line == line and not output.exists()


@pytest.mark.parametrize("guard", ["assert", "off"])
def test_indices_that_may_be_negative_are_checked_or_left(tmp_path, guard):
    """IREE takes a negative index for one beyond the end; the check says which values an element may have."""
    report, output = compiled(PUT, tmp_path, guard=guard)
    found = [(f.code, "0..6" in f.message) for f in report.findings]
    assert found == ([("FIS202", True)] if guard == "assert" else [])
    assert ("cf.assert" in output.read_text()) == (guard == "assert")
