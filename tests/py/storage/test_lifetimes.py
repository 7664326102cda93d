"""Releases in random programs: placed right, found where they are wrong, and the interpreter that judges is judged too."""

from collections import Counter

import pytest
from iree.compiler import ir

from bench.lifetime import suite
from bench.lifetime.buffers import Misuse
from bench.lifetime.interpreter import call
from bench.lifetime.programs import program
from fissile.passes.analysis.lifetime.module import lifetimes_of
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.remedies.lifetime.insert_kills import InsertKills


@pytest.fixture(scope="module")
def context():
    return suite.new_context()


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_programs(first, context):
    count = Counter()
    for seed in range(first, first + 10):
        one = program(seed, straight=seed % 5 == 0, dynamic=seed % 5 in (3, 4))
        assert suite.check_program(one, count, 3, context) == [], f"program {seed}"
    assert count["releases"] > 50
    assert count["dropped"] and count["doubled"]


@pytest.mark.parametrize(
    "body, complaint",
    [
        ("memref.dealloc %a : memref<8xf32>\n %l = memref.load %a[%i] : memref<8xf32>", "used after"),
        ("memref.dealloc %a : memref<8xf32>\n memref.dealloc %a : memref<8xf32>", "released twice"),
        ("%s = memref.alloca() : memref<8xf32>\n memref.dealloc %s : memref<8xf32>", "not allocated"),
    ],
)
def test_the_interpreter_refuses_misuse(body, complaint, context):
    text = f"func.func @main(%i: index) {{ %a = memref.alloc() : memref<8xf32>\n {body}\n return }}"
    with pytest.raises(Misuse, match=complaint):
        call(ir.Module.parse(text, context=context).operation, "main", [0])


def test_the_interpreter_sees_leaks_and_the_peak(context):
    text = """func.func @main() {
      %a = memref.alloc() : memref<8xf32>
      memref.copy %a, %a : memref<8xf32> to memref<8xf32>
      %b = memref.alloc() : memref<4xf32>
      memref.dealloc %b : memref<4xf32>
      return }"""
    run = call(ir.Module.parse(text, context=context).operation, "main", [])
    assert (len(run.leaked), run.peak, run.least_peak) == (1, 48, 32)


def test_the_peak_is_that_of_the_run(context):
    """The walk's peak of a program without control flow is the interpreter's, and so is the lower bound."""
    for seed in range(0, 40, 5):
        module = ir.Module.parse(program(seed, straight=True).text, context=context).operation
        for released in (
            False,
            True,
        ):  # what leaks is out of the walk's sight, so only the bound is its own then
            walk = next(one for one in lifetimes_of(module) if one.name == "main").walk
            run = call(module, "main", (True, True, 1))
            assert walk.bound.needed.value == run.least_peak
            assert not released or walk.peak.live.value == run.peak == run.least_peak
            with context, ir.Location.unknown(context):
                InsertKills().run(module, pytest.fail)


def test_unknown_sizes_are_a_value(context):
    text = """func.func @main(%n: index) {
      %a = memref.alloc(%n) : memref<?xf32>
      memref.dealloc %a : memref<?xf32>
      return }"""
    [one] = lifetimes_of(ir.Module.parse(text, context=context).operation)
    assert one.walk.peak.live.value is None
    assert not one.walk.troubles


def test_too_many_states_are_not_decided(context, monkeypatch):
    from fissile.passes.analysis.lifetime import explore

    monkeypatch.setattr(explore.walk, "__defaults__", (3,))
    module = ir.Module.parse(program(1).text, context=context).operation
    assert any(f.code == "FIS309" for f in lifetime_findings(module))


CALLED_TWICE = """
func.func private @made() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}
func.func @main(%c: i1) {
  %a = func.call @made() : () -> memref<4xf32>
  RELEASE
  %b = func.call @made() : () -> memref<4xf32>
  return
}
"""


@pytest.mark.parametrize(
    ("release", "codes"),
    [("", ["FIS301"]), ("scf.if %c { memref.dealloc %a : memref<4xf32> }", ["FIS304"])],
)
def test_one_allocation_that_leaks_for_two_calls_is_one_finding(context, release, codes):
    module = ir.Module.parse(CALLED_TWICE.replace("RELEASE", release), context)
    assert [f.code for f in lifetime_findings(module.operation)] == codes
