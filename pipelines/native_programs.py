"""IREE's own programs: those of the packages that Python imports, and no others.

A program of the same name on PATH may be anybody's, or of another version. What a wheel puts beside the interpreter is a Python script
that starts the native program as its child; killed, it leaves that behind.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fissile.errors import UsageError

_PACKAGES = {
    "iree-compile": ("iree.compiler", "_mlir_libs", "iree-base-compiler"),
    "iree-opt": ("iree.compiler", "_mlir_libs", "iree-base-compiler"),
    "iree-run-module": ("iree._runtime_libs", "", "iree-base-runtime"),
    "iree-benchmark-module": ("iree._runtime_libs", "", "iree-base-runtime"),
}
"""Program -> the package that it is in, the folder there, and what installs it."""


def stock_compiler() -> str:
    """The path of iree-compile. Raises UsageError where it is not installed."""
    return native_program("iree-compile")


@cache
def native_program(name: str) -> str:
    """The path of a program of IREE's. Raises UsageError where it is not installed."""
    module, folder, package = _PACKAGES[name]
    spec = find_spec(module)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        if os.access(found := Path(root, folder, name).absolute(), os.X_OK):
            return str(found)
    raise UsageError(f"{name} is not installed", f"pip install '{package}>=3.13,<3.14'")
