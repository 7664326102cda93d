"""Which version of IREE is installed, and whether fissile's models of it were measured on that version."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

CALIBRATED = "3.13"
"""The version that predictions, thresholds and messages were measured on; docs/iree_versions.md says how to move it."""
SUPPORTED = ("3.12", "3.13")
"""The versions that the tests run on (`make test-iree IREE=3.12.0`)."""


CALIBRATING = "FISSILE_CALIBRATING"
"""An environment variable: the version that fissile is being calibrated on (`make test-iree` sets it). It counts as calibrated,
so that a test fails for what is different and not for the doubt."""


@cache
def installed() -> str:
    """The version of the installed `iree-base-compiler`, such as "3.13.0"; empty where its distribution has no metadata."""
    if len(found := _metadata_folders()) == 1:
        return found[0].name.removesuffix(".dist-info").partition("-")[2]
    from importlib.metadata import PackageNotFoundError, version  # it takes 20 ms to load

    try:
        return version("iree-base-compiler")
    except PackageNotFoundError:
        return ""


def _metadata_folders() -> list[Path]:
    """Those of the distribution that stand where the compiler is imported from; their names have the version."""
    spec = find_spec("iree.compiler")
    folders = spec.submodule_search_locations or () if spec else ()
    return [one for at in folders for one in Path(at).parents[1].glob("iree_base_compiler-*.dist-info")]


def is_calibrated() -> bool:
    """Whether predictions may be trusted without code generation."""
    return release(installed()) in (CALIBRATED, release(os.environ.get(CALIBRATING, CALIBRATED)))


def release(full: str) -> str:
    """Major and minor number: "3.13" of "3.13.0", "3.14" of "3.14.0rc20261120"."""
    return ".".join(full.split(".")[:2])


def doubt() -> str:
    """Why nothing that is predicted for this IREE counts until IREE confirms it; empty on the calibrated version."""
    if is_calibrated():
        return ""
    return f"IREE {installed() or 'of unknown version'} is not the version that fissile was calibrated on ({CALIBRATED})"
