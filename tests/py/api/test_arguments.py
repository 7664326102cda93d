"""Arguments that a caller got wrong: one error with a way out, before anything is compiled."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import fissile
from fissile.errors import FissileError, UsageError
from fissile.finding import Finding, Help, Place
from fissile.report import Report

ADD = """\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TWO = ADD + ADD.replace("@main", "@other")
FOUR = np.arange(4, dtype=np.float32)
MODULE = fissile.Result(Report("compile"), b"a module")


@pytest.mark.parametrize(
    "call, message, hint",
    [
        (
            lambda: fissile.compile(ADD, target=["gfx942", "vulkan"]),
            "takes one target",
            "fissile.check takes many",
        ),
        (lambda: fissile.compile(ADD, target=7), "target is 7, of type int", "gfx942"),
        (lambda: fissile.compile(ADD, "llvm-cpu"), "the name of a target", "target='llvm-cpu'"),
        (lambda: fissile.compile(ADD, 7, target="llvm-cpu"), "output is 7", "output='model.vmfb'"),
        (lambda: fissile.compile(ADD, flags="--a --b"), "flags is '--a --b', of type str", "list of strings"),
        (lambda: fissile.compile(ADD, flags=[7]), "flags holds 7", "list of strings"),
        (lambda: fissile.compile("", target="llvm-cpu"), "an empty string", "give a path"),
        (lambda: fissile.compile("none.mlir", target="llvm-cpu"), "no such file: none.mlir", "is a path"),
        (lambda: fissile.check(ADD, 7), "target is 7", "gfx942"),
        (lambda: fissile.check(ADD, ["gfx942", None]), "target is of type NoneType", "gfx942"),
        (lambda: fissile.check(ADD, []), "no target", "gfx942"),
        (lambda: fissile.check(ADD, "gfx942", budget=-1), "'-1' is not a number of bytes", "64K"),
        (lambda: fissile.check(ADD, "gfx942", budget=1.5), "budget is 1.5", "budget=65536"),
        (lambda: fissile.check(ADD, "gfx942", dispatch_timeout="x"), "dispatch_timeout='x'", "0 is no limit"),
        (lambda: fissile.check(ADD, "gfx942", baseline=7), "baseline is 7", "give a path"),
        (lambda: fissile.check(ADD, "gfx942", flags="--a"), "flags is '--a'", "list of strings"),
        (lambda: fissile.verify("none.mlir"), "no such file: none.mlir", "is a path"),
        (lambda: fissile.verify(ADD, expected=[FOUR]), "expected needs the inputs", "inputs="),
        (
            lambda: fissile.verify(ADD, inputs=[FOUR], expected=[FOUR], reference=max),
            "both say",
            "one of them",
        ),
        (lambda: fissile.verify(ADD, reference=3), "of type int, not a function", "expected="),
        (lambda: fissile.verify(ADD, inputs=7), "inputs is of type int", "inputs=[x, y]"),
        (lambda: fissile.verify(ADD, inputs=[FOUR, {}]), r"inputs\[1\] is not an array", "give arrays"),
        (lambda: fissile.verify(ADD, seeds=0), "seeds=0 tries nothing", "1 or more"),
        (lambda: fissile.verify(ADD, tolerance="near"), "'near' is not a tolerance", "ABSOLUTE"),
        (lambda: fissile.verify(ADD, timeout=float("nan")), "timeout=nan", "timeout=60"),
        (lambda: fissile.verify(ADD, timeout=-1), "timeout=-1", "timeout=60"),
        (
            lambda: MODULE.run(FOUR, timeout=0),  # a deadline under test
            "timeout=0 is not a number of seconds",
            "timeout=60",
        ),
        (lambda: MODULE.save(3), "file is 3", "give a path"),
        (lambda: fissile.compile(ADD, guard="asert"), "^guard: unknown value 'asert'", "'assert'"),
        (lambda: fissile.verify(ADD, inputs=[FOUR]), "takes 2 inputs, 1 was given", "inputs=[x, y]"),
        (lambda: fissile.verify(TWO), "has 2 public functions", "name one: function='NAME'"),
        (
            lambda: fissile.check(ADD, "gfx942", baseline="/nowhere/b.json"),
            "cannot read the baseline",
            "update_baseline=True writes one",
        ),
        (lambda: fissile.Report.from_json({"a": 1}), "not a report .*: .*`command`", "Report.to_json"),
        (lambda: fissile.Report.from_json([]), "not a report .*: Expected `object`", "Report.to_json"),
        (lambda: fissile.compile(ADD, "-", target="llvm-cpu"), "output is '-'", "bytes of result.vmfb"),
        (lambda: fissile.compile(ADD, flags=["-o", "x"]), "'-o', which is of the command", "second argument"),
        (lambda: fissile.compile(ADD, flags=["--output=x"]), "'--output=x', which is of", "second argument"),
        (lambda: fissile.compile(ADD, flags=["--report=x.html"]), "is of the command alone", "result.html()"),
        (lambda: fissile.compile(ADD, flags=["--help"]), "is of the command alone", "help(fissile.compile)"),
        (
            lambda: fissile.compile(ADD, flags=["--a=\udcff"]),
            r"holds '--a=\\udcff', which is no text",
            "bytes",
        ),
        (lambda: fissile.compile("// \udcff{\n", target="llvm-cpu"), "the program is no text", "as bytes"),
        (
            lambda: fissile.compile(ADD, "a\udcff", target="llvm-cpu"),
            "output is .*, which is no text",
            "bytes",
        ),
        (
            lambda: fissile.check(ADD, "llvm-cpu", update_baseline=True),
            "update_baseline=True needs a file",
            "baseline='bytes.json'",
        ),
        (lambda: fissile.verify(ADD, function=3), "function is 3, of type int", "function='main'"),
        (lambda: fissile.verify(ADD, on=3), "on is 3, of type int", "['local-task']"),
        (lambda: fissile.verify(ADD, on=[3]), "on holds 3, of type int", "['local-task']"),
        (lambda: fissile.verify(ADD, seeds="x"), "seeds is 'x', of type str", "list of seeds"),
        (lambda: fissile.verify(ADD, seeds=[1.5]), "seeds holds 1.5, which is no seed", "an integer"),
        (lambda: fissile.verify(ADD, seeds=[-1]), "seeds holds -1, which is no seed", "0 or more"),
        (lambda: fissile.verify(ADD, seeds=10**9), "seeds=1000000000 are more than", "list of seeds"),
        (lambda: MODULE.run(FOUR, function=3), "function is 3, of type int", "function='main'"),
        (lambda: MODULE.run(FOUR, runtime=3), "runtime is 3, of type int", "runtime='local-task'"),
        (lambda: fissile.register_pass(7), "7 is not a class", "@register_pass"),
    ],
)
def test_a_wrong_argument_is_named_with_a_way_out(call, message, hint):
    with pytest.raises(UsageError, match=message) as refused:
        call()
    assert hint in refused.value.hint
    assert "--" not in refused.value.hint.replace("--format=json wrote", ""), "an option of a command"


