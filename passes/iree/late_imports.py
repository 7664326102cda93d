"""Parts of IREE's Python package that are loaded when they are used, in processes that are fissile's own.

`iree.compiler.ir` imports NumPy for four attribute builders, `iree.compiler` the package that runs iree-compile as a program, and the
first op of a dialect that Python sees imports the classes of all its ops, linalg's with their op DSL: together 0.4 s of every worker
process, for nothing that a compile uses.
"""

from __future__ import annotations

import importlib
import sys

from fissile.start import late_modules

_TOOLS = "iree.compiler.tools"
OF_TOOLS = (
    "DEFAULT_TESTING_BACKENDS compile_file compile_str query_available_targets CompilerOptions InputType OutputFormat TempFileSaver "
    "CompilerToolError"
).split()
"""What `iree.compiler` takes over from its package `tools` (IREE 3.13)."""
_NAMES = (
    "affine arith builtin cf complex flow func hal iree_codegen iree_gpu iree_tensor_ext linalg llvm math memref scf shape stream "
    "tensor tosa util vector vm"
)
DIALECTS = tuple(f"iree.compiler.dialects.{name}" for name in _NAMES.split())
UNUSED = ("numpy", _TOOLS, *DIALECTS)
"""An op of such a dialect has no accessors of its own (``op.opview.lengths``): they are `fissile.dialect.views.view_of`'s."""


def load_late() -> None:
    """Makes UNUSED load at the first use of an attribute. For the start of a worker process, before IREE's bindings."""
    late_modules.load_late(UNUSED)
    if "iree.compiler" in sys.modules or not late_modules.is_late(_TOOLS):
        return
    tools = vars(sys.modules[_TOOLS])
    tools |= {"__path__": [], "__all__": []}  # for `from .tools import *`, which is to load nothing
    vars(importlib.import_module("iree.compiler"))["__getattr__"] = _of_tools
    del tools["__path__"], tools["__all__"]


def load_now() -> None:
    """Loads what `load_late` left out: for code of a user's, which may read an op by the accessors of its class."""
    late_modules.load_now(UNUSED)


def _of_tools(name: str) -> object:
    if name not in OF_TOOLS:
        raise AttributeError(f"module 'iree.compiler' has no attribute {name!r}")
    return getattr(sys.modules[_TOOLS], name)
