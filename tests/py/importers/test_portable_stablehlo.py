"""StableHLO in the portable form that `jax.export` serialises: what stock builds right comes out byte for byte, and what its
import misreads is repaired as in StableHLO."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from iree import runtime
from iree.compiler import ir

import fissile
from fissile.pipelines.portable_stablehlo import stablehlo_of
from fissile.pipelines.session import Session

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
NONE = "#vhlo.type_v1<!vhlo.none_v1>"
PRODUCT = f"""module @jit_f attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  vhlo.func_v1 @main(%x: !vhlo.tensor_v1<2x2x!vhlo.ELEMENT>, %y: !vhlo.tensor_v1<2x2x!vhlo.ELEMENT>)
      -> (!vhlo.tensor_v1<2x2x!vhlo.RESULT>) {{
    %0 = "vhlo.dot_general_v2"(%x, %y) <{{
      accumulation_type = {NONE}, allow_imprecise_accumulation = {NONE},
      lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = {NONE},
      lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = {NONE},
      num_primitive_operations = {NONE},
      precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>,
      rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = {NONE},
      rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = {NONE}}}>
      : (!vhlo.tensor_v1<2x2x!vhlo.ELEMENT>, !vhlo.tensor_v1<2x2x!vhlo.ELEMENT>) -> !vhlo.tensor_v1<2x2x!vhlo.RESULT>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<2x2x!vhlo.RESULT>) -> ()
  }} {{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{{}}>, #vhlo.dict_v1<{{}}>]>,
      res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result">}}>]>,
      sym_visibility = #vhlo.string_v1<"public">}}
}}
"""
FLOATS = PRODUCT.replace("ELEMENT", "f32_v1").replace("RESULT", "f32_v1")
UNSIGNED = PRODUCT.replace("ELEMENT", "ui8_v1").replace("RESULT", "ui32_v1")


def written(text: str, folder: Path, bytecode: bool) -> Path:
    path = folder / ("in.mlirbc" if bytecode else "in.mlir")
    if not bytecode:
        path.write_text(text)
        return path
    with ir.Context(), path.open("wb") as file:
        ir.Module.parse(text).operation.write_bytecode(file)
    return path


@pytest.mark.parametrize("bytecode", [False, True], ids=["text", "bytecode"])
def test_a_program_that_stock_builds_right_comes_out_as_stock_builds_it(tmp_path, bytecode):
    source = written(FLOATS, tmp_path, bytecode)
    report = fissile.compile(source, tmp_path / "out.vmfb", FLAGS)
    stock = str(Path(sys.executable).with_name("iree-compile"))
    subprocess.run([stock, *FLAGS, str(source), "-o", str(tmp_path / "stock.vmfb")], check=True, timeout=300)
    assert not report.findings
    assert (tmp_path / "out.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


@pytest.mark.parametrize("bytecode", [False, True], ids=["text", "bytecode"])
def test_unsigned_operands_of_a_product_are_repaired(tmp_path, bytecode):
    source = written(UNSIGNED, tmp_path, bytecode)
    report = fissile.compile(source, tmp_path / "out.vmfb", FLAGS)
    assert [f.code for f in report.findings] == ["FIS155"]
    config = runtime.Config("local-sync")
    called = runtime.load_vm_flatbuffer_file(str(tmp_path / "out.vmfb"), driver="local-sync")
    x = np.array([[200, 1], [2, 255]], np.uint8)
    assert config and np.array_equal(
        np.asarray(called.main(x, x)).view(np.uint32), x.astype(np.uint32) @ x.astype(np.uint32)
    )


def test_another_program_is_not_converted(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
    assert stablehlo_of(Session().parse(source).op.operation, source) is None


def test_what_iree_does_not_convert_goes_on_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("fissile.pipelines.portable_stablehlo.MOST_BYTES", 10)
    source = written(FLOATS, tmp_path, False)
    assert "vhlo.dot_general_v2" in str(Session().parse(source).op)
    assert not fissile.compile(source, tmp_path / "out.vmfb", FLAGS).errors


LOOP = """vhlo.func_v1 @main(%x: !vhlo.tensor_v1<!vhlo.f32_v1>) -> (!vhlo.tensor_v1<!vhlo.f32_v1>) {
  %0 = "vhlo.while_v1"(%x) ({
  ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1> loc("carried")):
    %go = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<false> : tensor<i1>>}> : () -> !vhlo.tensor_v1<!vhlo.bool_v1>
    "vhlo.return_v1"(%go) : (!vhlo.tensor_v1<!vhlo.bool_v1>) -> ()
  }, {
  ^bb0(%b: !vhlo.tensor_v1<!vhlo.f32_v1>):
    "vhlo.return_v1"(%b) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  }) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
  "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
} {arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>,
   sym_visibility = #vhlo.string_v1<"public">}
"""


def test_the_places_of_a_loops_arguments_are_kept(tmp_path):
    """They end up in the module that is written, where a dispatch loads the argument."""
    source = written(LOOP, tmp_path, True)
    converted = stablehlo_of(Session().parse_text(LOOP).op.operation, source)
    assert "stablehlo.while" in converted and 'loc("carried")' in converted
