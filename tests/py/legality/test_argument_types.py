"""Types of arguments and results that IREE takes in no function: each is named with a type that it takes, and the ops behind it are still found."""

from __future__ import annotations

import json

import pytest
from programs import run_program

NEGATED = """
func.func @{name}(%a: {type}) -> {type} {{
  %r = arith.{op} %a : {type}
  return %r : {type}
}}
"""
WIDENED = """
func.func @{name}(%a: tensor<64x{type}>) -> tensor<64xf32> {{
  %r = arith.extf %a : tensor<64x{type}> to tensor<64xf32>
  return %r : tensor<64xf32>
}}
"""
HANDED_BACK = """
func.func @{name}(%a: {type}) -> {type} {{
  return %a : {type}
}}
"""
LANES = """
func.func @lanes(%a: tensor<64xf4E2M1FN>) -> tensor<64xf32> {
  %w = arith.extf %a : tensor<64xf4E2M1FN> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%w : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce add %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""

REFUSED = "".join(
    [
        WIDENED.format(name="f4", type="f4E2M1FN"),
        WIDENED.format(name="f8", type="f8E3M4"),
        HANDED_BACK.format(name="complex", type="complex<f32>"),
        HANDED_BACK.format(name="wide", type="i128"),
        HANDED_BACK.format(name="signed", type="si32"),
        NEGATED.format(name="vector", type="vector<4xf32>", op="negf"),
        LANES,
    ]
)
TAKEN = "".join(
    [
        *(WIDENED.format(name=type_, type=type_) for type_ in ("f8E8M0FNU", "f8E4M3FN", "f8E5M2FNUZ")),
        *(NEGATED.format(name=f"neg_{t}", type=f"tensor<64x{t}>", op="addi %a,") for t in ("i4", "i2")),
        HANDED_BACK.format(name="unread", type="tensor<64xf4E2M1FN>"),
        HANDED_BACK.format(name="complexes", type="tensor<8xcomplex<f32>>"),
        HANDED_BACK.format(name="tuple", type="tuple<f32, tensor<4xf32>>"),
        HANDED_BACK.format(name="opaque", type="!other.type"),
        HANDED_BACK.format(name="handed_vector", type="vector<4xf32>"),
    ]
)


def findings_of(tmp_path, text, command, target):
    file = tmp_path / "model.mlir"
    file.write_text(text)
    done = run_program(
        ["fissile", command, file, "--target", target, "--format=json"], capture_output=True, text=True
    )
    findings = json.loads(done.stdout)["findings"]
    return done.returncode, {(f["code"], f["subject"]): f for f in findings}


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    return findings_of(tmp_path_factory.mktemp("refused"), REFUSED, "audit", "llvm-cpu")


PLANTED = {
    ("FIS410", "argument 0 of @f4"): ("func.func @f4(", "pass its bytes, as tensor<32xi8>"),
    ("FIS410", "argument 0 of @f8"): ("func.func @f8(", "pass its bytes, as tensor<64xi8>"),
    ("FIS410", "argument 0 of @complex"): ("func.func @complex(", "use tensor<complex<f32>> instead"),
    ("FIS410", "result 0 of @complex"): ("func.func @complex(", "use tensor<complex<f32>> instead"),
    ("FIS410", "argument 0 of @wide"): ("func.func @wide(", "use tensor<i128> instead"),
    ("FIS410", "result 0 of @wide"): ("func.func @wide(", "use tensor<i128> instead"),
    ("FIS410", "argument 0 of @signed"): ("func.func @signed(", "use i32 instead"),
    ("FIS410", "result 0 of @signed"): ("func.func @signed(", "use i32 instead"),
    ("FIS410", "arith.negf"): ("arith.negf", "use tensors instead of vectors"),
    ("FIS410", "argument 0 of @lanes"): ("func.func @lanes(", "pass its bytes, as tensor<32xi8>"),
    ("FIS409", "linalg.generic"): ("gpu.subgroup_reduce", None),
}
"""Rule and subject -> what stands on the line to blame, and a way out that was compiled."""


def test_all_are_found_in_one_run_and_no_other(refused):
    status, found = refused
    assert status == 1 and set(found) == set(PLANTED)


@pytest.mark.parametrize("key", PLANTED)
def test_each_is_at_its_line_with_a_way_out(refused, key):
    text, way_out = PLANTED[key]
    finding = refused[1][key]
    assert text in REFUSED.splitlines()[finding["places"][0]["line"] - 1]
    assert way_out is None or way_out in [one["title"] for one in finding["helps"]]


@pytest.mark.parametrize("command", ["audit", "check"])
def test_types_that_functions_take_have_no_finding(tmp_path, command):
    status, found = findings_of(tmp_path, TAKEN, command, "llvm-cpu")
    assert status == 0 and all(code == "FIS139" for code, _subject in found)  # rounding is another matter


def test_check_names_the_result_that_iree_refuses_behind_code_generation(tmp_path):
    text = WIDENED.replace("extf", "truncf").replace("64xf32", "64x{type}@").replace("64x{type}>", "64xf32>")
    text = text.replace("@>", ">").format(name="main", type="f8E3M4")
    status, found = findings_of(tmp_path, text, "check", "llvm-cpu")
    assert status == 1 and ("FIS410", "result 0 of @main") in found


def test_a_function_of_no_module_is_found_as_the_program_is_written(tmp_path):
    text = "func.func private @other()\nfunc.func @main() {\n  call @other() : () -> ()\n  return\n}\n"
    status, found = findings_of(tmp_path, text, "audit", "llvm-cpu")
    [finding] = found.values()
    assert (status, finding["code"]) == (1, "FIS414") and "must reference a function" in finding["message"]
