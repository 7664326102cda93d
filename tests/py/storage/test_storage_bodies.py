"""Reads under loops and branches of a body: the body runs again to check them, and stays in bounds itself."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
import pytest
from storage_fuzz import FLAGS
from storage_judged import judge

from fissile.passes.analysis.program.check_order import is_loaded
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

FAR = 100_000_000
HEAD = """func.func @main(%x: tensor<?xf32>, %t: tensor<?xi32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %l = linalg.index 0 : index
"""
TAIL = """
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
LOADED = "%id = tensor.extract %t[AT] : tensor<?xi32>\n%i = arith.index_cast %id : i32 to index"
BODIES = {
    "for": f"""%s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {{
      {LOADED.replace("AT", "%k")}
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %q = arith.addf %a, %v : f32
      scf.yield %q : f32 }}""",
    "if in for": f"""%s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {{
      {LOADED.replace("AT", "%k")}
      %p = arith.cmpi sge, %i, %c0 : index
      %v = scf.if %p -> f32 {{
        %w = tensor.extract %x[%i] : tensor<?xf32>
        scf.yield %w : f32
      }} else {{ scf.yield %z : f32 }}
      %q = arith.addf %a, %v : f32
      scf.yield %q : f32 }}""",
    "while": f"""%h:2 = scf.while (%k = %c0, %a = %z) : (index, f32) -> (index, f32) {{
      %p = arith.cmpi slt, %k, %n : index
      scf.condition(%p) %k, %a : index, f32
    }} do {{
    ^bb0(%k: index, %a: f32):
      {LOADED.replace("AT", "%k")}
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %q = arith.addf %a, %v : f32
      %m = arith.addi %k, %c1 : index
      scf.yield %m, %q : index, f32
    }}
    %s = arith.addf %h#1, %z : f32""",
    "index of a branch": f"""%p = arith.cmpi slt, %l, %n : index
    %j = scf.if %p -> index {{
      {LOADED.replace("AT", "%l")}
      scf.yield %i : index
    }} else {{ scf.yield %c0 : index }}
    %s = tensor.extract %x[%j] : tensor<?xf32>""",
    "squares": """%s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {
      %m = arith.muli %k, %k : index
      %v = tensor.extract %x[%m] : tensor<?xf32>
      %q = arith.addf %a, %v : f32
      scf.yield %q : f32 }""",
}


def expected(body: str, x: np.ndarray, t: list[int], n: int) -> list[float] | None:
    """What the program gives, None where it reads what is not there."""
    if body == "index of a branch":
        at = [t[i] if i < len(t) else None for i in range(min(n, 4))]
        wrong = any(i is None or not 0 <= i < len(x) for i in at)
        return None if wrong else [x[i] for i in at] + [x[0]] * (4 - len(at))
    at = [k * k for k in range(n)] if body == "squares" else t[:n]
    if body == "if in for":
        at = [i for i in at if i >= 0]
    wrong = body != "squares" and n > len(t) or any(not 0 <= i < len(x) for i in at)
    return None if wrong else [float(sum(x[i] for i in at))] * 4


@pytest.fixture(scope="module")
def functions():
    text = "".join(
        (HEAD + body + TAIL).replace("@main", f"@p{number}") for number, body in enumerate(BODIES.values())
    )
    with Session(FLAGS) as session:
        module = session.run(session.parse_text(text), GUARDED_AT)
        found = guard(module.op)
        assert {f.code for f in found.findings} == {"FIS202"}
        session.run(module, "end")
        return load(session, module)


def load(session: Session, module) -> object:
    import tempfile
    from pathlib import Path

    config = rt.Config("local-sync")
    with tempfile.TemporaryDirectory() as folder:
        session.write(module, Path(folder, "out.vmfb"))
        data = Path(folder, "out.vmfb").read_bytes()
    return rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, data), config)


@pytest.mark.parametrize("number", range(len(BODIES)))
@pytest.mark.parametrize(
    ("t", "n"),
    [
        ([0, 3, 4], 3),
        ([0, -1, 4], 3),
        ([5, 0, 0], 3),
        ([0, FAR, 0], 2),
        ([0, FAR, 0], 1),
        ([1, 1, 1], 0),
        ([1, 1, 1], 4),
    ],
)
def test_a_wrong_read_is_refused_and_a_right_one_is_not(functions, number, t, n):
    name, x = list(BODIES)[number], np.arange(1, 6, dtype=np.float32)
    call = getattr(functions, f"p{number}")
    wanted = expected(name, x, t, n)
    if wanted is None:
        with pytest.raises(Exception, match="FAILED_PRECONDITION"):
            call(x, np.array(t, np.int32), n)
    else:
        assert call(x, np.array(t, np.int32), n).to_host().tolist() == wanted


