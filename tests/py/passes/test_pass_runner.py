"""Mixed pipelines on a live module: who runs what on which op, and what a user's mistake becomes."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from iree.compiler import ir

from fissile.dialect import ops_of, register
from fissile.errors import InternalError, UsageError
from fissile.finding import Finding, Severity
from fissile.passes import catalogue, definition
from fissile.passes.definition import Pass, PassFailed, option, register_pass
from fissile.passes.iree.library import Session
from fissile.pipelines.pass_runner import run_pipeline, uses_fissile_passes

BARRIER = "iree_tensor_ext.compute_barrier.start"
SEEN: list[str] = []
SESSION = Session()

TWO_FUNCTIONS = """
func.func @f(%a: i32) -> i32 {
  %x = arith.constant 1 : i32
  %y = arith.constant 1 : i32
  return %a : i32
}
func.func @g(%a: i1) {
  %x = arith.constant 1 : i32
  return
}
"""


@pytest.fixture(autouse=True)
def passes(monkeypatch):
    for name in catalogue.built_in():
        catalogue.find_pass(name)
    monkeypatch.setattr(definition, "_PASSES", dict(definition._PASSES))
    SEEN.clear()

    @register_pass
    @dataclass(frozen=True)
    class Look(Pass):
        """Notes which function it sees with how many ops."""

        name: ClassVar[str] = "test-look"
        anchor: ClassVar[str] = "func.func"
        mark: str = option("", "what to write before it")

        def run(self, op, report):
            count = len(list(op.regions[0].blocks[0].operations))
            SEEN.append(f"{self.mark}{ir.StringAttr(op.attributes['sym_name']).value}{count}")

    @register_pass
    @dataclass(frozen=True)
    class Break(Pass):
        """Does what its option says."""

        name: ClassVar[str] = "test-break"
        how: str = option("", "throw, unverifiable, unregistered, tell, stop or usage")

        def run(self, op, report):
            function = ops_of(op, "func.func")[0]
            start = ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0])
            if self.how == "throw":
                raise RuntimeError("two\nlines")
            if self.how == "unverifiable":
                function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
            if self.how == "unregistered":
                value = function.regions[0].blocks[0].arguments[0]
                ir.Operation.create(BARRIER, [value.type], [value], ip=start)
            if self.how == "tell":
                report(Finding("FIS003", "reported", Severity.NOTE))
            if self.how == "stop":
                raise PassFailed([Finding("FIS003", "stopped")])
            if self.how == "usage":
                raise UsageError("an option does not fit", "another one")


def parsed(text=TWO_FUNCTIONS, context=None):
    context = context or SESSION.context
    register(context)
    return ir.Module.parse(text, context=context).operation


def run(pipeline, op=None, **kwargs):
    reported = []
    run_pipeline(pipeline, op if op is not None else parsed(), report=reported.append, **kwargs)
    return [finding.message for finding in reported]


def test_passes_run_in_order_and_a_nest_takes_one_op_after_the_other():
    run("builtin.module(func.func(test-look{mark=1:},cse,test-look{mark=2:}),func.func(test-look))")
    # cse removes the unused constants; f is done before g begins, in each nest.
    assert SEEN == ["1:f3", "2:f1", "1:g2", "2:g1", "f1", "g1"]


def test_any_matches_every_op_and_a_pass_takes_those_it_is_made_for():
    run("any(any(test-look))")
    assert SEEN == ["f3", "g2"]


def test_a_nest_that_matches_nothing_runs_nothing():
    run("builtin.module(hal.executable(any(test-look)),func.func(func.func(test-look)))")
    assert SEEN == []


def test_watching_contracts_does_not_change_what_runs():
    run("builtin.module(func.func(test-look,cse,test-look),func.func(canonicalize),func.func(test-look))")
    plain = list(SEEN)
    SEEN.clear()
    run(
        "builtin.module(func.func(test-look,cse,test-look),func.func(canonicalize),func.func(test-look))",
        verify_contracts=True,
    )
    assert SEEN == plain


def test_findings_reach_the_reporter_and_a_stop_carries_its_own():
    assert run("builtin.module(test-break{how=tell},test-break{how=tell})") == ["reported", "reported"]
    with pytest.raises(PassFailed) as stopped:
        run("builtin.module(test-break{how=stop},func.func(test-look))")
    assert stopped.value.message == "stopped" and stopped.value.exit_code == 1
    assert SEEN == []


@pytest.mark.parametrize(
    "pipeline, message, hint",
    [
        (
            "builtin.module(func.func(test-look),fissile-lower-boundary)",
            "unknown pass 'fissile-lower-boundary'",
            "did you mean 'fissile-lower-boundaries'?",
        ),
        ("builtin.module(canonicalise,cse)", "unknown pass 'canonicalise'", "did you mean 'canonicalize'?"),
        (
            "builtin.module(func.func(iree-codegen-canonicalise))",
            "unknown pass 'iree-codegen-canonicalise'",
            "did you mean 'iree-codegen-canonicalize'?",
        ),
        (
            "builtin.module(func.func(test-look,nonesuch))",
            "unknown pass 'nonesuch'",
            "`fissile passes` lists fissile's",
        ),
        (
            "builtin.module(func.func(test-look),cse{x=1})",
            "pass 'cse' does not take the options 'x=1'",
            "no such option x",
        ),
        (
            "builtin.module(func.func(test-look),canonicalize{max-iterations=x})",
            "pass 'canonicalize' does not take the options 'max-iterations=x'",
            "max-iterations: 'x' value invalid for long argument",
        ),
        ("builtin.module(func.func(test-look{x=1}))", "pass 'test-look' has no option 'x'", "known: mark"),
        (
            "builtin.module(func.func(test-look),test-look)",
            "pass 'test-look' runs on func.func, not on builtin.module",
            "move it into func.func(…)",
        ),
        (
            "func.func(test-look)",
            "the pipeline runs on func.func, the input is a builtin.module",
            "write builtin.module(func.func(…))",
        ),
        ("builtin.module(test-break{how=usage})", "an option does not fit", "another one"),
    ],
)
def test_a_wrong_pipeline_is_refused_before_anything_runs(pipeline, message, hint):
    with pytest.raises(UsageError) as refused:
        run(pipeline)
    assert refused.value.message.startswith(message) and hint in refused.value.hint
    assert SEEN == []


def test_a_pass_that_throws_is_an_internal_error_in_one_line():
    with pytest.raises(InternalError) as broken:
        run("builtin.module(test-break{how=throw})")
    assert broken.value.message == "pass 'test-break' failed: RuntimeError: two lines"
    assert broken.value.exit_code == 3


def test_a_pass_that_leaves_wrong_ir_is_named():
    with pytest.raises(InternalError, match="pass 'test-break' left IR that does not verify: "):
        run("builtin.module(test-break{how=unverifiable})")


def test_a_pass_that_builds_ops_of_a_dialect_it_does_not_name_is_named():
    # In a context of its own, where nothing has loaded the dialect: else the op would be registered.
    op = parsed("func.func @g(%a: tensor<4xf32>) { return }", Session().context)
    with pytest.raises(InternalError, match=f"'test-break' made unregistered ops: {BARRIER}") as broken:
        run("builtin.module(test-break{how=unregistered})", op)
    assert "`dialects`" in broken.value.hint


def test_irees_own_failure_is_a_finding_with_irees_words_and_place():
    with pytest.raises(PassFailed) as failed:
        run("builtin.module(iree-codegen-linalg-to-spirv-pipeline,func.func(test-look))")
    finding = failed.value.findings[0]
    assert finding.code == "FIS002" and finding.message == "missing storage class map for unknown client API"
    assert str(finding.places[0]) in ("-:2:1", "-:7:1")
    assert finding.notes == ("while running builtin.module(iree-codegen-linalg-to-spirv-pipeline)",)


@pytest.mark.parametrize(
    "text, ours",
    [
        ("builtin.module(cse)", False),
        ("builtin.module(func.func(cse,test-look))", True),
        ("builtin.module(fissile-check-leftovers)", True),
        ("builtin.module(fissile-nonesuch)", False),
    ],
)
def test_whether_a_pipeline_needs_fissile_is_read_from_its_text(text, ours):
    assert uses_fissile_passes(text) is ours
