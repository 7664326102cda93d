"""The first programs of `python -m bench.storage_fuzz`, and a guard that is wrong on purpose."""

from __future__ import annotations

from fissile.passes.analysis import gather_rules
from fissile.passes.analysis.conditions import TRUE
from storage_fuzz import Fuzz
from storage_fuzz_programs import FuzzProgram, Values
from storage_oracle import require


def test_random_programs_keep_to_the_oracle():
    fuzz = Fuzz(batch=24)
    fuzz.run(48, calls=5)
    assert not fuzz.failures, "\n".join("\n".join(row) for row in fuzz.failures[:3])
    assert fuzz.counts["calls that are legal, same numbers"] > 40
    assert fuzz.counts["calls that violate, refused: FAILED_PRECONDITION"] > 40


def program_of_a_gather(limit: int) -> FuzzProgram:
    """Rows of a table by number; the oracle takes the table to have ``limit`` rows."""
    import numpy as np

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

    from storage_fuzz_programs import Array

    program.steps, program.result = [run], Array("%r", (None, 2), "i32")
    table = np.arange(8, dtype=np.int32).reshape(4, 2)
    program.calls = [{"%x": table, "%t": np.array(rows, np.int32)} for rows in ([0, 3], [4], [-1], [2, 2, 2], [3, 4])]
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
