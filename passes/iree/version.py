"""Which version of IREE is installed, and whether fissile's models of it were measured on that version."""

from __future__ import annotations

from functools import cache

CALIBRATED = "3.13"
"""The version that predictions, thresholds and messages were measured on; docs/iree_versions.md says how to move it."""
SUPPORTED = ("3.12", "3.13")
"""The versions that the tests run on (`make test-iree IREE=3.12.0`)."""


@cache
def installed() -> str:
    """The version of the installed `iree-base-compiler`, such as "3.13.0"; empty where its distribution has no metadata."""
    from importlib.metadata import PackageNotFoundError, version  # 20 ms, wanted rarely

    try:
        return version("iree-base-compiler")
    except PackageNotFoundError:
        return ""


def is_calibrated() -> bool:
    """Whether predictions may be trusted without code generation."""
    return release(installed()) == CALIBRATED


def release(full: str) -> str:
    """Major and minor number: "3.13" of "3.13.0", "3.14" of "3.14.0rc20261120"."""
    return ".".join(full.split(".")[:2])


def doubt() -> str:
    """Why nothing that is predicted for this IREE counts until IREE confirms it; empty on the calibrated version."""
    if is_calibrated():
        return ""
    return f"IREE {installed() or 'of unknown version'} is not the version that fissile was calibrated on ({CALIBRATED})"
