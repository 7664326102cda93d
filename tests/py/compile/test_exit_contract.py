"""Every command ends with 0, 1, 2 or 3 and one line with the true cause, whatever is around it."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell

from fissile.cli.main import main
from fissile.cli.program import run_program
from fissile.errors import UsageError, refused_by_system

REFUSED = "\n".join(
    f"func.func @f{n}(%a: tensor<4xf32>) -> tensor<4xf32> {{ return %a : tensor<4xf32> }}" for n in range(200)
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


@pytest.mark.parametrize(
    "command", ["fissile explain", "fissile targets", "fissile-opt --list-passes", "fissile --help"]
)
def test_standard_output_that_cannot_be_written(command, folder):
    holds(shell(f"{command} > /dev/full", folder), 2, "standard output: No space left on device")
    holds(shell(f"{command} | true; exit ${{PIPESTATUS[0]}}", folder), 0)
    holds(shell(f"{command} >&- 2>&- <&-", folder), 0)
    holds(shell(f"{command} 2> /dev/full", folder), 0)


def test_an_artifact_that_nobody_takes_is_an_error(folder):
    for where in ("| true; exit ${PIPESTATUS[0]}", "> /dev/full"):
        holds(shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o - {where}", folder), 2)
    holds(
        shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o - >&-", folder),
        2,
        "standard output: it is closed",
    )
    holds(shell("fissile-opt in.mlir >&-", folder), 2, "standard output: it is closed")


def test_closed_streams_are_not_given_to_files(folder):
    holds(shell(f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out.vmfb <&- >&- 2>&-", folder), 0)
    assert (folder / "out.vmfb").stat().st_size > 1000
    assert (folder / "in.mlir").read_text() == ADD


def test_text_that_the_terminal_cannot_show_is_spelled_out(folder):
    ended = shell(
        "fissile explain FIS101 && fissile compile 'h\u00e4.mlir' -o x",
        folder,
        LC_ALL="C",
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    holds(ended, 2, r"h\udcc3\udca4.mlir", "LC_ALL=C.UTF-8")


@pytest.mark.parametrize(
    ("content", "printed"),
    [
        (b"\xff\xfe--x", "not UTF-8"),
        (b"--foo 'unclosed", "split into words"),
        (None, "No such file"),
        ("folder", "Is a directory"),
    ],
    ids=["bytes", "quotes", "missing", "folder"],
)
def test_a_response_file_that_cannot_be_read(content, printed, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    if content == "folder":
        Path("flags").mkdir()
    elif content is not None:
        Path("flags").write_bytes(content)
    assert main(["compile", "@flags", "in.mlir", "-o", "x"]) == 2
    assert printed in capsys.readouterr().err


@pytest.mark.parametrize(
    "data",
    [
        {"functions": 5, "bytes": {}},
        {"functions": [], "bytes": {"llvm-cpu": {"d": ["x"]}}},
        {"bytes": 7},
        [],
        "[" * 100000,
        None,
    ],
    ids=["functions", "counts", "bytes", "list", "deep", "folder"],
)
def test_a_baseline_that_is_none(data, folder):
    from fissile.pipelines.check import baseline

    file = folder / "baseline.json"
    if data is None:
        file.mkdir()
    else:
        file.write_text(
            data
            if isinstance(data, str)
            else json.dumps({"fissile_baseline": 1, "model": "x"} | data if isinstance(data, dict) else data)
        )
    with pytest.raises(UsageError, match="baseline"):
        baseline.read(file, ["main: () -> ()"])


def test_a_baseline_of_another_model_is_named_in_plain_text(folder):
    forged = {
        "fissile_baseline": 1,
        "model": "zz",
        "functions": ["\x1b[31mX\nerror[FIS999] forged"],
        "bytes": {},
    }
    (folder / "base.json").write_text(json.dumps(forged))
    ended = shell("fissile check in.mlir --target gfx942 --probe=never --baseline base.json", folder)
    holds(ended, 2, r"it has \x1b[31mX\nerror[FIS999] forged")
    assert "\x1b" not in ended.stderr


def test_a_baseline_on_a_device_is_not_read_for_ever(folder):
    from fissile.pipelines.check import baseline

    with pytest.raises(UsageError, match="No space left on device"):
        baseline.write(Path("/dev/full"), ["main: () -> ()"], [])


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EAGAIN, errno.ENOMEM, errno.EFBIG]
)
def test_what_the_system_refuses_is_no_defect(number, capsys):
    def work(_words):
        raise OSError(number, os.strerror(number), "/some/place")

    assert run_program("fissile", ["check"], work) == 2
    printed = capsys.readouterr().err
    assert os.strerror(number) in printed and "/some/place" in printed and "shows it again" not in printed
    assert refused_by_system(ValueError("x")) is None and refused_by_system(ImportError("no module")) is None
    assert (
        "memory"
        in refused_by_system(
            ImportError("libIREECompiler.so: failed to map segment from shared object")
        ).message
    )


@pytest.mark.parametrize(
    "error",
    [
        ValueError("v"),
        RecursionError("r"),
        SystemExit(77),
        SystemExit(0),
        GeneratorExit(),
        BaseException("b"),
    ],
    ids=repr,
)
def test_what_a_command_raises_is_exit_status_3_with_a_reproducer(error, capsys):
    def work(_words):
        raise error

    assert run_program("fissile", ["check", "a b.mlir"], work) == 3
    assert "shows it again: fissile check 'a b.mlir'" in capsys.readouterr().err


def test_a_reduction_that_fails_in_fissile_is_no_success(folder):
    """No stock stands in for it: nothing is written, and that is exit status 3 with a reproducer."""
    (folder / "sitecustomize.py").write_text("""import sys
