"""Do passes chain? Refused before anything runs, or caught where a pass breaks what it must keep."""

import shlex
from dataclasses import dataclass
from typing import ClassVar

import pytest
from iree.compiler import ir

from fissile.dialect import ops_of, register
from fissile.passes import catalogue, definition
from fissile.passes.definition import Contract, Offence, Pass, PassFailed, define_property, register_pass
from fissile.passes.iree import pass_contracts
from fissile.pipelines.contracts import (
    establishers,
    known_properties,
    property_named,
    recommended_order,
    unmet_requirements,
    watching,
)
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session
from fissile.pipelines.textual import parse_pipeline

RAN: list[str] = []


@pytest.fixture(autouse=True)
def passes(monkeypatch):
    """Passes that add, remove and need marks (attributes `test.a`), registered for one test."""
    known_properties()
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
        "an order that works: builtin.module(cse,test-mark,test-use)",
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


@pytest.mark.parametrize(
    "written, works",
    [
        ("test-unmark,test-use", "test-use,test-unmark"),  # the input is marked: a change of places is enough
        ("test-unmark,func.func(cse),func.func(canonicalize),test-use,cse", None),
        ("test-use,test-unmark,test-use", "test-use,test-use,test-unmark"),
        ("test-unmark{},any(any(cse,test-use))", "any(any(cse,test-use)),test-unmark"),
        ("iree-dispatch-creation-pipeline,fissile-lower-boundaries", None),
    ],
)
def test_the_recommended_order_chains_and_moves_as_little_as_it_can(written, works):
    marked = module("func.func @f() attributes {test.a} { return }")
    pipeline = parse_pipeline(f"builtin.module({written})")
    [finding, *_] = unmet_requirements(pipeline, marked)
    [order] = [note for note in finding.notes if note.startswith("an order that works: ")]
    found = parse_pipeline(order.removeprefix("an order that works: "))
    assert unmet_requirements(found, marked) == []
    assert sorted(map(str, found.calls())) == sorted(map(str, pipeline.calls()))
    if works is not None:
        assert str(found) == f"builtin.module({works})"


def test_a_pass_is_added_where_no_order_of_those_given_works():
    found = recommended_order(parse_pipeline("builtin.module(any(cse),test-use)"), lambda prop: False)
    assert str(found) == "builtin.module(any(cse),test-mark,test-use)"


def test_no_order_is_recommended_where_nothing_establishes_what_is_missing():
    formed = parse_pipeline("builtin.module(fissile-place-boundaries)")
    assert recommended_order(formed, lambda prop: prop.name != "dispatches-not-formed") is None


def test_what_was_established_in_the_end_is_so_in_the_recommended_order():
    text = "builtin.module(iree-dispatch-creation-pipeline,fissile-place-boundaries,fissile-lower-boundaries)"
    found = recommended_order(parse_pipeline(text), lambda prop: True)
    names = [call.name for call in found.calls()]
    assert names.index("fissile-place-boundaries") < names.index("fissile-lower-boundaries")
    assert names[-1] == "iree-dispatch-creation-pipeline"


def test_every_pass_of_the_house_says_what_it_requires():
    for name in catalogue.built_in():
        contract = catalogue.find_pass(name).contract
        # The check for leftovers has to report what is malformed itself.
        assert contract.requires or name == "fissile-check-leftovers", name
    by_change = {name for name in catalogue.built_in() if catalogue.find_pass(name).contract.establishes}
    assert {"fissile-insert-kills", "fissile-assert-bounds", "fissile-lower-storage"} <= by_change


