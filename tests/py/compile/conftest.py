"""A program as a file."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def program(tmp_path):
    def write(text: str, name: str = "in.mlir") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
