"""The StableHLO bench on a few functions with a fixed seed, and its judgements on cases that break them."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from bench.stablehlo import __main__ as bench
from bench.stablehlo import judging
from bench.stablehlo.binary import binary
from bench.stablehlo.drawing import WEIGHTS, function, functions
from bench.stablehlo.function import Function, Rejected
from bench.stablehlo.moving import pad
from bench.stablehlo.products import convolution
from bench.stablehlo.value import ELEMENTS, Value, tensor
from fissile.pipelines.numerics import runtimes

SAMPLE = "84"
"""A seed whose functions are small and have 33 kinds of ops."""


def _needs(target: str) -> None:
    if target == "vulkan" and not any(one.name == "vulkan" for one in runtimes.present()):
        pytest.skip("no Vulkan device")


@pytest.mark.parametrize("target", ["llvm-cpu", "vulkan"])
def test_drawn_functions_compute_what_numpy_computes(target, tmp_path, monkeypatch):
    """As fissile builds them; the bench compiles the repaired ones with stock as well."""
    _needs(target)
    not_asked = judging.Built(tmp_path / "none.vmfb", "not compiled")
    monkeypatch.setattr(judging.Judge, "_stock", lambda _judge, _function: not_asked)
    drawn = [function(f"f{number}", f"{SAMPLE}:{number}") for number in range(16)]
    verdicts = judging.Judge(target, tmp_path).verdicts(drawn)
    assert [one.function for one in verdicts] == drawn
    assert not [one.detail for one in verdicts if one.verdict not in (judging.SAME, judging.REPAIRED)]


def test_a_wrong_expectation_is_reported(tmp_path):
    good, bad = Function("f0", random.Random(1)), Function("f1", random.Random(2))
    for made in (good, bad):
        v = made.argument((2, 3), "i32")
        made.results = [made.op(f"stablehlo.negate {v.name} : {v.type}", -v.wide, "i32", "negate")]
    (right,) = bad.results
    bad.results = [replace(right, data=right.data + np.eye(2, 3, dtype=np.int32))]
    verdicts = judging.Judge("llvm-cpu", tmp_path).verdicts([good, bad])
    assert [one.verdict for one in verdicts] == [judging.SAME, judging.WRONG_TOO]
    assert verdicts[1].detail.startswith("result 0 (tensor<2x3xi32>): 2 of 6 elements")
    judging.keep(verdicts[1], tmp_path / "kept")
    assert "// --function=f1 --input=2x3xi32=@input0" in (tmp_path / "kept" / "program.mlir").read_text()
    assert np.array_equal(np.load(tmp_path / "kept" / "expected0.npy"), bad.results[0].data)


def test_a_run_that_was_cut_off_goes_on_and_failures_set_the_exit_status(tmp_path, monkeypatch, capsys):
    ran = []

    class Judged:
        def __init__(self, target, _folder):
            self._target = target

        def verdicts(self, drawn):
            ran.append(self._target)
            kinds = [judging.WRONG if self._target == "vulkan" and not n else judging.SAME for n in range(8)]
            return [judging.Verdict(*pair) for pair in zip(drawn, kinds, strict=True)]

    monkeypatch.setattr(bench, "Judge", Judged)
    options = [f"--results={tmp_path / 'r'}", f"--failures={tmp_path / 'kept'}"]
    assert bench.main(["--programs=16", *options]) == 0 and len(ran) == 2
    assert bench.main(["--programs=24", *options]) == 0 and len(ran) == 3
    assert "| all | 24 |" in capsys.readouterr().out and not (tmp_path / "kept").exists()
    assert bench.main(["--programs=8", "--target=vulkan", *options]) == 1
    assert f"| {judging.WRONG} | 1 |" in capsys.readouterr().out
    assert (tmp_path / "kept" / "vulkan-1-0-f0" / "program.mlir").exists()


@pytest.mark.parametrize(
    ("ours", "stocks", "verdict"),
    [
        ("", "", judging.REFUSED_ALONE),
        ("", "wrong", judging.WITHHELD),
        ("", "refused", judging.REFUSED),
        ("right", "refused", judging.REPAIRED),
        ("right", "wrong", judging.STOCK_WRONG),
        ("right", "", judging.SAME),
        ("wrong", "refused", judging.WRONG_REFUSED),
        ("wrong", "wrong", judging.WRONG_TOO),
        ("wrong", "", judging.WRONG),
    ],
)
def test_stock_is_the_measure(ours, stocks, verdict, tmp_path, monkeypatch):
    judge, (function, *_) = judging.Judge("llvm-cpu", tmp_path), functions("5-0")
    repair = {"code": "FIS101", "severity": "repaired", "places": [{"line": 2}]}
    built = judging.Built(tmp_path / "ours", "" if ours else "FIS102", [repair])
    monkeypatch.setattr(judge, "_fissile", lambda _functions: built)
    stock = judging.Built(tmp_path / "stocks", "no" if stocks == "refused" else "")
    monkeypatch.setattr(judge, "_stock", lambda _function: stock)
    answers = {"ours": "off" if ours == "wrong" else "", "stocks": "off" if stocks == "wrong" else ""}
    monkeypatch.setattr(judge, "_difference", lambda _function, vmfb: answers[vmfb.name])
    (found,) = judge.verdicts([function])
    assert found.verdict == verdict
    assert (verdict in judging.FAILURES) == (ours == "wrong" or (not ours and not stocks))


def test_a_repair_belongs_to_the_function_of_its_line():
    drawn = functions("5-0")
    line = 1 + drawn[0].text().count("\n")
    finding = {"code": "FIS101", "severity": "repaired", "places": [{"line": line}]}
    built = judging.Built(None, "", [finding])
    assert built.repaired(drawn) == [drawn[1]]
    assert judging.Built(None, "", [finding | {"places": []}]).repaired(drawn) == drawn
    assert judging.Built(None, "", [finding | {"severity": "note"}]).repaired(drawn) == []


@pytest.mark.parametrize(
    ("element", "error", "got", "is_same"),
    [
        ("f32", 0.0, 1.0, True),
        ("f32", 0.0, 1.0000001, False),
        ("f32", 1e-6, 1.000001, True),
        ("f32", 1e-6, 1.00001, False),
        ("f32", 1e-6, np.nan, False),
        ("i8", 0.0, 1, True),
        ("i8", 0.0, 2, False),
    ],
)
def test_a_result_is_compared_within_its_error(element, error, got, is_same):
    wanted = Value("%v", np.asarray(1, np.float32 if element == "f32" else np.int8), element, error)
    assert (judging.difference(np.asarray(got, wanted.data.dtype), wanted) == "") == is_same
    assert judging.difference(np.zeros(3), wanted)


def test_a_seed_gives_the_same_functions():
    texts = [judging.text_of(functions(trial)) for trial in ("5-0", "5-0", "5-1")]
    assert texts[0] == texts[1] != texts[2]
    first, second = functions("5-0")[3], functions("5-0")[3]
    for one, other in zip(first.results, second.results, strict=True):
        assert np.array_equal(one.data, other.data)


def test_the_generator_draws_every_op_and_type():
    drawn = [f for index in range(60) for f in functions(f"6-{index}")]
    ops = {op.split()[0] for f in drawn for op in f.ops}
    wanted = (
        "broadcast transpose reshape slice pad concatenate reverse reduce reduce_window dot_general "
        "convolution gather scatter sort clamp dynamic_slice dynamic_update_slice iota compare select "
        "convert not divide tanh atan2"
    )
    assert set(wanted.split()) <= ops
    assert {value.element for f in drawn for value in f.results} == set(ELEMENTS)
    assert any(len(f.results) == 2 for f in drawn) and any(not v.is_exact for f in drawn for v in f.results)


def test_an_op_that_is_rejected_leaves_nothing_behind():
    f = Function("f", random.Random(0))
    f.argument((2, 2), "f32")
    before = len(f.arguments), list(f.known)
    with pytest.raises(Rejected), f.attempt():
        f.like(f.known[0])
        f.argument((3,), "i8")
        raise Rejected
    assert (len(f.arguments), f.known) == before


@pytest.mark.parametrize("seed", range(20))
def test_pads_and_convolutions_agree_with_their_definitions(seed):
    """NumPy's side, element by element."""
    f = Function("f", random.Random(seed), ("i32",))
    f.argument((3, 4), "i32")
    try:
        padded = pad(f)
    except Rejected:
        pytest.skip("nothing is left of the tensor")
    low, high, interior = (
        json.loads(f.lines[-1].split(f"{word} = ")[1].split("]")[0] + "]")
        for word in ("low", "high", "interior")
    )
    source, border = f.arguments[0].data, int(f.body[-2].data)
    for at in np.ndindex(padded.shape):
        places = [n - a for n, a in zip(at, low, strict=True)]
        inside = all(
            0 <= p < (size - 1) * (gap + 1) + 1 and p % (gap + 1) == 0
            for p, size, gap in zip(places, source.shape, interior, strict=True)
        )
        wanted = (
            source[tuple(p // (g + 1) for p, g in zip(places, interior, strict=True))] if inside else border
        )
        assert padded.data[at] == wanted
    assert tensor(padded.shape, "i32") == padded.type and len(high) == 2


def test_every_drawing_function_makes_values():
    for op in WEIGHTS:
        f, made = Function("f", random.Random(4)), None
        f.argument((4, 4), "i32")
        for _ in range(50):
            try:
                with f.attempt():
                    made = op(f)
                    break
            except Rejected:
                continue
        assert made is not None and f.lines, op
    assert binary in WEIGHTS and convolution in WEIGHTS
