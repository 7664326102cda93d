"""What ruff finds without running anything: an undefined name that no other test meets would throw in a user's compile."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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
