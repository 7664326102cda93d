"""The fault bench on a few trials with fixed seeds, and each of its judgements on a case that breaks it."""

import random
from pathlib import Path

import pytest
from effort import examples
from programs import run_program

from bench.faults import compared, differential, environments, growth, mutations, planted, results, signals
from bench.faults.commands import ADD, COMMANDS, CONV, MATMUL, STORE
from bench.faults.generated.random_program import KINDS, program
from bench.faults.trial import ROOT, Ended, broken_promises, world
from fissile.finding import Finding, Place, Severity
from fissile.report import Report


@pytest.mark.parametrize("seed", range(examples(24, 200)))
def test_a_mutated_program_is_answered(seed, tmp_path):
    draw = random.Random(seed)
    text = mutations.mutated_text(draw.choice((ADD, MATMUL, CONV, STORE)), draw)
    (tmp_path / "in.mlir").write_bytes(text.encode(errors="surrogateescape"))
    ended = run_program(
        ["fissile-opt", "in.mlir", "--pass-pipeline=builtin.module(canonicalize)"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode in (0, 1, 2) and "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode == 0 or ended.stderr.startswith(("error[", "fissile-opt: error:")), ended.stderr


@pytest.mark.parametrize("index", range(examples(2, 120)))
def test_generated_programs_come_out_as_stocks_or_with_a_finding(index, tmp_path):
    """As far as fissile changes programs; the bench goes on to the artifact."""
    target, _to, programs = differential.drawn(f"5-{index}")
    programs = programs[: differential.MODULE]
    module = compared.Module({number: text for number, (text, _kinds) in enumerate(programs)})
    verdicts = list(compared.Comparison(target, tmp_path, "executable-configurations").verdicts(module))
    assert sorted(number for number, _verdict, _messages in verdicts) == list(range(len(programs)))
    wrong = [
        (messages, module.programs[n]) for n, verdict, messages in verdicts if verdict in differential.BROKEN
    ]
    assert not wrong, wrong


def test_each_program_of_a_module_has_its_own_verdict(tmp_path, monkeypatch):
    """What fissile changes, refuses and fails at is found among programs that it leaves alone."""
    programs = {n: f"// {n}\nfunc {n}\n" for n in range(9)}
    judge = compared.Comparison("llvm-cpu", tmp_path)
    wrote = Finding("FIS201", "m", Severity.REPAIRED, places=(Place("in.mlir", 3),))

    def fissile(text: str) -> Report:
        if "func 7" in text:
            raise ValueError("seven")
        Path(judge._ours).write_text(text.replace("func 2", "func two"))
        numbers = [line.split()[1] for line in text.splitlines() if line.startswith("func")]
        line = 1 + 2 * numbers.index("4") if "4" in numbers else 0
        return Report("compile", (wrote.with_(places=(Place("in.mlir", line),)),) if line else ())

    def stock(text: str) -> str:
        Path(judge._stocks).write_text(text)
        return ""

    monkeypatch.setattr(judge, "_fissile", fissile)
    monkeypatch.setattr(judge, "_stock", stock)
    found = {n: verdict for n, verdict, _messages in judge.verdicts(compared.Module(programs))}
    special = {2: "changed without a finding", 4: "repaired", 7: "internal error"}
    assert found == {n: special.get(n, "same bytes") for n in programs}


@pytest.mark.parametrize(
    ("anew", "verdict"), [([b"x", b"o"], "same bytes"), ([b"x"] * 16, "changed without a finding")]
)
def test_stock_may_have_more_than_one_answer(anew, verdict, tmp_path, monkeypatch):
    comparison, answers = compared.Comparison("llvm-cpu", tmp_path), list(anew)
    (tmp_path / "ours.vmfb").write_bytes(b"o")
    (tmp_path / "stocks.vmfb").write_bytes(b"s")
    monkeypatch.setattr(comparison, "_stock", lambda _text: "")
    monkeypatch.setattr(comparison, "_fissile", lambda _text: Report("compile", ()))
    monkeypatch.setattr(
        comparison, "_stock_anew", lambda: bool((tmp_path / "stocks.vmfb").write_bytes(answers.pop(0)))
    )
    assert comparison.verdict("")[0] == verdict and not answers


def test_what_ends_the_shared_process_is_found_by_halves(tmp_path, monkeypatch):
    calls = []

    def child(_trial, numbers, _folder):
        calls.append(list(numbers))
        done = [n for n in numbers if n < 5] if 5 in numbers else list(numbers)
        return {n: ("same bytes", "") for n in done}

    monkeypatch.setattr(differential, "_child", child)
    monkeypatch.setattr(
        differential, "_alone", lambda _trial, number, _folder: ("internal error", f"{number}")
    )
    found = differential._judged("1-0", range(8), tmp_path)
    assert {n for n, (verdict, _) in found.items() if verdict == "internal error"} == {5} and len(found) == 8
    assert len(calls) < 8


def test_the_generator_draws_every_kind():
    drawn = {kind for seed in range(400) for kind in program(random.Random(seed))[1]}
    assert drawn == set(KINDS)


@pytest.mark.parametrize(
    "trial",
    [
        f"{name}-7-{index}"
        for name in ("explain", "targets", "passes", "opt")
        for index in range(examples(3, 20))
    ],
)
def test_a_signal_leaves_nothing(trial):
    assert signals.run(trial)["broken"] == []


@pytest.mark.parametrize(
    "trial",
    [
        "open-files-8/explain",
        "memory-200M/targets",
        "language-ascii/opt",
        "open-files-6/opt",
        "folder-removed/targets",
        "file-size-0/opt",
    ],
)
def test_a_poor_environment_is_named(trial):
    row = environments.run(trial)
    assert row["broken"] == [], row


@pytest.mark.parametrize("trial", ["pass/opt/segfault", "import/passes/exit-0", "iree/verify/abort"])
def test_a_planted_fault_is_named(trial):
    row = planted.run(trial)
    assert row["broken"] == [], row


def test_every_trial_is_drawn_once_and_by_its_seed():
    for mode in (environments, planted):
        every = list(mode.trials(10**6, 1))
        assert len(set(every)) == len(every) > 50
        assert list(mode.trials(5, 1)) == every[:5] != list(mode.trials(5, 2))
    assert {trial.rsplit("-", 2)[0] for trial in signals.trials(50, 1)} == set(COMMANDS)


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        ({"status": 139}, "exit status 139"), ({"err": "Traceback (most recent call last)\n", "status": 1}, "a traceback"), ({"hung": True}, "does not end"),
        ({"orphans": ["x"]}, "orphans"), ({"leftovers": ["tmp/x"]}, "leftovers"), ({"status": 2, "err": ""}, "no message"),
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_seen(changes, printed):
    kept = {"status": 0, "out": "", "err": "", "seconds": 0.0, "used": 0.0, "hung": False}
    assert broken_promises(Ended(**kept)) == []
    assert broken_promises(Ended(**kept | changes)) == [printed]


@pytest.mark.parametrize(
    ("module", "is_ours"),
    [("fissile/__init__.py", False), ("fissile/cli/__init__.py", False), ("fissile/cli/main.py", True), ("fissile/errors.py", True)],
)  # fmt: skip
def test_an_interrupt_is_pythons_until_fissile_has_taken_the_signal_over(module, is_ours):
    printed = f'Traceback (most recent call last)\n  File "{ROOT}/{module}", line 1\n  File "<frozen zipimport>"\nKeyboardInterrupt\n'
    ended = Ended(status=1, out="", err=printed, seconds=0.0, used=0.0, hung=False)
    assert broken_promises(ended) == ["a traceback"] * is_ours


def test_orphans_and_leftovers_are_found():
    with world({"in": "x"}) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench.faults.trial.GRACE_SECONDS", 0.0)
        runs = "grep -q ^sleep /proc/$!/cmdline && grep -q FAULT_BENCH_MARK /proc/$!/environ"
        script = f"setsid sleep 1000 & until {runs}; do sleep 0.01; done 2> /dev/null; touch more $TMPDIR/temporary"
        ended = here.run(["bash", "-c", script])
    assert ended.orphans == ["sleep 1000"] and ended.leftovers == ["tmp/temporary", "work/more"]


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    file, ran = tmp_path / "rows", []
    run = lambda trial: ran.append(trial) or {"broken": ["orphans"] if trial == "b" else []}  # noqa: E731
    results.run_trials(file, "m", ["a"], run)
    with file.open("a") as out:
        out.write('{"mode": "m", "tri')  # the machine went away in the middle
    file.write_text(file.read_text().rpartition("\n")[0] + "\n")
    rows = results.run_trials(file, "m", ["a", "b"], run)
    assert ran == ["a", "b"] and "| m | 2 | 1 | 1 orphans |" in results.summary(rows)


def test_growing_programs_are_programs(tmp_path):
    from fissile.pipelines.session import Session

    for different in (True, False):
        (tmp_path / "in.mlir").write_text(growth.program(3, different))
        Session().parse(Path(tmp_path, "in.mlir"))
