"""FIS225: threads that write parts of one byte on AMD, where IREE has no atomic operation for it, and nothing else."""

from __future__ import annotations

import pytest
from iree.compiler import ir

import fissile
from fissile.finding import Severity
from fissile.passes.analysis.kernel.narrow.shared_bytes import types_in_shared_bytes
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

CONCAT = """
func.func @main(%x: tensor<4x4xi4>, %y: tensor<4x4xi4>) -> tensor<4x8xi4> {
  %r = tensor.concat dim(1) %x, %y : (tensor<4x4xi4>, tensor<4x4xi4>) -> tensor<4x8xi4>
  return %r : tensor<4x8xi4>
}
"""
PAD = """
func.func @main(%x: tensor<4x6xi4>) -> tensor<4x8xi4> {
  %zero = arith.constant 0 : i4
  %r = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i4
  } : tensor<4x6xi4> to tensor<4x8xi4>
  return %r : tensor<4x8xi4>
}
"""


def insert(cache: str, part: str, offsets: str, sizes: str, element: str = "i4") -> str:
    """A cache that takes a part at a place that the call decides."""
    ones = ", ".join("1" * len(sizes.split(",")))
    return f"""
func.func @main(%c: tensor<{cache}x{element}>, %u: tensor<{part}x{element}>, %p: tensor<i32>) -> tensor<{cache}x{element}> {{
  %at = tensor.extract %p[] : tensor<i32>
  %i = arith.index_cast %at : i32 to index
  %r = tensor.insert_slice %u into %c[{offsets}] [{sizes}] [{ones}] : tensor<{part}x{element}> into tensor<{cache}x{element}>
  return %r : tensor<{cache}x{element}>
}}
"""


RACING = {
    "concat": CONCAT,
    "pad": PAD,
    "row": insert("8x8", "1x8", "%i, 0", "1, 8"),
    "row of i2": insert("8x8", "1x8", "%i, 0", "1, 8", "i2"),
    "row of heads": insert("2x16x32", "2x1x32", "0, %i, 0", "2, 1, 32"),
}
APART = {
    # Each row takes one element: its byte is no other thread's.
    "column": insert("2x16x32", "2x16x1", "0, 0, %i", "2, 16, 1"),
    "bytes": CONCAT.replace("i4", "i8"),
}


def compiled(folder, text: str, target: str):
    source = folder / "in.mlir"
    source.write_text(text)
    return fissile.compile(source, folder / "out.vmfb", flags_for(find_target(target)), check=False)


@pytest.mark.parametrize("name", RACING)
def test_it_is_repaired_on_amd(tmp_path, name):
    report = compiled(tmp_path, RACING[name], "gfx942")
    assert report.output and ("FIS225", Severity.REPAIRED) in [(f.code, f.severity) for f in report.findings]


@pytest.mark.parametrize("name", APART)
def test_what_has_a_byte_for_each_thread_stays(tmp_path, name):
    report = compiled(tmp_path, APART[name], "gfx942")
    assert report.output and "FIS225" not in [f.code for f in report.findings]


@pytest.mark.parametrize("target", ("sm_86", "llvm-cpu"))
def test_other_targets_have_atomic_operations(tmp_path, target):
    report = compiled(tmp_path, CONCAT, target)
    assert report.output and "FIS225" not in [f.code for f in report.findings]


def test_check_withholds_nothing_and_says_so():
    report = fissile.check(CONCAT, target="gfx942")
    assert "FIS225" in [f.code for f in report.findings]


BODIES = {
    "an element for a thread": ("memref.store %v, %b[%t, %c0] : memref<?x1xi4>", "?x1", True),
    "a row for a thread": ("memref.store %v, %b[%t, %i] : memref<?x8xi4>", "?x8", False),
    "an odd row for a thread": ("memref.store %v, %b[%t, %i] : memref<?x7xi4>", "?x7", True),
    "a column for a thread": ("memref.store %v, %b[%i, %t] : memref<?x8xi4>", "?x8", True),
    "two elements for a thread": (
        "%j = affine.apply affine_map<(a, b) -> (a * 2 + b)>(%t, %i)\nmemref.store %v, %b[%c0, %j] : memref<?x8xi4>",
        "?x8",
        False,
    ),
    "three elements for a thread": (
        "%j = affine.apply affine_map<(a, b) -> (a * 3 + b)>(%t, %i)\nmemref.store %v, %b[%c0, %j] : memref<?x8xi4>",
        "?x8",
        True,
    ),
    "half of the threads": (
        "%j = affine.apply affine_map<(a) -> (a floordiv 2)>(%t)\nmemref.store %v, %b[%c0, %j] : memref<?x8xi4>",
        "?x8",
        True,
    ),
    "linear": (
        "%j = affine.linearize_index disjoint [%t, %i] by (4, 8) : index\nmemref.store %v, %b[%c0, %j] : memref<?x8xi4>",
        "?x8",
        False,
    ),
    "linear odd": (
        "%j = affine.linearize_index disjoint [%t, %i] by (4, 5) : index\nmemref.store %v, %b[%c0, %j] : memref<?x8xi4>",
        "?x8",
        True,
    ),
    "a copy": (
        "%s = memref.subview %b[%c0, %t] [1, 1] [1, 1] : memref<?x8xi4> to memref<1x1xi4, strided<[8, 1], offset: ?>>\n"
        "memref.copy %s, %s : memref<1x1xi4, strided<[8, 1], offset: ?>> to memref<1x1xi4, strided<[8, 1], offset: ?>>",
        "?x8",
        True,
    ),
    "a copy of rows": (
        "%s = memref.subview %b[%t, 0] [1, 3] [1, 1] : memref<?x8xi4> to memref<1x3xi4, strided<[8, 1], offset: ?>>\n"
        "memref.copy %s, %s : memref<1x3xi4, strided<[8, 1], offset: ?>> to memref<1x3xi4, strided<[8, 1], offset: ?>>",
        "?x8",
        False,
    ),
    "two in a vector": ("vector.store %two, %b[%c0, %t] : memref<?x8xi4>, vector<2xi4>", "?x8", False),
    "one in a vector": ("vector.store %one, %b[%c0, %t] : memref<?x8xi4>, vector<1xi4>", "?x8", True),
    "where all write": ("memref.store %v, %b[%c0, %i] : memref<?x8xi4>", "?x8", False),
}


@pytest.mark.parametrize("name", BODIES)
def test_which_writes_share_a_byte(name):
    body, shape, right = BODIES[name]
    with ir.Context():
        module = ir.Module.parse(f"""
            func.func @f(%b: memref<{shape}xi4>, %v: i4, %i: index, %one: vector<1xi4>, %two: vector<2xi4>) {{
              %c0 = arith.constant 0 : index
              %t = gpu.thread_id x
              {body}
              return
            }}""")
        assert types_in_shared_bytes(module.operation) == (("i4",) if right else ())