class Breaking:
    def find_spec(self, name, path=None, target=None):
        if name == "fissile.pipelines.reduce.reduction":
            raise KeyError("planted")
sys.meta_path.insert(0, Breaking())
""")
    ended = shell(f"fissile reduce {' '.join(LLVM_CPU)} in.mlir -o out", folder, PYTHONPATH=str(folder))
    holds(ended, 3, "KeyError: 'planted'", "shows it again: ")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("command", [
    "fissile check pipe --target llvm-cpu", "fissile check /dev/zero --target llvm-cpu", "fissile audit pipe --target llvm-cpu",
    f"fissile compile {' '.join(LLVM_CPU)} pipe -o out", f"fissile reduce {' '.join(LLVM_CPU)} pipe -o out",
    "fissile verify pipe --on local-task", "fissile-opt pipe", "fissile compile @/dev/zero",
    "fissile report pipe -o out", "fissile report /dev/zero -o out", "fissile passes --load-passes=pipe",
    "fissile verify in.mlir --on local-task --input pipe", "fissile verify in.mlir --on local-task --reference pipe:f",
])  # fmt: skip
def test_an_input_that_may_have_no_end_is_not_read(command, folder):
    os.mkfifo(folder / "pipe")
    holds(shell(command, folder), 2, "file")


@pytest.mark.parametrize(
    "command",
    ["fissile-opt deep.mlir", "fissile verify deep.mlir", "fissile audit deep.mlir --target llvm-cpu"],
)
def test_a_type_that_the_parser_crashes_over_does_not_end_the_caller(command, folder):
    (folder / "deep.mlir").write_text(
        f"func.func @main(%a: {'tuple<' * 200000}f32{'>' * 200000}) {{ return }}"
    )
    ended = shell(command, folder)
    holds(ended, 1)
    assert (
        "error[FIS107] the compiler crashed (SIGSEGV) in the parse of deep.mlir"
        in ended.stderr + ended.stdout
    )
    assert "shows it again" in ended.stderr + ended.stdout


def test_phase_timeout_is_longer_for_a_large_input(folder, monkeypatch):
    from fissile.pipelines.process.phase_timeout import (
        DEFAULT_SECONDS,
        SECONDS_PER_MEBIBYTE,
        VARIABLE,
        phase_timeout,
    )

    monkeypatch.delenv(VARIABLE, raising=False)
    with (folder / "large").open("wb") as large:
        large.truncate(3 << 20)
    assert phase_timeout(folder / "in.mlir") == DEFAULT_SECONDS
    assert phase_timeout(folder / "large") == DEFAULT_SECONDS + 3 * SECONDS_PER_MEBIBYTE
    monkeypatch.setenv(VARIABLE, "0")
    assert phase_timeout(folder / "large") == 0


@pytest.mark.parametrize(
    "spelled", ["--phase-timeout=-1", "--phase-timeout=x", "--phase-timeout", "--phase-timeout=inf"]
)
def test_a_phase_timeout_that_is_no_number(spelled, capsys):
    assert main(["targets", spelled]) == 2
    assert "--phase-timeout" in capsys.readouterr().err


def test_what_ended_a_worker_is_its_true_cause():
    from fissile.pipelines.process.entry import REFUSED
    from fissile.pipelines.process.worker_end import system_ended

    assert (
        "out of memory"
        in system_ended(-6, "terminate called after throwing an instance of 'std::bad_alloc'").message
    )
    assert "SIGKILL" in system_ended(-9, "").message and "ulimit -t" in system_ended(-24, "").hint
    assert "No space left on device" in system_ended(REFUSED + errno.ENOSPC, "").message
    assert (
        "File too large"
        in system_ended(-6, "LLVM ERROR: IO failure on output stream: File too large").message
    )
    assert (
        system_ended(-11, "") is None
        and system_ended(124, "") is None
        and system_ended(0, "MemoryError") is None
    )


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        ("iree-lld: error: failed to open /tmp/kernel.hsaco: File too large\nStack dump:\n", "File too large"),
        ("iree-lld: error: cannot open output file x.so: No space left on device\n", "No space left on device"),
        ("iree-lld execute fail:File size limit exceededError Code:-2", "File too large"),
    ],
)  # fmt: skip
def test_a_linker_without_room_for_its_file_is_no_fault_of_the_program(printed, cause):
    from fissile.errors import UsageError
    from fissile.finding import Finding
    from fissile.pipelines.process.worker_end import with_room
    from fissile.report import Report

    for detail, errors in ((printed, ""), ("", printed)):
        failed = Report("check", (Finding("FIS108", "IREE stops before phase end", detail=detail),))
        with pytest.raises(UsageError, match=cause) as refused:
            with_room(failed, errors)
        assert refused.value.exit_code == 2 and refused.value.hint
    for other in (
        "iree-lld: error: undefined symbol: File too large\n",
        "the function 'No space left on device'\n",
    ):
        failed = Report("check", (Finding("FIS108", "IREE stops before phase end", detail=other),))
        assert with_room(failed, other) is failed
    assert with_room(Report("check", ()), printed).exit_code == 0


def test_an_answer_that_cannot_be_written_is_no_crash(folder):
    """The worker reaches its end, and its report is larger than a file may be."""
    (folder / "in.mlir").write_text(REFUSED)
    command = "fissile compile --repair=off --iree-hal-target-device=hip --iree-rocm-target=gfx942 --compile-to=executable-configurations"
    holds(shell(f"ulimit -f 1; {command} in.mlir -o out", folder), 2, "File too large", "ulimit -f")
    assert not (folder / "out").exists()


def test_a_phase_that_does_not_end_is_named(folder, monkeypatch):
    """The supervisor's side: a worker whose note says what it does, and which does nothing more."""
    from fissile.pipelines.compile.request import CompileRequest
    from fissile.pipelines.process import child, supervisor
    from fissile.pipelines.process.job import CompileJob
    from fissile.pipelines.process.phase_timeout import VARIABLE

    monkeypatch.setenv(VARIABLE, "0.2")
    (folder / "slow_worker.py").write_text(
        'import sys, time, pathlib\npathlib.Path(sys.argv[1]).with_name(\'step\').write_text(\'{"what": "phase flow", "users": false}\')\ntime.sleep(100)\n'
    )
    monkeypatch.setattr(
        child,
        "module_command",
        lambda _module, *words: [sys.executable, str(folder / "slow_worker.py"), *words],
    )
    job = CompileJob(str(folder), CompileRequest("x"), str(folder / "output"))
    end = supervisor.run_job(job, folder)
    assert end.timed_out and end.phase_limit == 0.2 and end.step.what == "phase flow"


def test_a_worker_without_room_for_a_message_is_no_crash(folder):
    from fissile.pipelines.process.worker_end import out_of_space

    assert out_of_space(folder) is None
    printed = shell(
        f"ulimit -f 1; {sys.executable} -c \"import pathlib; from fissile.pipelines.process.worker_end import out_of_space; "
        "pathlib.Path('full').write_bytes(b'x' * 1024); print(out_of_space(pathlib.Path('.')).message, end='')\" | cat", folder
    )  # fmt: skip
    assert printed.stdout == "File too large", printed.stderr
