"""The support table: what is compiled together, whom an error blames, what counts as right, and what a user reads."""

from __future__ import annotations

import json

import numpy as np
import pytest
from programs import run_program

from bench.support_table import whose_result
from fissile.finding import Place
from fissile.pipelines.report.support_table import mark, support_markdown
from fissile.pipelines.support import arithmetic, kept, measure
from fissile.pipelines.support.all_programs import all_programs
from fissile.pipelines.support.batch import Batch, blamed
from fissile.pipelines.support.measure import CRASHES, REFUSED, RIGHT, WRONG, YES, Cell
from fissile.pipelines.support.programs import Program

ONE = "func.func @main() {\n  return\n}\n"
TWO = "func.func @main(%a: i32) {\n\n  return\n}\n"


def test_a_batch_is_one_module_and_knows_whose_line_is_whose():
    batch = Batch((("a", ONE), ("b", TWO), ("c", ONE)))
    assert [line for line in batch.text().splitlines() if "@f" in line] == [
        "func.func @f0() {",
        "func.func @f1(%a: i32) {",
        "func.func @f2() {",
    ]
    assert [batch.index_at(line) for line in (1, 3, 4, 7, 8, 10, 11)] == [0, 0, 1, 1, 2, 2, None]
    assert blamed(batch, [Place("m", 9, 1), Place("m", 2, 3), Place("m", 99, 1)]) == [0, 2]


def test_what_an_error_names_is_compiled_alone_and_otherwise_the_halves():
    batch = Batch((("a", ONE), ("b", ONE), ("c", ONE)))
    assert [part.keys for part in batch.split([1])] == [["a", "c"], ["b"]]
    assert [part.keys for part in batch.split([])] == [["a"], ["b", "c"]]
    assert [part.keys for part in batch.split([0, 1, 2])] == [["a"], ["b"], ["c"]]


def test_what_one_error_says_of_one_function_is_its_verdict_and_the_rest_is_compiled_again():
    batch = Batch((("a", ONE), ("b", TWO), ("c", ONE)))  # lines 1-3, 4-7, 8-10

    def judged(*errors):
        refused, queue = batch.refused(
            [(why, [Place("m", line, 1) for line in lines]) for why, lines in errors]
        )
        return refused, [part.keys for part in queue]

    assert judged(("no", [5]), ("and more", [6])) == ({"b": "no"}, [["a", "c"]])
    assert judged(("both", [5, 9])) == ({}, [["a"], ["b"], ["c"]])
    assert judged(("no", [9]), ("both", [2, 5])) == ({"c": "no"}, [["a"], ["b"]])
    assert judged(("the module", [1])) == ({}, [["b", "c"], ["a"]])
    assert judged(("nowhere", [])) == ({}, [["a"], ["b", "c"]])
    assert judged(("x", [2]), ("y", [5]), ("z", [8])) == ({"a": "x", "b": "y", "c": "z"}, [])


def test_every_program_is_once_in_the_table_and_its_arguments_are_those_of_its_text():
    programs = list(all_programs())
    assert len({one.key for one in programs}) == len(programs) > 1000
    for one in programs:
        assert one.text.startswith("func.func @main(") and one.text.count("@main") == 1
        if one.reference:
            head = one.text.partition("->")[0]
            assert head.count("tensor<") == len(one.shapes), one.key


@pytest.mark.parametrize(
    "reference", [*arithmetic.FLOAT_UNARY, *arithmetic.FLOAT_BINARY, "matmul", "attention"]
)
def test_what_numpy_computes_is_right_and_anything_else_is_wrong(reference):
    shapes = {"matmul": [(4, 8), (8, 4)], "attention": [(1, 2, 4)] * 3}.get(reference, [(8,), (8,)])
    shapes = shapes[:1] if reference in arithmetic.FLOAT_UNARY else shapes
    arrays = arithmetic.inputs(shapes, "f32", reference)
    right = arithmetic.expected(reference, arrays, "f32")
    assert np.isfinite(right).all()
    assert arithmetic.agrees(right.astype(np.float32), right, "f32")
    assert not arithmetic.agrees((right * 1.01 + 0.01).astype(np.float32), right, "f32")


@pytest.mark.parametrize(("element", "unit"), [("f16", 2.0**-10), ("f32", 2.0**-23), ("bf16", 2.0**-7)])
def test_rounding_is_judged_in_units_of_the_element_type(element, unit):
    near, far = np.array([1.0 + 2 * unit]), np.array([1.0 + 17 * unit])
    right = np.array([1.0])
    assert arithmetic.agrees(near, right, element, "tanh") and not arithmetic.agrees(
        far, right, element, "tanh"
    )
    assert not arithmetic.agrees(near, right, element, "floor")  # rounds nothing
    assert arithmetic.agrees(np.array([1.0]), np.array([1.0 + unit / 4]), element, "mulf")  # rounded once


@pytest.mark.parametrize(("element", "least"), [("i8", -128), ("i4", -8), ("i32", -(2**31))])
def test_whole_numbers_wrap_as_their_type_does(element, least):
    arrays = [np.array([-least - 1]), np.array([1])]
    assert arithmetic.expected("addi", arrays, element).tolist() == [least]


