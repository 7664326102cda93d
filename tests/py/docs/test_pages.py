"""README and docs: what they show runs and prints what they say, their links lead somewhere, their lines fit a screen."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import doc_commands
import pytest

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
PAGES = sorted([README, ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"^\s*(\$ |fissile(-opt)? |make |python -m |pip install |iree-compile )")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a reader has it: the clone's examples beside the models."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def test_every_command_of_the_readme_runs_and_prints_what_it_shows(folder):
    found = doc_commands.blocks(README.read_text())
    assert sum(block.runs for block in found) >= 4
    for block in found:
        if block.runs and all(importlib.util.find_spec(name.split(".")[0]) for name in block.needs):
            doc_commands.run(block, folder)


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


@pytest.mark.parametrize("page", [README], ids=lambda page: page.name)
def test_commands_stand_in_blocks_that_are_run_or_marked(page):
    text = page.read_text()
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