def test_one_array_stands_for_a_list_of_it_and_plain_numbers_for_arrays():
    from fissile.api.verifying import _arrays

    assert [a.tolist() for a in _arrays(FOUR, "inputs")] == [[0, 1, 2, 3]]
    assert [a.tolist() for a in _arrays([[1.0, 2.0], 3], "inputs")] == [[1, 2], 3]
    assert _arrays(None, "inputs") is None


def test_seeds_are_a_number_of_them_or_the_seeds():
    from fissile.api.arguments import seeds_of

    assert seeds_of(2) == seeds_of(np.int64(2)) == (0, 1)
    assert seeds_of([3, 5]) == seeds_of(np.array([3, 5])) == seeds_of(iter((3, 5))) == (3, 5)


def test_programs_in_memory_have_names_of_their_own(tmp_path):
    from fissile.api.programs import program_file

    with program_file(ADD, "first") as one, program_file(ADD.encode(), "second") as two:
        assert (one.path.name, two.path.name) == ("first.mlir", "second.mlir")


def test_the_report_of_a_refusal_reads_as_text():
    place = Place("model.mlir", 3, 7)
    helps = (Help("keep it out of the dispatch"),)
    report = Report("compile", (Finding("FIS101", "needs 9 bytes", places=(place,), helps=helps),))
    assert str(report) == (
        "error[FIS101] needs 9 bytes\n  --> model.mlir:3:7\nhelp: keep it out of the dispatch"
    )
    assert str(Report("compile")) == "no findings"


def test_errors_are_reached_without_an_import_of_their_own():
    done = subprocess.run(
        [sys.executable, "-c", "import fissile; print(fissile.errors.UsageError.__mro__[1].__name__)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == FissileError.__name__, done.stderr