SUM = """%e = tensor.empty() : tensor<i32>
%z = arith.constant 0 : i32
%f = linalg.fill ins(%z : i32) outs(%e : tensor<i32>) -> tensor<i32>
%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%t : tensor<4xi32>) outs(%f : tensor<i32>) {
^bb0(%p: i32, %o: i32):
  %k = arith.index_cast WHICH : i32 to index
  %v = tensor.extract %x[%k] : tensor<4xi32>
  %s = arith.addi %o, %v : i32
  linalg.yield %s : i32
} -> tensor<i32>"""


@pytest.mark.parametrize(("which", "code"), [("%p", "FIS202"), ("%o", "FIS205")])
def test_what_a_sum_has_come_to_is_not_known_a_second_time(which, code):
    with Session(FLAGS) as session:
        module, _ = judge(session, "%x: tensor<4xi32>, %t: tensor<4xi32>", SUM.replace("WHICH", which))
        assert [f.code for f in guard(module.op).findings] == [code]


@pytest.mark.parametrize(
    ("index", "loaded"),
    [
        ("%j = arith.minui %a, %b : index", True),  # the bound is an element too
        ("%j = arith.minui %a, %n : index", False),
        ("%j = scf.if %p -> index { scf.yield %a : index } else { scf.yield %n : index }", True),
        ("%j = scf.if %p -> index { scf.yield %n : index } else { scf.yield %n : index }", False),
    ],
)
def test_an_index_that_a_dispatch_loads_is_known(index, loaded):
    text = f"""func.func @f(%t: tensor<4xi32>, %n: index, %p: i1) -> index {{
  %u = tensor.extract %t[%n] : tensor<4xi32>
  %a = arith.index_cast %u : i32 to index
  %w = tensor.extract %t[%n] : tensor<4xi32>
  %b = arith.index_cast %w : i32 to index
  {index}
  return %j : index
}}"""
    with Session(FLAGS) as session:
        module = session.parse_text(text)
        last = list(module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations)[-1]
        assert is_loaded(last.operands[0]) == loaded


EMPTY = """func.func @main(%x: tensor<5xf32>, %y: tensor<?x?xf32>, %t: tensor<?xi32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %y, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %y, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%t : tensor<?xi32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %q = arith.index_cast %p : i32 to index
    %v = tensor.extract %x[INDEX] : tensor<5xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("index", ["%q", "%n"])
def test_a_body_that_never_runs_reads_nothing(index):
    with Session(FLAGS) as session:
        module = session.run(session.parse_text(EMPTY.replace("INDEX", index)), GUARDED_AT)
        guard(module.op)
        session.run(module, "end")
        call = load(session, module).main
    x, t = np.zeros(5, np.float32), np.array([9, 9], np.int32)
    assert call(x, np.zeros((2, 0), np.float32), t, 9).to_host().shape == (2, 0)
    with pytest.raises(Exception, match="FAILED_PRECONDITION"):
        call(x, np.zeros((2, 1), np.float32), t, 9)


BROADCAST = """func.func @main(%w: tensor<1x4xf32>, %t: tensor<3xi64>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%p: i64, %o: f32):
    %row = linalg.index 0 : index
    %column = arith.index_cast %p : i64 to index
    %v = tensor.extract %w[%row, %column] : tensor<1x4xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


def test_a_loop_index_into_one_row_broadcasts_it():
    """As torch-mlir lowers the weights of a loss. Where stock IREE fails this, the row has to be checked again."""
    for guarded in (False, True):
        with Session(FLAGS) as session:
            module = session.run(session.parse_text(BROADCAST), GUARDED_AT)
            if guarded:
                guard(module.op)
            session.run(module, "end")
            call = load(session, module).main
        w = np.arange(4, dtype=np.float32)[None]
        assert call(w, np.array([3, 0, 2])).to_host().tolist() == [3, 0, 2]
    with pytest.raises(Exception, match="FAILED_PRECONDITION"):
        call(w, np.array([3, 4, 2]))
