"""Small samples of the benches for contracts and orders: they find nothing, and they find what is planted."""

import pytest

from bench import measured_tables, native_contracts
from bench.lifetime import permutations
from bench.lifetime.suite import new_context
from fissile.passes.iree import pass_contracts
from fissile.passes.iree.pass_contracts import NativeContract


@pytest.fixture(scope="module")
def context():
    return new_context()


def test_every_order_of_the_passes_on_buffers_is_right(context):
    [_, buffers, *_] = permutations.programs(0, 0, context)
    outcome = permutations.every_order(buffers, context)
    assert outcome.wrong == [] and outcome.ended == {"right": 40320}


def test_an_order_that_ends_wrong_is_counted_once_for_each_way_there(context):
    [_, buffers, *_] = permutations.programs(0, 0, context)
    passes = ["fissile-insert-kills", "cse", "canonicalize"]
    planted = permutations.Given("planted", buffers.text, [((True, 0), [7.0])], passes)
    outcome = permutations.every_order(planted, context)
    assert outcome.ended == {"wrong": 6} and "not [7.0]" in outcome.wrong[0]


def test_an_order_that_does_not_chain_is_refused(context):
    [storage, *_] = permutations.programs(0, 0, context)
    passes = ["static-memory-planner-analysis", "cse", "canonicalize"]
    refused = permutations.Given("refused", storage.text, [], passes)
    outcome = permutations.every_order(refused, context)
    assert outcome.ended == {"refused": 6}  # nothing places the releases that it requires


def test_irees_passes_keep_their_contracts_on_a_few_programs(capsys):
    assert native_contracts.main(["--programs", "2"]) == 0
    assert "iree-dispatch-creation-pipeline" in capsys.readouterr().out


def test_a_contract_that_promises_too_much_is_found(monkeypatch, capsys):
    planted = {
        "iree-dispatch-creation-pipeline": NativeContract(),
        "cse": NativeContract(establishes=("no-fissile-ops",)),
    }
    monkeypatch.setattr(native_contracts, "NATIVE", planted)
    monkeypatch.setattr("fissile.pipelines.contracts.known.NATIVE", planted)
    assert native_contracts.main(["--programs", "1"]) == 1
    assert "breaks dispatches-not-formed, which its contract keeps" in capsys.readouterr().out
    assert pass_contracts.NATIVE is not planted


def test_a_table_is_written_between_its_marks_only(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_tables, "DOCS", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- measured: one (command) -->\nold\n<!-- end -->\nb\n")
    measured_tables.write_table("page.md", "one", "| new |")
    assert page.read_text() == "a\n<!-- measured: one (command) -->\n\n| new |\n\n<!-- end -->\nb\n"
    with pytest.raises(ValueError, match="0 places"):
        measured_tables.write_table("page.md", "two", "| new |")