def test_a_broken_contract_has_a_reproducer_that_shows_it_again(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pipeline = "builtin.module(test-mark,cse,test-unmark-quietly,test-use)"
    with pytest.raises(PassFailed) as caught:
        run_pipeline(pipeline, module(), report=pytest.fail, verify_contracts=True)
    [finding] = caught.value.findings
    [file] = tmp_path.rglob("*.mlir")
    assert f"the IR before it: {file}" in finding.notes
    [command] = [note for note in finding.notes if note.startswith("shows it again: fissile-opt ")]
    words = shlex.split(command)
    assert words[-3:] == [
        "--pass-pipeline=builtin.module(test-unmark-quietly)",
        "--verify-contracts",
        "--verify-property=test-marked",
    ]
    # The IR is from before the pass, and the pass alone does it again.
    assert "test.a" in file.read_text()
    with pytest.raises(PassFailed) as again, watching([property_named("test-marked")]):
        run_pipeline(
            words[-3].removeprefix("--pass-pipeline="),
            module(file.read_text()),
            report=pytest.fail,
            verify_contracts=True,
        )
    assert again.value.findings[0].message == finding.message


PREDICATES = {
    "no-unknown-op": ('"mine.op"() : () -> ()', "%0 = arith.constant 1 : i32"),
    "fully-typed": (
        '%0 = "fissile.boundary"(%t) : (tensor<*xf32>) -> tensor<*xf32>',
        '%0 = "fissile.boundary"(%s) : (tensor<?xf32>) -> tensor<?xf32>',
    ),
    "well-formed": ('"fissile.boundary"() : () -> ()', "%0 = arith.constant 1 : i32"),
    "pure-regions-are-pure": (
        """%m = memref.alloc() : memref<4xf32>
        %0 = tensor.generate %n { ^bb0(%i: index): memref.dealloc %m : memref<4xf32> tensor.yield %f : f32 } : tensor<?xf32>""",
        "%m = memref.alloc() : memref<4xf32> memref.dealloc %m : memref<4xf32>",
    ),
    "one-release-per-storage": (
        "%m = memref.alloc() : memref<4xf32>",
        "%m = memref.alloc() : memref<4xf32> memref.dealloc %m : memref<4xf32>",
    ),
    "no-open-obligation": (
        "%0 = tensor.extract_slice %s[0] [8] [1] : tensor<?xf32> to tensor<8xf32>",
        "%0 = tensor.extract_slice %u[0] [8] [1] : tensor<9xf32> to tensor<8xf32>",
    ),
    "tensor-level": (
        "linalg.fill ins(%f : f32) outs(%b : memref<4xf32>)",
        "%0 = linalg.fill ins(%f : f32) outs(%u : tensor<9xf32>) -> tensor<9xf32>",
    ),
    "dispatches-formed": (
        "%0 = linalg.fill ins(%f : f32) outs(%u : tensor<9xf32>) -> tensor<9xf32>",
        "%0 = arith.constant 1 : i32",
    ),
    "no-fissile-requires": (
        '"fissile.require"(%c) {message = "m"} : (i1) -> ()',
        "%0 = arith.constant 1 : i32",
    ),
}


@pytest.mark.parametrize("name", sorted(PREDICATES))
def test_a_property_is_silent_on_the_twin_that_has_it(name):
    head = "func.func @f(%t: tensor<*xf32>, %s: tensor<?xf32>, %u: tensor<9xf32>, %b: memref<4xf32>, %n: index, %f: f32, %c: i1) {"
    offending, holding = (module_in_session(f"{head}\n{body}\nreturn\n}}") for body in PREDICATES[name])
    assert property_named(name).offences(offending)
    assert property_named(name).offences(holding) == []


def module_in_session(text):
    context = Session().context
    return ir.Module.parse(text, context=context).operation


def test_irees_own_passes_have_contracts_too(passes):
    from fissile.passes.definition import find_property

    assert "iree-dispatch-creation-pipeline" in establishers(find_property("dispatches-formed"))
    for native in (*pass_contracts.NATIVE.values(), *pass_contracts.PHASE_CONTRACTS.values()):
        for name in (*native.requires, *native.establishes, *native.invalidates):
            assert property_named(name).sentence


@pytest.mark.parametrize(
    "name",
    sorted(
        {*pass_contracts.NATIVE, *(n for names in pass_contracts.PHASE_PIPELINES.values() for n in names)}
    ),
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
            printed = str(error)
    pytest.fail(printed)
