"""Files that a command line names: endless ones, names that are no text, two outputs in one place, arrays that are none."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell

from fissile.errors import UsageError
from fissile.given_files import named_in_utf8, written_apart

COMPILE = f"fissile compile {' '.join(LLVM_CPU)}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


@pytest.mark.parametrize("command", [
    f"{COMPILE} NAME -o out", f"{COMPILE} in.mlir -o NAME", "fissile check NAME --target llvm-cpu", "fissile verify NAME --on local-task",
    "fissile audit NAME --target llvm-cpu", "fissile sweep NAME --target llvm-cpu --out out", "fissile-opt NAME",
    "fissile report NAME -o out", "fissile passes --load-passes=NAME",
])  # fmt: skip
def test_a_name_that_is_no_text_is_refused_in_words(command, folder):
    name = r"$'b\xff.mlir'"
    shell(f"cp in.mlir {name}", folder)
    holds(shell(command.replace("NAME", name), folder), 2, r"b\udcff.mlir", "is not UTF-8", "rename the file")
    assert not (folder / "out").exists()


def test_any_other_name_is_taken():
    named_in_utf8(["-", "", "a b.mlir", "ä/\x1b\n.mlir", Path("x")])
    with pytest.raises(UsageError, match="not UTF-8"):
        named_in_utf8(["a", Path("b\udcff")])


def test_two_outputs_in_one_place_are_found_through_links(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("out")
    Path("folder").mkdir()
    Path("there").symlink_to("folder")
    for one, other in (
        ("out", "./out"),
        ("link", "out"),
        ("folder/x", "there/x"),
        ("out", str(tmp_path / "out")),
    ):
        with pytest.raises(UsageError, match=f"--report={other} is -o too"):
            written_apart((("-o", one), ("--report", other)))
    os.mkfifo("pipe")
    for one in ("", "-", os.devnull, "pipe"):
        written_apart((("-o", one), ("--report", one)))
    written_apart((("-o", "out"), ("--report", "other"), ("-o", "out")))


@pytest.mark.parametrize("command", [
    f"{COMPILE} in.mlir -o out --format=json --report-file=link", f"{COMPILE} in.mlir -o out --report=in.mlir",
    "fissile check in.mlir --target llvm-cpu --report in.mlir",
    "fissile check in.mlir --target llvm-cpu --report out --report-file ./out",
    "fissile check in.mlir --target llvm-cpu --baseline in.mlir --update-baseline",
    "fissile check in.mlir --target llvm-cpu --baseline out --update-baseline --report out",
    "fissile audit in.mlir --target llvm-cpu --report-file in.mlir", "fissile verify in.mlir --on local-task --report in.mlir",
    "fissile sweep in.mlir --target llvm-cpu --out results --report in.mlir", "fissile report in.mlir -o in.mlir",
    "fissile-opt in.mlir -o out --report-file=out", "fissile-opt in.mlir -o out --report-file=in.mlir",
    f"fissile reduce {' '.join(LLVM_CPU)} in.mlir -o out --report-file=in.mlir",
])  # fmt: skip
def test_no_output_is_lost_to_another_and_no_input_to_an_output(command, folder):
    (folder / "link").symlink_to("out")
    holds(shell(command, folder), 2, " too")
    assert (folder / "in.mlir").read_text() == ADD
    assert sorted(p.name for p in folder.iterdir()) == ["in.mlir", "link"]


@pytest.mark.parametrize("output", ["in.mlir", "./in.mlir", "link", "there/in.mlir"])
@pytest.mark.parametrize("command", [COMPILE, f"fissile reduce {' '.join(LLVM_CPU)}"])
def test_the_program_is_not_lost_to_the_module(command, output, folder):
    """Stock iree-compile overwrites it."""
    (folder / "link").symlink_to("in.mlir")
    (folder / "there").symlink_to(".")
    holds(shell(f"{command} in.mlir -o {output}", folder), 2, f"-o={output} is the input too", "name another")
    assert (folder / "in.mlir").read_text() == ADD


def _array(value: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def _archive() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.ones(4, np.float32))
    return file.getvalue()


@pytest.mark.parametrize(("content", "printed"), [
    (_archive(), "is an archive, not one array"), (b"", "is not a .npy file"), (_array(np.ones(4, np.float32))[:100], "is not a .npy file"),
], ids=["archive", "empty", "cut"])  # fmt: skip
def test_a_file_that_is_no_array_is_named(content, printed, folder):
    (folder / "a.npy").write_bytes(content)
    holds(shell("fissile verify in.mlir --on local-task --input a.npy", folder), 2, "a.npy", printed)


def test_an_array_in_the_other_byte_order_is_one(folder):
    (folder / "a.npy").write_bytes(_array(np.arange(4).astype(">f4")))
    (folder / "b.npy").write_bytes(_array(np.arange(4).astype("<f4") * 2))
    holds(shell("fissile verify in.mlir --on local-task --input a.npy --expected b.npy", folder), 0)


GONE = "mkdir gone && cd gone && rmdir ../gone && "


@pytest.mark.parametrize("command", [
    f"{COMPILE} {{0}}/in.mlir -o {{0}}/out", "fissile-opt {0}/in.mlir -o {0}/out", "fissile check {0}/in.mlir --target llvm-cpu",
    "fissile verify {0}/in.mlir --on local-task",
])  # fmt: skip
def test_a_working_directory_that_is_gone_is_not_needed(command, folder):
    holds(shell(GONE + command.format(folder), folder), 0)
    assert (folder / "out").exists() is ("/out" in command)


@pytest.mark.parametrize(
    "command", [f"{COMPILE} {{0}}/in.mlir -o out", f"{COMPILE} in.mlir -o {{0}}/out", "fissile-opt in.mlir"]
)
def test_a_name_in_a_working_directory_that_is_gone_is_explained(command, folder):
    ended = shell(GONE + command.format(folder), folder)
    assert ended.returncode == 2, ended.stderr
    assert "the working directory does not exist any more" in ended.stderr or "no such file" in ended.stderr
    assert not (folder / "out").exists()


def test_python_compiles_in_a_working_directory_that_is_gone(folder):
    (folder / "mine.py").write_text(
        "import os, sys, fissile\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        f"print(fissile.compile({ADD!r}, target='llvm-cpu').functions)\n"
        "try:\n    fissile.compile('in.mlir', 'out.vmfb', target='llvm-cpu')\n"
        "except fissile.errors.UsageError as error:\n    print(error.message)\n"
    )
    ended = shell("python mine.py", folder)
    assert ended.returncode == 0, ended.stderr
    assert "no such file" in ended.stdout or "working directory" in ended.stdout
