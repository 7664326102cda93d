"""The table of a sweep: what counts as foreseen, missed and a false alarm, and which models were not imported."""

from __future__ import annotations

import pytest

from bench.legality_sweep import __main__ as sweep
from bench.legality_sweep import results


def result(model, stock, *audit):
    return (model, "gfx942"), {"model": model, "target": "gfx942", "stock": stock, "audit": list(audit)}


FOUND = dict(
    [
        result("taken", "compiles"),
        result("named", "refused", "onnx.NoSuch"),
        result("missed", "crashes or does not end"),
        result("alarm", "compiles", "onnx.Fine"),
        result("foreign", "not imported"),
    ]
)


def test_a_crash_that_no_op_was_named_for_is_a_miss_and_a_model_without_a_program_counts_nowhere():
    [row] = results.rows(FOUND)
    assert (row.models, row.stock, row.foreseen, row.missed, row.false_alarms) == (4, 2, 1, 1, 1)
    assert (row.precision, row.recall) == (0.5, 0.5)


def test_the_page_says_how_many_models_have_no_program():
    assert "5 were tried; 1 of them have no program" in results.markdown(FOUND)


@pytest.mark.parametrize(("limit", "done"), [(0, 120), (70, 74), (200, 120)])
def test_a_sweep_goes_on_over_several_processes_until_its_limit(tmp_path, monkeypatch, limit, done):
    """Every 20th model has no program, and does not count."""
    models = [f"model{number}.onnx" for number in range(120)]

    def answered(_front_end, left, _targets):
        for model, targets in left:
            number = int(model.removeprefix("model").removesuffix(".onnx"))
            stock = "not imported" if number % 20 == 0 else "compiles"
            yield from ({"model": f"model{number}", "target": target, "stock": stock} for target in targets)

    monkeypatch.setattr(sweep, "_stock_and_audit", answered)
    file = tmp_path / "results.jsonl"
    sweep._sweep("onnx", models, ["llvm-cpu", "vulkan"], limit, file)
    assert len(results.read(file)) == 2 * done
