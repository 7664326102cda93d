"""The first programs of `python -m bench.storage.storage_fuzz`, a guard that is wrong on purpose, and programs that crash."""

from __future__ import annotations

import sys

import numpy as np
from storage_fuzz import Fuzz
from storage_fuzz_batches import check_batch, stock_crash
from storage_fuzz_programs import Array, FuzzProgram, Values
from storage_oracle import require

from fissile.passes.analysis.bounds.conditions import TRUE
from fissile.passes.analysis.storage import gather_rules
from fissile.passes.remedies.storage import held_loads
from fissile.pipelines.compile.hooks import guard


def test_random_programs_keep_to_the_oracle():
    fuzz = Fuzz(batch=24)
    fuzz.run(48, calls=5)
    assert not fuzz.failures, "\n".join("\n".join(row) for row in fuzz.failures[:3])
    assert fuzz.counts["calls that are legal, same numbers"] > 40
    assert fuzz.counts["calls that violate, refused: FAILED_PRECONDITION"] > 40
    assert fuzz.counts["programs with no dispatch before its check"] == fuzz.counts["programs run"] > 20


def program_of_a_gather(limit: int) -> FuzzProgram:
    """Rows of a table by number; the oracle takes the table to have ``limit`` rows."""
    program = FuzzProgram("p0", [("%x", "tensor<4x2xi32>"), ("%t", "tensor<?xi32>")])
    program.lines = [
        "%c0 = arith.constant 0 : index",
        "%n = tensor.dim %t, %c0 : tensor<?xi32>",
        "%e = tensor.empty(%n) : tensor<?x2xi32>",
        "%r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %t : tensor<4x2xi32>, tensor<?xi32>) "
        "outs(%e : tensor<?x2xi32>) -> tensor<?x2xi32>",
    ]

    def run(v: Values) -> None:
        require(bool(np.all((v["%t"] >= 0) & (v["%t"] < limit))))
        v["%r"] = v["%x"][np.minimum(v["%t"], 3)]

    program.steps, program.result = [run], Array("%r", (None, 2), "i32")
    table = np.arange(8, dtype=np.int32).reshape(4, 2)
    program.calls = [
        {"%x": table, "%t": np.array(rows, np.int32)} for rows in ([0, 3], [4], [-1], [2, 2, 2], [3, 4])
    ]
    return program


def kinds_of(program: FuzzProgram) -> set[str]:
    fuzz = Fuzz()
    fuzz.check([program])
    return {kind for kind, *_ in fuzz.failures}


def test_an_oracle_that_is_off_by_one_is_noticed():
    assert kinds_of(program_of_a_gather(4)) == set()
    assert kinds_of(program_of_a_gather(5)) == {"false alarm"}
    assert kinds_of(program_of_a_gather(3)) == {"missed"}


def test_a_guard_that_asks_for_nothing_is_noticed(monkeypatch):
    def silent(*arguments, whole=gather_rules._elements):
        for requirement in whole(*arguments):
            yield type(requirement)(TRUE, requirement.sentence)

    monkeypatch.setattr(gather_rules, "_elements", silent)
    assert kinds_of(program_of_a_gather(4)) >= {"missed"}


def program_of_a_loaded_offset() -> FuzzProgram:
    """A computed part, written where an element says; all calls are legal."""
    program = FuzzProgram("p0", [("%x", "tensor<4xi32>"), ("%t", "tensor<2xi32>"), ("%n", "index")])
    program.lines = [
        "%c0 = arith.constant 0 : index",
        "%z = arith.constant 0 : i32",
        "%e = tensor.empty(%n) : tensor<?xi32>",
        "%f = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>",
        "%v = tensor.extract %t[%c0] : tensor<2xi32>",
        "%far = arith.index_cast %v : i32 to index",
        "%y = arith.addi %x, %x : tensor<4xi32>",
        "%r = tensor.insert_slice %y into %f[%far] [4] [1] : tensor<4xi32> into tensor<?xi32>",
    ]

    def run(v: Values) -> None:
        v["%r"] = np.zeros(v["%n"], np.int32)
        v["%r"][v["%t"][0] : v["%t"][0] + 4] = 2 * v["%x"]

    program.steps, program.result = [run], Array("%r", (None,), "i32")
    program.calls = [{"%x": np.arange(4, dtype=np.int32), "%t": np.array([2, 0], np.int32), "%n": 8}]
    return program


def test_an_offset_that_no_check_comes_before_is_noticed(monkeypatch):
    assert kinds_of(program_of_a_loaded_offset()) == set()
    monkeypatch.setattr(held_loads, "held_loads", lambda _extents, _conditions: [])
    assert kinds_of(program_of_a_loaded_offset()) == {"write before its check"}


def program_of_a_listed_size() -> FuzzProgram:
    """An op that nothing uses lists a size for an argument, and another op reads from the argument."""
    program = FuzzProgram("p0", [("%x", "tensor<?xi32>"), ("%n", "index"), ("%i", "index")])
    program.lines = [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%d = flow.tensor.slice %x[%c0 for %c1] : tensor<?xi32>{%n} -> tensor<?xi32>{%c1}",
        "%s = tensor.extract_slice %x[%i] [2] [1] : tensor<?xi32> to tensor<2xi32>",
        "%r = arith.addi %s, %s : tensor<2xi32>",
    ]

    def run(v: Values) -> None:
        require(v["%n"] == len(v["%x"]) and 0 <= v["%i"] <= len(v["%x"]) - 2)
        v["%r"] = 2 * v["%x"][v["%i"] : v["%i"] + 2]

    program.steps, program.result = [run], Array("%r", (2,), "i32")
    x = np.arange(4, dtype=np.int32)
    program.calls = [{"%x": x, "%n": n, "%i": i} for n, i in ((4, 2), (4, 3), (100, 0), (3, 1))]
    return program