CELLS = [
    (Cell("op", "f32", YES, YES, numbers=RIGHT), "right"),
    (Cell("op", "f64", YES, YES, numbers=RIGHT, runs_in="f32"), "right (f32)"),
    (Cell("op", "f16", YES, YES), "yes"),
    (Cell("op", "bf16", YES, YES, numbers=WRONG, repaired_numbers=WRONG), "wrong"),
    (Cell("op", "bf16", YES, YES, numbers=WRONG, repaired_numbers=RIGHT), "fissile"),
    (Cell("op", "bf16", YES, REFUSED, numbers=WRONG), "withheld"),
    (Cell("op", "i8", REFUSED, YES, "why"), "fissile"),
    (Cell("op", "i8", REFUSED, YES, "why", repaired_numbers=WRONG, runs_in="i32"), "wrong (i32)"),
    (Cell("op", "i4", CRASHES, REFUSED, "why"), "no"),
]


@pytest.mark.parametrize(("cell", "expected"), CELLS)
def test_what_a_cell_says(cell, expected):
    assert mark(cell) == expected


def test_a_table_has_a_row_for_each_op_and_a_blank_where_there_is_none():
    text = support_markdown([Cell("a", "f32", YES, YES), Cell("b", "i8", YES, YES)])
    assert "| a | yes |  |" in text and "| b |  | yes |" in text


def test_what_was_measured_is_kept_until_its_program_changes(tmp_path):
    old, new = Program("op", "f32", ONE), Program("op", "f32", TWO)
    file, cell = tmp_path / "cells.json", Cell("op", "f32", YES, YES)
    kept.keeper(file, [old])([cell])
    assert kept.read(file, [old]) == {"op f32": cell} and kept.read(file, [new]) == {}
    file.write_text("[{")
    assert kept.read(file, [old]) == {}


def test_a_crash_costs_only_the_program_that_crashes(monkeypatch, tmp_path):
    """A compiler that is gone as soon as it meets one program."""

    def run_child(command, _seconds):
        job = json.loads(open(command[-1], encoding="utf-8").read())
        with open(job["results"], "a", encoding="utf-8") as out:
            for programs in job["batches"]:
                keys = [key for key, _text in programs]
                print(json.dumps({"begins": keys}), file=out)
                if "bad f32" in keys:
                    return
                for key in keys:
                    print(json.dumps({"key": key, "state": YES}), file=out)

    monkeypatch.setattr(measure, "run_child", run_child)
    monkeypatch.setattr(measure, "_here", lambda: iter(()))
    programs = [Program(name, "f32", ONE) for name in ("a", "b", "bad", "c", "d")]
    found = measure._stock(programs, (), tmp_path)
    assert {key: one["state"] for key, one in found.items()} == {
        "a f32": YES,
        "b f32": YES,
        "bad f32": CRASHES,
        "c f32": YES,
        "d f32": YES,
    }


def test_a_user_gets_what_stock_and_fissile_do(tmp_path):
    ops = ["math.erfc", "math.sqrt", "iree_linalg_ext.sort"]
    words = ["fissile", "support", "--target=llvm-cpu", *(f"--op={op}" for op in ops), "--element=f32"]

    def printed(*more):
        options = {"capture_output": True, "text": True, "env": {"FISSILE_CACHE": str(tmp_path)}}
        done = run_program([*words, *more], **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    cells = {cell["op"]: cell for cell in json.loads(printed("--format=json"))["cells"]}
    assert (cells["math.erfc"]["stock"], cells["math.erfc"]["fissile"]) == (REFUSED, YES)
    assert "math.erfc" in cells["math.erfc"]["why"]
    assert cells["math.sqrt"]["numbers"] == cells["iree_linalg_ext.sort"]["numbers"] == RIGHT
    lines = [line.split() for line in printed().splitlines()]  # from the cache
    assert ["math.erfc", "fissile"] in lines and ["math.sqrt", "right"] in lines


def test_an_unknown_op_is_a_usage_error():
    done = run_program(
        ["fissile", "support", "--target=llvm-cpu", "--op=linalg.matmull"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "linalg.matmul" in done.stderr


def test_named_ops_of_linalg_are_logical_on_booleans():
    two = np.ones((2, 2), bool)
    assert arithmetic.expected("matmul", [two, two], "i1").all()  # 1 and 1, or 1 and 1
    assert not arithmetic.expected("sum", [two], "i1").any()  # 1 + 1 of `arith.addi`


@pytest.mark.parametrize(
    ("repaired", "elsewhere", "words"),
    [
        (RIGHT, RIGHT, ("1 of the 1", "and 1 where", "code which stock IREE generates")),
        (RIGHT, "", ("1 of the 1", "and 0 where", "code which stock IREE generates")),
        (WRONG, RIGHT, ("0 of the 1", "and 1 where", "is not known")),
    ],
)
def test_whose_result_is_wrong_is_read_from_the_same_driver_and_another_target(repaired, elsewhere, words):
    cell = Cell("math.exp", "f16", YES, YES, numbers=WRONG, repaired_numbers=repaired)
    other = Cell("math.exp", "f16", YES, YES, numbers=elsewhere)
    assert all(word in whose_result([cell], [other]) for word in words)
    assert whose_result([other], [cell]) == ""


def test_onnx_models_are_in_modules_of_their_own():
    """IREE rejects a module in which some functions are ONNX models, and others are not."""
    programs = list(all_programs())
    batches = measure.batches_of(programs)
    assert [one for batch in batches for one in batch] == programs
    assert all(len({one.declares_opset for one in batch}) == 1 for batch in batches)
    assert {batch[0].declares_opset for batch in batches} == {True, False}
    assert max(map(len, batches)) <= measure.PROGRAMS_PER_BATCH


def test_a_byte_that_is_no_truth_value_is_wrong():
    right = np.array([True, False, True])
    assert arithmetic.agrees(np.uint8([1, 0, 1]).view(bool), right, "i1")
    assert not arithmetic.agrees(np.uint8([1, 0, 6]).view(bool), right, "i1")
