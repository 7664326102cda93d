"""Gathers whose tensor of indices may be shorter than the result, and whose indices may lie outside: each is checked before a read."""

import pytest
from programs import run_program

import fissile
from fissile.pipelines.numerics.runtimes import run_module_program

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
HEAD = "func.func @main(%t: tensor<16xf32>, %i: tensor<?xi32>) -> tensor<8xf32> {\n  %e = tensor.empty() : tensor<8xf32>\n"
TAIL = "\n  return %r : tensor<8xf32>\n}\n"
BODY = """    %m = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%m] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>"""
FORMS = {
    "read by the loops": """  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : tensor<8xf32>) {
  ^bb0(%k: i32, %o: f32):
"""
    + BODY,
    "read in the body": """  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %k = tensor.extract %i[%n] : tensor<?xi32>
"""
    + BODY,
    "cast to a length": """  %c = tensor.cast %i : tensor<?xi32> to tensor<8xi32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%t, %c : tensor<16xf32>, tensor<8xi32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>""",
}
REFUSED = "FAILED_PRECONDITION"
CALLS = (
    ("8xi32=3 0 15 1 2 3 4 5", "8xf32=3 0 15 1 2 3 4 5"),
    ("5xi32=3", REFUSED),
    ("0xi32=", REFUSED),
    ("8xi32=16", REFUSED),
    ("8xi32=-1", REFUSED),
)


@pytest.mark.parametrize("form", FORMS)
def test_no_index_is_read_that_is_not_there(tmp_path, form):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(HEAD + FORMS[form] + TAIL)
    report = fissile.compile(source, output, CPU, check=False)
    assert {(f.code, f.severity.value) for f in report.findings} == {("FIS202", "note")}
    table = "16xf32=" + " ".join(map(str, range(16)))
    for indices, answer in CALLS:
        words = [run_module_program(), "--device=local-sync", f"--module={output}", "--function=main", f"--input={table}", f"--input={indices}"]  # fmt: skip
        ended = run_program(words, capture_output=True, text=True, timeout=300)
        assert ended.returncode >= 0 and answer in ended.stdout + ended.stderr, (indices, ended.stderr)
