"""Checks of indices: one reduction and one wait for a block, accesses that stay in bounds meanwhile."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
import pytest
from iree.compiler import ir
from storage_sweep import FLAGS

from fissile.passes.analysis.program.check_order import overtaken_checks, unclamped_accesses
from fissile.passes.remedies.storage import element_clamps
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session


def lookup(number: int, table: str, rows: str, ids: str = "%ids", count: int = 4) -> str:
    """Rows of ``table`` (a tensor of ROWSx8xf32) at ``ids``, as %r<number>."""
    return f"""  %r{number} = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]}} ins({ids} : tensor<{count}xi64>) outs(%e : tensor<{count}x8xf32>) {{
  ^bb0(%p: i64, %q: f32):
    %i = arith.index_cast %p : i64 to index
    %k = linalg.index 1 : index
    %v = tensor.extract {table}[%i, %k] : tensor<{rows}x8xf32>
    linalg.yield %v : f32
  }} -> tensor<{count}x8xf32>
"""


ROWS = "tensor<4x8xf32>"
EMPTY = f"  %e = tensor.empty() : {ROWS}\n"
TWO_TABLES = f"""func.func @main(%t: tensor<16x8xf32>, %u: tensor<?x8xf32>, %ids: tensor<4xi64>, %jds: tensor<4xi64>) -> ({ROWS}, {ROWS}) {{
{EMPTY}{lookup(0, "%t", "16")}{lookup(1, "%u", "?", "%jds")}  return %r0, %r1 : {ROWS}, {ROWS}
}}
"""
SAME_INDICES = f"""func.func @main(%t: tensor<16x8xf32>, %u: tensor<12x8xf32>, %w: tensor<20x8xf32>, %ids: tensor<4xi64>)
    -> ({ROWS}, {ROWS}, {ROWS}) {{
{EMPTY}{lookup(0, "%t", "16")}{lookup(1, "%u", "12")}{lookup(2, "%w", "20")}  return %r0, %r1, %r2 : {ROWS}, {ROWS}, {ROWS}
}}
"""
CHAIN = """func.func @main(%t: tensor<8xi32>, %u: tensor<6xf32>, %ids: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i32, %q: f32):
    %i = arith.index_cast %p : i32 to index
    %j = tensor.extract %t[%i] : tensor<8xi32>
    %k = arith.index_cast %j : i32 to index
    %v = tensor.extract %u[%k] : tensor<6xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