def test_a_size_that_an_unused_op_lists_is_checked(monkeypatch):
    assert kinds_of(program_of_a_listed_size()) == set()
    monkeypatch.setattr(guard, "list_own_sizes", lambda _extents, _ops: None)
    assert kinds_of(program_of_a_listed_size()) == {"missed"}


def program_of_an_empty_slice() -> FuzzProgram:
    """A slice of no elements past the end of its source: nothing is read, and stock's runtime refuses to copy it."""
    program = FuzzProgram("p0", [("%x", "tensor<3xi32>"), ("%i", "index"), ("%n", "index")])
    program.lines = ["%r = tensor.extract_slice %x[%i] [%n] [1] : tensor<3xi32> to tensor<?xi32>"]

    def run(v: Values) -> None:
        require(v["%n"] == 0 or 0 <= v["%i"] <= 3 - v["%n"])
        v["%r"] = v["%x"][v["%i"] : v["%i"] + v["%n"]]

    program.steps, program.result = [run], Array("%r", (None,), "i32")
    x = np.arange(3, dtype=np.int32)
    program.calls = [{"%x": x, "%i": i, "%n": n} for i, n in ((4, 0), (1, 2), (2, 2))]
    return program


def test_what_stocks_runtime_refuses_is_no_false_alarm(monkeypatch):
    fuzz = Fuzz()
    fuzz.check([program_of_an_empty_slice()])
    assert not fuzz.failures
    assert fuzz.counts["calls that are legal, refused by stock's runtime too: OUT_OF_RANGE"] == 1
    monkeypatch.setattr(Fuzz, "_stock_runtime_refuses", lambda *_: False)
    assert kinds_of(program_of_an_empty_slice()) == {"false alarm"}


def program_of_a_chosen_size() -> FuzzProgram:
    """One of two arguments, read in a shape that only one length fits."""
    program = FuzzProgram("p0", [("%x", "tensor<?xi8>"), ("%y", "tensor<?xi8>"), ("%p", "i32")])
    program.lines = [
        "%c0 = arith.constant 0 : index",
        "%c5 = arith.constant 5 : index",
        "%z = arith.constant 0 : i32",
        "%first = arith.cmpi ne, %p, %z : i32",
        "%s = arith.select %first, %x, %y : tensor<?xi8>",
        "%n = tensor.dim %s, %c0 : tensor<?xi8>",
        "%q = flow.tensor.reshape %s : tensor<?xi8>{%n} -> tensor<?x2xi8>{%c5}",
        "%r = arith.addi %q, %q : tensor<?x2xi8>",
    ]

    def run(v: Values) -> None:
        chosen = v["%x"] if v["%p"] else v["%y"]
        require(len(chosen) == 10 and (v["%p"] != 0 or len(v["%y"]) <= len(v["%x"])))
        v["%r"] = 2 * chosen.reshape(5, 2)

    program.steps, program.result = [run], Array("%r", (None, 2), "i8")
    lengths = ((10, 10, 0), (10, 10, 1), (12, 10, 0), (12, 10, 1), (10, 4, 1), (10, 4, 0))
    program.calls = [
        {"%x": np.arange(x, dtype=np.int8), "%y": np.ones(y, np.int8), "%p": p} for x, y, p in lengths
    ]
    return program


def test_the_size_of_a_chosen_tensor_is_checked_before_the_choice():
    assert kinds_of(program_of_a_chosen_size()) == set()


CHILD = """import json, os, signal, sys
first, count, calls, *only = map(int, sys.argv[1:])
numbers = only or range(count)
print(json.dumps([f"program {n}" for n in numbers]), flush=True)
if {1, 3} & set(numbers):
    os.kill(os.getpid(), signal.SIGFPE)
print(json.dumps({"counts": {"programs run": len(numbers)}, "failures": []}))
"""


def test_a_crash_is_named_and_ends_no_other_program():
    def stock(text: str) -> str:
        return "was ended by SIGFPE" if text == "program 3" else ""

    outcome = check_batch(60, 5, 1, child=(sys.executable, "-c", CHILD), stock_crashes=stock)
    assert outcome.counts == {
        "programs run": 3,
        "FAILED: crash": 1,
        "programs that crash stock's compiler too": 1,
    }
    assert outcome.stock_crashes == ["p63 was ended by SIGFPE"]
    ((kind, _, message, text),) = outcome.failures
    assert (kind, text) == ("crash", "program 1") and message.startswith("p61 (batch 60) was ended by SIGFPE")


def test_stocks_crash_is_known_from_a_program_that_it_compiles():
    text = """func.func @p0(%x: tensor<Nx2xi32>, %t: tensor<3xi32>) -> tensor<3x2xi32> {
  %e = tensor.empty() : tensor<3x2xi32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %t : tensor<Nx2xi32>, tensor<3xi32>)
      outs(%e : tensor<3x2xi32>) -> tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}"""
    assert stock_crash(text.replace("N", "0")) == "was ended by SIGFPE"
    assert stock_crash(text.replace("N", "4")) == ""
