"""What is found without running anything: by ruff, text that does not show all that it says, tests that a busy machine fails."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = (".bin", ".npy", ".npz", ".onnx", ".png", ".vmfb", ".mlirbc")
LEAST_SECONDS = 120
"""What a test allows a program: less is a deadline under test, and says so at the end of the line."""
UNDER_TEST = "# a deadline under test"
WAITS = {"wait", "communicate", "run_child", "run", "run_program", "Popen", "settimeout", "check_output"}


@pytest.mark.parametrize(
    "words", [("check", "--output-format=concise"), ("format", "--check")], ids=lambda words: words[0]
)
def test_ruff_finds_nothing(words):
    ended = subprocess.run(
        [Path(sys.executable).parent / "ruff", words[0], "--no-cache", *words[1:], "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    way_out = f"make format, or .venv/bin/ruff {words[0]}\n"
    assert ended.returncode == 0, way_out + ended.stdout + ended.stderr


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("no git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def hidden(data: bytes) -> str:
    """Why ``data`` is no text that shows all that it says; empty where it is."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte {error.start}"
    for line, content in enumerate(text.split("\n"), 1):
        for character in content:
            if character != "\t" and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
                return f"line {line}: U+{ord(character):04X} {unicodedata.name(character, 'control')}"
    return ""


def test_every_file_shows_what_it_says():
    """Text direction marks and characters without a shape let a source say another thing than it shows (CVE-2021-42574)."""
    found = {path: hidden(path.read_bytes()) for path in tracked() if path.suffix not in BINARY}
    assert {str(path.relative_to(ROOT)): why for path, why in found.items() if why} == {}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"plain \xc3\xa4 \xe2\x80\xa6\n\tindented\n", ""),
        (b"\xff", "not UTF-8: byte 0"),
        ("a\n\u202eb".encode(), "line 2: U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066".encode(), "line 1: U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("x\u200by".encode(), "line 1: U+200B ZERO WIDTH SPACE"),
        (b"\x1b[2J", "line 1: U+001B control"),
        (b"a\r\n", "line 1: U+000D control"),
    ],
)
def test_what_is_hidden_is_found(data, why):
    assert hidden(data) == why


def short_waits(text: str) -> list[int]:
    """Lines of calls that give a program less than LEAST_SECONDS, or sleep for a time that something else has to end in."""
    lines, found = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [word.value for word in node.keywords if word.arg == "timeout"]
        given += node.args[:1] if name in ("wait", "communicate", "settimeout") else []
        short = [n.value for n in given if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))]
        if any(value < LEAST_SECONDS for value in short) and name in WAITS | {"call"}:
            if not any(UNDER_TEST in line for line in lines[node.lineno - 1 : node.end_lineno]):
                found.append(node.lineno)
    return found


def test_no_test_gives_a_program_a_short_time():
    found = {path: short_waits(path.read_text()) for path in tracked("tests/*.py")}
    assert {str(path.relative_to(ROOT)): lines for path, lines in found.items() if lines} == {}


def test_short_times_are_found():
    assert short_waits(
        "subprocess.run(x,\n timeout=60)\np.wait(5)\np.wait(300)\nrun_child(x, timeout=None)"
    ) == [1, 3]
    assert short_waits(f"run_child(x, timeout=0.1)  {UNDER_TEST}") == []


def test_the_generated_parts_of_the_docs_are_current():
    docs = runpy.run_path(str(ROOT / "tools" / "docs.py"), run_name="docs")
    assert docs["stale"]() == [], "run `make docs`"
    page = (ROOT / "docs" / "remedies.md").read_text()
    assert docs["generated"](page.replace("fissile-split-results", "fissile-other")) == page


def test_every_reference_page_is_generated_and_linked():
    """Findings, targets, ops, Python, commands, contracts: each has a page that the site's index leads to."""
    docs = runpy.run_path(str(ROOT / "tools" / "docs.py"), run_name="docs")
    pages = {page.name: page.read_text() for page in (ROOT / "docs").glob("*.md")}
    for part in docs["PARTS"]:
        (name,) = [name for name, text in pages.items() if f"<!-- generated: {part} " in text]
        assert f"({name})" in pages["index.md"], name