THEN_A_SLICE = f"""func.func @main(%t: tensor<16x8xf32>, %ids: tensor<4xi64>, %x: tensor<8x8xf32>) -> {ROWS} {{
{EMPTY}{lookup(0, "%t", "16")}
  %c0 = arith.constant 0 : index
  %first = tensor.extract %ids[%c0] : tensor<4xi64>
  %at = arith.index_cast %first : i64 to index
  %s = tensor.extract_slice %x[%at, 0] [4, 8] [1, 1] : tensor<8x8xf32> to {ROWS}
  %sum = arith.addf %r0, %s : {ROWS}
  return %sum : {ROWS}
}}
"""
SCATTER = """func.func @main(%t: tensor<?x4xf32>, %ids: tensor<3x1xi32>, %x: tensor<3x4xf32>) -> tensor<?x4xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%x, %ids : tensor<3x4xf32>, tensor<3x1xi32>) outs(%t : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""
COMPUTED = f"""func.func @main(%t: tensor<16x8xf32>, %ids: tensor<4xi64>) -> {ROWS} {{
{EMPTY}  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %n = tensor.empty() : tensor<2x2xi64>
  %pairs = tensor.expand_shape %ids [[0, 1]] output_shape [2, 2] : tensor<4xi64> into tensor<2x2xi64>
  %ends = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]}} ins(%pairs : tensor<2x2xi64>) outs(%n : tensor<2x2xi64>) {{
  ^bb0(%p: i64, %q: i64):
    %up = arith.addi %p, %c16 : i64
    %below = arith.cmpi slt, %p, %c0 : i64
    %v = arith.select %below, %up, %p : i64
    linalg.yield %v : i64
  }} -> tensor<2x2xi64>
  %from_end = tensor.collapse_shape %ends [[0, 1]] : tensor<2x2xi64> into tensor<4xi64>
{lookup(0, "%t", "16", "%from_end")}  return %r0 : {ROWS}
}}
"""
"""Negative ids count from the end, as ONNX and torch have it."""
PROGRAMS = {
    "computed": COMPUTED,
    "two tables": TWO_TABLES,
    "same indices": SAME_INDICES,
    "chain": CHAIN,
    "then a slice": THEN_A_SLICE,
    "scatter": SCATTER,
}
FAR = 400_000_000


@pytest.fixture(scope="module")
def session():
    with Session(FLAGS["local-task"]) as opened:
        yield opened


def guarded(session, text: str):
    module = session.run(session.parse_text(text), GUARDED_AT)
    return module, guard(module.op)


def count(module, name: str) -> int:
    found = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found += op.name == name
        return ir.WalkResult.ADVANCE

    module.op.operation.walk(visit)
    return found


@pytest.mark.parametrize(
    ("name", "asserts"),
    [("computed", 1), ("two tables", 2), ("same indices", 1), ("chain", 2), ("scatter", 1)],
)
def test_what_a_block_checks_is_read_once(session, name, asserts):
    module, result = guarded(session, PROGRAMS[name])
    assert result.elementwise == asserts
    session.run(module, "stream")
    assert count(module, "stream.cmd.execute") == count(module, "stream.timepoint.await") == 1
    assert count(module, "stream.resource.load") == 1


def test_a_check_of_computed_indices_stores_none_of_them(session):
    """The gather and what computes its indices stay one dispatch; the check is the only one that is added."""
    dispatches = []
    for mode in ("off", "assert"):
        module = session.run(session.parse_text(COMPUTED), GUARDED_AT)
        guard(module.op, mode)
        dispatches.append(count(session.run(module, "stream"), "stream.cmd.dispatch"))
    assert dispatches == [1, 2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_dispatch_loads_an_index_that_nothing_bounds(session, name):
    module, _ = guarded(session, PROGRAMS[name])
    session.run(module, "stream")
    assert not unclamped_accesses(module.op) and not overtaken_checks(module.op)


def test_the_analysis_finds_indices_that_are_not_clamped(session, monkeypatch):
    monkeypatch.setattr(element_clamps, "clamp_loaded_indices", lambda *_: 0)
    module, _ = guarded(session, PROGRAMS["chain"])
    session.run(module, "stream")
    assert unclamped_accesses(module.op)


def call(session, text: str, folder, values: list) -> list[np.ndarray]:
    module, _ = guarded(session, text)
    path = folder / "guarded.vmfb"
    session.write(session.run(module, "end"), path)
    context = rt.SystemContext(config=rt.Config("local-task"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, path.read_bytes()))
    results = context.modules.module["main"](*values)
    return [r.to_host() for r in (results if isinstance(results, tuple) else (results,))]


TABLE = np.arange(20 * 8, dtype=np.float32).reshape(20, 8)


def inputs(name: str, index: int) -> list[np.ndarray]:
    ids = np.array([3, index, 0, 5])
    return {
        "two tables": [TABLE[:16], TABLE[:9], ids, np.array([1, 2, index, 0])],
        "same indices": [TABLE[:16], TABLE[:12], TABLE, ids],
        "chain": [
            np.arange(8, dtype=np.int32) % 6,
            TABLE[0, :6],
            np.clip(ids, -(2**31), 2**31 - 1).astype(np.int32),
        ],
        "then a slice": [TABLE[:16], ids[[1, 0, 2, 3]], TABLE[:8]],
        "computed": [TABLE[:16], np.array([3, -16, 0, index if index >= 0 else index - 16])],
        "scatter": [TABLE[:7, :4].copy(), ids[:3, None].astype(np.int32), TABLE[:3, 4:].copy()],
    }[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_indices_compute_what_they_did(session, tmp_path, name):
    values = inputs(name, 4)
    got = call(session, PROGRAMS[name], tmp_path, values)
    ids = values[-1]
    if name == "computed":
        expected = [values[0][ids]]
    elif name == "two tables":
        expected = [values[0][values[2]], values[1][values[3]]]
    elif name == "same indices":
        expected = [t[ids] for t in values[:3]]
    elif name == "chain":
        expected = [values[1][values[0][ids]]]
    elif name == "then a slice":
        expected = [values[0][values[1]] + values[2][4:8]]
    else:
        expected = [values[0].copy()]
        expected[0][values[1][:, 0]] = values[2]
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("index", [-1, 20, FAR, -FAR])
def test_a_wrong_index_ends_the_call_with_its_sentence(session, tmp_path, name, index):
    got = "got a negative one" if index < 0 else "got one (above|past)"
    with pytest.raises(Exception, match=f"FAILED_PRECONDITION; @main:.*; {got}"):
        call(session, PROGRAMS[name], tmp_path, inputs(name, index))
