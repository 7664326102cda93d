"""README and docs: what they show runs and prints what they say, their links lead somewhere, their lines fit a screen."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import doc_commands
import pytest
from iree_versions import since

from fissile.cli.command_line.parser import parser_of
from fissile.cli.command_line.table import COMMANDS
from fissile.errors import UsageError
from fissile.pipelines.compile.request import parse_command_line

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
TOP = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = sorted([*TOP, *(ROOT / "docs").rglob("*.md")])
FOLLOWED = {
    page: doc_commands.blocks(page.read_text())
    for page in PAGES
    if any(block.runs for block in doc_commands.blocks(page.read_text()))
}
"""Pages with something to run."""
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
LLVM_STYLE = ("compile", "reduce")
"""Commands whose words are iree-compile's."""
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.S)
_PLACEHOLDER = re.compile(r"…|\.\.\.|\b[A-Z]{3,}\b(?!\d)|[<\[{]")
"""`fissile check MODEL …` shows a form, not a command."""
MODEL = """\
func.func @double(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
"""
_COMMAND = re.compile(r"^\s*(\$ |fissile(-opt)? |make |python -m |pip install |iree-compile )")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a reader has it: the clone's examples beside the models."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


REFUSED_MODEL = since("3.13", "a refusal of the README's ONNX model, which this version builds")


def _followed(page):
    return pytest.param(page, marks=REFUSED_MODEL) if page.name in ("README.md", "walks.md") else page


@pytest.mark.parametrize("page", map(_followed, FOLLOWED), ids=lambda page: page.name)
def test_what_a_page_shows_runs_and_prints_what_it_shows(page, folder):
    if page != README:  # the README makes its own
        (folder / "model.mlir").write_text(MODEL)
    assert doc_commands.follow(page.read_text(), folder) >= 1


def test_enough_pages_are_followed():
    names = {page.name for page in FOLLOWED}
    assert names >= {
        "README.md",
        "tour.md",
        "ci-gate.md",
        "stock-iree.md",
        "python-api.md",
        "passes.md",
        "walks.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_one_that_fissile_takes(page):
    """Those that are not run as well: in tables, in sentences, and too long for a test."""
    wrong = {}
    for command in commands_of(page.read_text()):
        try:
            understood(command)
        except (UsageError, SystemExit) as error:
            wrong[command] = str(error)
    assert wrong == {}


def commands_of(text: str) -> set[str]:
    """The commands of fissile's in ``text`` that are written out: in code, without a placeholder."""
    joined = text.replace("\\\n", " ")
    spans = re.findall(r"`(fissile [^`\n]+)`", joined)
    lines = re.findall(r"^\s*(?:\$ )?(fissile [^\n]+)$", "\n".join(_FENCED.findall(joined)), flags=re.M)
    found = {re.sub(r"\s+#.*|\s+>\s.*|\s\|\s.*", "", command).strip() for command in (*spans, *lines)}
    return {
        command for command in found if command.split()[1] in COMMANDS and not _PLACEHOLDER.search(command)
    }


def understood(command: str) -> None:
    """Raises UsageError, or SystemExit as argparse does, where the command line of ``command`` is not taken."""
    _, name, *words = shlex.split(command)
    known = {f"--{option.name}" for option in COMMANDS[name].all_options}
    needs_file = any(argument.name in ("MODEL", "FIRST", "RESULTS") for argument in COMMANDS[name].arguments)
    if needs_file and not any("." in word for word in words):  # a command or an option is only named
        strange = {word.partition("=")[0] for word in words if word.startswith("--")} - known
        if strange and name not in LLVM_STYLE:
            raise UsageError(f"unknown: {sorted(strange)}")
    elif name in LLVM_STYLE:
        parse_command_line(words)
    else:
        parser_of(COMMANDS[name]).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    broken = [
        link
        for link in _LINK.findall(page.read_text())
        if "://" not in link and not _target_exists(page, link)
    ]
    assert broken == []


def _target_exists(page: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    return target.exists() and (not anchor or anchor in anchors(target.read_text()))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-") for heading in headings
    }


def test_the_readme_fits_a_screen():
    lines = README.read_text().splitlines()
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_stand_in_blocks_that_are_run_or_marked(page):
    text = _GENERATED.sub("", page.read_text())
    stray = [
        f"{page.name}:{block.line}"
        for block in doc_commands.blocks(text)
        if block.language not in doc_commands.RUN and any(map(_COMMAND.match, block.text.splitlines()))
    ]
    assert stray == []


# --- the runner itself ---------------------------------------------------------------------------------------------


def test_a_wrong_status_or_output_on_a_page_is_found(tmp_path):
    def block(text: str, language: str = "sh") -> doc_commands.Block:
        (found,) = doc_commands.blocks(f"```{language}\n{text}\n```\n")
        return found

    doc_commands.run(block("true\nfalse  # fails: exit status 1"), tmp_path)
    doc_commands.run(block("$ echo one two three\none\n…\nthree", "console"), tmp_path)
    for wrong in (
        block("false"),
        block("$ echo one\ntwo", "console"),
        block("raise SystemExit(1)", "python"),
    ):
        with pytest.raises(AssertionError):
            doc_commands.run(wrong, tmp_path)


def test_parts_of_an_output_are_looked_for_in_order():
    assert doc_commands.missing_part("a b\n…\nc", "a\nb\nx c") is None
    assert doc_commands.missing_part("c\n…\na", "a\nb\nc") == "\na"
    assert doc_commands.missing_part("needs … bytes", "needs 12 bytes") is None


def test_the_index_leads_to_every_page():
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in _LINK.findall(index.read_text())}
    pages = set((ROOT / "docs").rglob("*.md")) - {index}
    assert sorted(page.name for page in pages - linked) == []
