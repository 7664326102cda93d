"""Marks of tests for what a supported version of IREE doesn't have."""

from __future__ import annotations

import pytest

from fissile.passes.iree.version import installed, release


def since(version: str, why: str) -> pytest.MarkDecorator:
    """Skips a test on versions of IREE before ``version`` ("3.13"); ``why`` says what they lack."""
    held, needed = (tuple(map(int, release(v).split("."))) for v in (installed(), version))
    return pytest.mark.skipif(held < needed, reason=f"before IREE {version}: {why}")
