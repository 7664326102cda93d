"""The fault bench on a few trials with fixed seeds, and each of its judgements on a case that breaks it."""

import random
from pathlib import Path

import pytest
from effort import examples
from programs import run_program

from bench.faults import compared, environments, growth, mutations, planted, results, signals
from bench.faults.commands import ADD, COMMANDS, CONV, MATMUL, STORE
from bench.faults.generated import KINDS, program
from bench.faults.trial import Ended, broken_promises, world


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


@pytest.mark.parametrize("seed", range(examples(100, 400)))
def test_a_generated_program_comes_out_as_stocks_or_with_a_finding(seed, tmp_path):
    text, kinds = program(random.Random(seed))
    assert set(kinds) <= set(KINDS)
    target = ("llvm-cpu", "vulkan")[seed % 2]
    verdict, printed = compared.compared(target, text, tmp_path, "executable-configurations")
    assert verdict in (
        "same bytes",
        "refused by both",
        "repaired",
        "changed with a finding",
    ) or verdict.startswith("withheld"), (printed, text)


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
        "language-ascii/explain",
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
