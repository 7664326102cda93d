"""Do passes chain? Refused before anything runs, or caught where a pass breaks what it must keep."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from iree.compiler import ir

from fissile.dialect import ops_of, register
from fissile.passes import catalogue, definition
from fissile.passes.definition import Contract, Offence, Pass, PassFailed, define_property, register_pass
from fissile.passes.iree import pass_contracts
from fissile.pipelines.contracts import establishers, unmet_requirements
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.textual import parse_pipeline

RAN: list[str] = []


@pytest.fixture(autouse=True)
def passes(monkeypatch):
    """Passes that add, remove and need marks (attributes `test.a`), registered for one test."""
    for name in catalogue.built_in():
        catalogue.find_pass(name)
    monkeypatch.setattr(definition, "_PASSES", dict(definition._PASSES))
    monkeypatch.setattr(definition, "_PROPERTIES", dict(definition._PROPERTIES))
    RAN.clear()

    marked = define_property("test-marked", "every function has a mark")(
        lambda op: [
            Offence("a function has no mark") for f in ops_of(op, "func.func") if "test.a" not in f.attributes
        ]
    )

    def make(pass_name, pass_contract, change):
        @register_pass
        @dataclass(frozen=True)
        class Made(Pass):
            """A pass of this test."""

            name: ClassVar[str] = pass_name
            contract: ClassVar[Contract] = pass_contract

            def run(self, op, report):
                RAN.append(pass_name)
                for function in ops_of(op, "func.func"):
                    change(function.attributes)

    def mark(attributes):
        attributes["test.a"] = ir.UnitAttr.get()

    def unmark(attributes):
        del attributes["test.a"]

    make("test-mark", Contract(establishes=(marked,)), mark)
    make("test-use", Contract(requires=(marked,)), lambda attributes: None)
    make("test-unmark", Contract(invalidates=(marked,)), unmark)
    make("test-unmark-quietly", Contract(), unmark)
    make("test-mark-not-at-all", Contract(establishes=(marked,)), lambda attributes: None)
    return marked


def module(text="func.func @f() { return }"):
    context = ir.Context()
    register(context)
    return ir.Module.parse(text, context=context).operation


def findings(pipeline, op=None):
    return [(f.code, f.message, f.notes) for f in unmet_requirements(parse_pipeline(pipeline), op)]


def test_a_pipeline_that_chains_has_no_finding():
    assert findings("builtin.module(test-mark,test-use)", module()) == []
    assert findings("builtin.module(test-mark,test-unmark,test-mark,any(cse),test-use)", module()) == []
    assert findings("builtin.module(test-use)", module("func.func @f() attributes {test.a} { return }")) == []
    # Without a module, what is required at the start is taken to hold.
    assert findings("builtin.module(test-use)") == []


def test_a_requirement_that_nothing_establishes_names_the_pass_that_would():
    [(code, message, notes)] = findings("builtin.module(cse,test-use)", module())
    assert code == "FIS501"
    assert message == "pass 'test-use' requires test-marked, and nothing before it establishes that"
    assert notes == (
        "test-marked: every function has a mark",
        "run test-mark or test-mark-not-at-all before it",
        "a function has no mark",
    )


def test_a_requirement_that_a_pass_in_between_breaks_names_that_pass():
    [(code, message, notes)] = findings("builtin.module(test-mark,test-unmark,test-use)")
    assert code == "FIS501"
    assert message == "pass 'test-use' requires test-marked, and 'test-unmark' before it breaks that"
    assert notes[0] == "test-marked: every function has a mark"


def test_every_unmet_requirement_is_told_and_nothing_runs():
    op = module()
    with pytest.raises(PassFailed) as refused:
        run_pipeline("builtin.module(test-use,test-mark,test-unmark,test-use)", op, report=pytest.fail)
    assert [f.code for f in refused.value.findings] == ["FIS501", "FIS501"]
    assert RAN == []


def test_the_right_order_runs_under_watch():
    run_pipeline(
        "builtin.module(test-mark,test-use,cse,test-unmark)",
        module(),
        report=pytest.fail,
        verify_contracts=True,
    )
    assert RAN == ["test-mark", "test-use", "test-unmark"]


def test_a_pass_that_breaks_a_property_quietly_is_named_under_watch_only():
    pipeline = "builtin.module(test-mark,test-unmark-quietly,test-use)"
    with pytest.raises(PassFailed) as caught:
        run_pipeline(pipeline, module(), report=pytest.fail, verify_contracts=True)
    [finding] = caught.value.findings
    assert (finding.code, finding.subject) == ("FIS502", "test-unmark-quietly")
    assert finding.message == "pass 'test-unmark-quietly' broke test-marked: every function has a mark"
    assert RAN == ["test-mark", "test-unmark-quietly"]
    run_pipeline(pipeline, module(), report=pytest.fail)


def test_a_pass_that_does_not_keep_its_promise_is_named():
    with pytest.raises(PassFailed) as caught:
        run_pipeline(
            "builtin.module(test-mark-not-at-all,test-use)",
            module(),
            report=pytest.fail,
            verify_contracts=True,
        )
    [finding] = caught.value.findings
    assert (
        finding.message
        == "pass 'test-mark-not-at-all' does not establish test-marked: every function has a mark"
    )


def test_a_pass_of_iree_breaks_what_it_is_known_to_break():
    pipeline = "builtin.module({},{})"
    first, second = "iree-dispatch-creation-pipeline", "fissile-lower-boundaries"
    [(code, message, _)] = findings(pipeline.format(first, second), module())
    assert code == "FIS501" and message.endswith(f"'{first}' before it breaks that")
    assert findings(pipeline.format(second, first), module()) == []


def test_irees_own_passes_have_contracts_too(passes):
    from fissile.passes.definition import find_property

    assert "iree-dispatch-creation-pipeline" in establishers(find_property("dispatches-formed"))
    named = {*pass_contracts.NATIVE_ESTABLISHES.values(), *pass_contracts.NATIVE_INVALIDATES.values()}
    for properties in named:
        for name in properties:
            assert find_property(name).sentence


@pytest.mark.parametrize(
    "name", sorted({*pass_contracts.NATIVE_ESTABLISHES, *pass_contracts.NATIVE_INVALIDATES})
)
def test_the_passes_of_iree_that_contracts_name_exist(name):
    from iree.compiler.passmanager import PassManager

    from fissile.passes.iree.library import Session

    context = Session().context
    for anchor in ("builtin.module", "func.func"):
        try:
            PassManager.parse(f"{anchor}(any({name}))", context=context)
            return
        except ValueError as error:
            said = str(error)
    pytest.fail(said)
