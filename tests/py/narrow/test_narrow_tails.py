"""Tensors that do not fill their last word, packed booleans and masks, on a Vulkan target whose storage holds words only."""

import subprocess

import numpy as np
import pytest
from built import build, run

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import present, run_module_program
from fissile.target import find_target

PACKED = "#iree_encoding.packed_storage"
VULKAN = flags_for(find_target("vulkan"))


def elementwise(name, arguments, source, read, result, body, count, before="", after="", returned=None):
    """A function that maps each of ``count`` elements of ``source``, and returns what ``after`` makes of it."""
    return f"""
func.func @{name}({arguments}) -> {returned or f"tensor<{count}x{result}>"} {{
  {before}
  %e = tensor.empty() : tensor<{count}x{result}>
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}} ins({source} : tensor<{count}x{read}>)
      outs(%e : tensor<{count}x{result}>) {{
  ^bb0(%x: {read.split(",")[0]}, %o: {result.split(",")[0]}):
    {body}
  }} -> tensor<{count}x{result}>
  {after or f"return %r : tensor<{count}x{result}>"}
}}
"""


PROGRAM = (
    "#id = affine_map<(d0) -> (d0)>"
    + elementwise(
        "odd_i2",
        "",
        "%c",
        "i2",
        "i32",
        "%y = arith.extui %x : i2 to i32\nlinalg.yield %y : i32",
        12,
        before="%c = util.unfoldable_constant dense<[1, 2, 3, 0, 3, 3, 3, 3, 1, 2, 0, 1]> : tensor<12xi2>",
    )
    + elementwise(
        "written_i4",
        "%a: tensor<6xi32>",
        "%a",
        "i32",
        "i4",
        "%y = arith.trunci %x : i32 to i4\nlinalg.yield %y : i4",
        6,
        after="%b = flow.tensor.bitcast %r : tensor<6xi4> -> tensor<3xi8>\nreturn %b : tensor<3xi8>",
        returned="tensor<3xi8>",
    )
    + elementwise(
        "not_packed",
        "%a: tensor<3xi8>",
        "%p",
        f"i1, {PACKED}",
        f"i1, {PACKED}",
        "%t = arith.constant true\n%y = arith.xori %x, %t : i1\nlinalg.yield %y : i1",
        24,
        before=f"%p = flow.tensor.bitcast %a : tensor<3xi8> -> tensor<24xi1, {PACKED}>",
        after=f"%b = flow.tensor.bitcast %r : tensor<24xi1, {PACKED}> -> tensor<3xi8>\nreturn %b : tensor<3xi8>",
        returned="tensor<3xi8>",
    )
    + elementwise(
        "compared",
        "%a: tensor<8xi8>",
        "%a",
        "i8",
        f"i1, {PACKED}",
        "%z = arith.constant 0 : i8\n%y = arith.cmpi sgt, %x, %z : i8\nlinalg.yield %y : i1",
        8,
        after=f"%b = flow.tensor.bitcast %r : tensor<8xi1, {PACKED}> -> tensor<1xi8>\nreturn %b : tensor<1xi8>",
        returned="tensor<1xi8>",
    )
    + """
func.func @gathered(%s: tensor<3x2xi32>, %i: tensor<2x1xi32>, %m: tensor<2xi1>, %o: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %i, %m : tensor<3x2xi32>, tensor<2x1xi32>, tensor<2xi1>)
      outs(%o : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
func.func @scattered(%x: tensor<4xi8>, %u: tensor<3xi8>, %i: tensor<3x1xi32>, %m: tensor<3xi1>) -> tensor<4xi8> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%u, %i, %m : tensor<3xi8>, tensor<3x1xi32>, tensor<3xi1>) outs(%x : tensor<4xi8>) {
  ^bb0(%a: i8, %b: i8):
    iree_linalg_ext.yield %a : i8
  } -> tensor<4xi8>
  return %r : tensor<4xi8>
}
"""
)
CALLS = {
    # An index whose mask is false may lie outside.
    "odd_i2": ([], [1, 2, 3, 0, 3, 3, 3, 3, 1, 2, 0, 1]),
    "written_i4": (["6xi32=1,-2,3,20,-5,7"], [-31, 67, 123]),
    "not_packed": (["3xi8=5,0,-1"], [-6, -1, 0]),
    "compared": (["8xi8=1,-1,127,-128,0,5,6,-7"], [0b01100101]),
    "gathered": (
        ["3x2xi32=1,2,3,4,5,6", "2x1xi32=2,99999", "2xi8=1,0", "2x2xi32=90,91,92,93"],
        [5, 6, 92, 93],
    ),
    "scattered": (["4xi8=1,2,3,4", "3xi8=50,60,70", "3x1xi32=3,1,0", "3xi8=1,0,1"], [70, 2, 3, 50]),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tails")
    source, vmfb = folder / "f.mlir", folder / "f.vmfb"
    source.write_text(PROGRAM)
    return vmfb, fissile.compile(source, vmfb, [*VULKAN, "--guard=off"], check=False)


def test_it_is_repaired_and_no_narrow_storage_is_left(built):
    vmfb, report = built
    assert vmfb.exists() and {(f.code, f.severity.value) for f in report.findings} == {("FIS110", "repaired")}
    assert {f.message.split(": ")[1].split()[0] for f in report.findings} >= {"i1", "i2", "i4", "i8"}


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize("name", CALLS)
def test_every_element_is_right(built, tmp_path, name):
    inputs, expected = CALLS[name]
    command = [
        run_module_program(),
        "--device=vulkan",
        f"--module={built[0]}",
        f"--function={name}",
        f"--output=@{tmp_path / 'o.npy'}",
    ]
    subprocess.run([*command, *(f"--input={one}" for one in inputs)], check=True, timeout=300)
    assert np.load(tmp_path / "o.npy").ravel().tolist() == expected


MASKED = f"""
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<3xi8>, %b: tensor<24xi1>) -> (tensor<3xi8>, tensor<24xi1>) {{
  %p = flow.tensor.bitcast %a : tensor<3xi8> -> tensor<24xi1, {PACKED}>
  %e = tensor.empty() : tensor<24xi1, {PACKED}>
  %f = tensor.empty() : tensor<24xi1>
  %r:2 = linalg.generic {{indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}}
      ins(%p, %b : tensor<24xi1, {PACKED}>, tensor<24xi1>) outs(%e, %f : tensor<24xi1, {PACKED}>, tensor<24xi1>) {{
  ^bb0(%x: i1, %y: i1, %o: i1, %q: i1):
    %and = arith.andi %x, %y : i1
    %xor = arith.xori %x, %y : i1
    linalg.yield %and, %xor : i1, i1
  }} -> (tensor<24xi1, {PACKED}>, tensor<24xi1>)
  %t = flow.tensor.bitcast %r#0 : tensor<24xi1, {PACKED}> -> tensor<3xi8>
  return %t, %r#1 : tensor<3xi8>, tensor<24xi1>
}}
"""


@pytest.mark.parametrize("target", ("gfx942", "sm_86"))
def test_booleans_of_a_bit_are_packed_where_iree_has_none(tmp_path, target):
    source = tmp_path / "x.mlir"
    source.write_text(MASKED)
    report = fissile.compile(source, tmp_path / "x.vmfb", flags_for(find_target(target)), check=False)
    assert report.output and [(f.code, f.severity.value) for f in report.findings] == [("FIS136", "repaired")]


def test_packed_booleans_beside_others_keep_every_bit(tmp_path):
    """The same pass where there is a device to run it: llvm-cpu."""
    build(MASKED, tmp_path / "x.vmfb", "fissile-pack-narrow-storage{types=packed_i1}")
    a, b = np.uint8([0b10110001, 0b01010101, 0xFF]), np.arange(24) % 3 == 0
    packed, plain = run(tmp_path / "x.vmfb", [a.view(np.int8), b])
    bits = np.unpackbits(a, bitorder="little").astype(bool)
    np.testing.assert_array_equal(
        np.unpackbits(packed.view(np.uint8), bitorder="little").astype(bool), bits & b
    )
    np.testing.assert_array_equal(plain.astype(bool), bits ^ b)
