"""A pass of a user's that throws, ends the process or does not end is named, with its file and line."""

import shlex

import pytest
from contract_shell import ADD, LLVM_CPU, PASS, holds, shell, with_pass

THROWS = {
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit(5)": "SystemExit: 5",
    "raise BaseException('base')": "BaseException: base",
    "raise GeneratorExit": "GeneratorExit",
    "self.run(op, report)": "RecursionError",
    "{}['key']": "KeyError",
}
ENDS = {
    "os._exit(0)": "exit status 0",
    "os._exit(99)": "exit status 99",
    "os.abort()": "SIGABRT",
    "os.kill(os.getpid(), 11)": "SIGSEGV",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


@pytest.mark.parametrize("act", THROWS)
def test_a_users_pass_that_throws_is_named_with_its_line(act, folder, capsys, monkeypatch):
    from fissile.errors import InternalError
    from fissile.passes.catalogue import load_user_passes
    from fissile.passes.definition import registered_passes
    from fissile.pipelines.pass_runner import run_pipeline
    from fissile.pipelines.session import Session

    monkeypatch.chdir(folder)
    name = f"mine-{list(THROWS).index(act)}"
    (folder / "mine.py").write_text(PASS.format(act=act, top="").replace("mine-p", name))
    load_user_passes("mine.py")
    assert name in registered_passes()
    with pytest.raises(InternalError) as raised:
        run_pipeline(f"builtin.module({name})", Session().parse("in.mlir").op, report=print)
    assert raised.value.message.startswith(f"pass '{name}' (mine.py:11) failed: {THROWS[act]}")
    assert "(mine.py:12)" in raised.value.message or act == "self.run(op, report)"


@pytest.mark.parametrize("act", ["os._exit(99)", "os.abort()"])
def test_a_users_pass_that_ends_the_compile_is_named(act, folder):
    with_pass(folder, act)
    command = f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out.vmfb --fissile-load-passes=mine.py '--fissile-pipeline-after=input:builtin.module(mine-p)'"
    ended = shell(command, folder)
    holds(ended, 3, f"pass 'mine-p' (mine.py:11) ended the process ({ENDS[act]})", "shows it again")
    again = next(line for line in ended.stderr.splitlines() if "shows it again: " in line).partition(
        "shows it again: "
    )[2]
    holds(shell(again, folder), 3, "pass 'mine-p' (mine.py:11) ended the process")
    assert sorted(p.name for p in folder.iterdir()) == ["__pycache__", "in.mlir", "mine.py"][-2:]


@pytest.mark.parametrize(
    ("top", "status"), [("sys.exit(5)", 2), ("raise BaseException('top')", 2), ("os._exit(0)", 3)]
)
def test_a_users_file_that_ends_while_it_is_imported(top, status, folder):
    with_pass(folder, top=top)
    holds(
        shell(
            f"fissile compile {shlex.join(LLVM_CPU)} in.mlir -o out.vmfb --fissile-load-passes=mine.py",
            folder,
        ),
        status,
        "mine.py",
    )


def test_a_users_pass_that_does_not_end_is_named(folder):
    with_pass(folder, "__import__('time').sleep(1000)")
    ended = shell("fissile-opt in.mlir --load-passes=mine.py --mine-p -o out.mlir --phase-timeout=1", folder)
    holds(
        ended, 3, "pass 'mine-p' (mine.py:11) did not end within 1 s (--phase-timeout)", "--phase-timeout=1"
    )
    assert not (folder / "out.mlir").exists()


@pytest.mark.parametrize("program", ["fissile-opt", "fissile compile"])
def test_an_interrupt_that_a_users_pass_raises_is_no_signal(program, folder):
    with_pass(folder, "raise KeyboardInterrupt('mine')")
    words = (
        "--mine-p" if program == "fissile-opt" else "'--fissile-pipeline-after=input:builtin.module(mine-p)'"
    )
    flags = "" if program == "fissile-opt" else " ".join(LLVM_CPU)
    ended = shell(f"{program} {flags} in.mlir -o out --load-passes=mine.py {words}", folder)
    holds(ended, 3, "pass 'mine-p' (mine.py:11) failed: KeyboardInterrupt: mine (mine.py:12)")


ERASES = "next(o for o in op.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations if 'add' in o.operation.name).operation.erase()"
SAYS_NOTHING = {
    "from fissile.passes.definition import PassFailed; raise PassFailed([])": "it raised PassFailed without a finding",
    "from fissile.passes.definition import PassFailed; raise PassFailed('words')": "TypeError: PassFailed takes a list of findings, not of str",
    "report('words')": "TypeError: report takes a fissile.Finding, not str (mine.py:12)",
    "report()": "TypeError: report takes a fissile.Finding, not NoneType (mine.py:12)",
    "op.operation.erase()": "left IR that cannot be read",
    ERASES: "left ended the process (SIGSEGV)",
}


@pytest.mark.parametrize("program", ["fissile-opt", "fissile compile"])
@pytest.mark.parametrize("act", SAYS_NOTHING)
def test_a_users_pass_that_fails_without_a_finding_is_named_and_nothing_is_written(act, program, folder):
    with_pass(folder, act)
    words = (
        "--mine-p" if program == "fissile-opt" else "'--fissile-pipeline-after=input:builtin.module(mine-p)'"
    )
    flags = "" if program == "fissile-opt" else " ".join(LLVM_CPU)
    ended = shell(f"{program} {flags} in.mlir -o out --load-passes=mine.py {words}", folder)
    holds(ended, 3, "pass 'mine-p' (mine.py:11)", SAYS_NOTHING[act])
    assert "replace_all_uses_with" in ended.stderr or act != ERASES
    assert not (folder / "out").exists()


@pytest.mark.parametrize("program", ["fissile-opt", "fissile compile"])
def test_a_pass_that_stops_with_a_warning_is_an_error(program, folder):
    """Without an output, status 0 would be wrong."""
    with_pass(
        folder,
        "from fissile.finding import Finding, Severity; from fissile.passes.definition import PassFailed; "
        "raise PassFailed([Finding('FIS109', 'it is slow', Severity.WARNING)])",
    )
    words = (
        "--mine-p" if program == "fissile-opt" else "'--fissile-pipeline-after=input:builtin.module(mine-p)'"
    )
    flags = "" if program == "fissile-opt" else " ".join(LLVM_CPU)
    ended = shell(f"{program} {flags} in.mlir -o out --load-passes=mine.py {words}", folder)
    holds(ended, 1, "error[FIS109] it is slow")
    assert not (folder / "out").exists()


def test_no_option_writes_what_a_pass_stopped(folder):
    with_pass(
        folder,
        "from fissile.finding import Finding; from fissile.passes.definition import PassFailed; "
        "raise PassFailed([Finding('FIS110', 'it is wrong')])",
    )
    words = (
        "-o out --load-passes=mine.py '--pipeline-after=input:builtin.module(mine-p)' --allow-wrong-numbers"
    )
    ended = shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir {words}", folder)
    holds(ended, 1, "error[FIS110] it is wrong")
    assert "the output is written" not in ended.stderr and not (folder / "out").exists()
