"""Parts of IREE's Python package that are loaded when they are used, in processes that are fissile's own.

`iree.compiler.ir` imports NumPy for four attribute builders, and the first op of a dialect that Python sees imports the classes of all
its ops, linalg's with their op DSL: together 0.3 s of every worker process, for nothing that a compile uses. `importlib.util.LazyLoader`
does not help: an import statement asks a module for its ``__spec__``, which makes it load.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED = (
    "numpy",
    "iree.compiler.dialects.iree_codegen",
    "iree.compiler.dialects.iree_gpu",
    "iree.compiler.dialects.linalg",
    "iree.compiler.dialects.tosa",
    "iree.compiler.dialects.util",
)
"""Dialects are those whose ops fissile reads as it reads any op, by operands and attributes. A view of such an op has no accessors of its
own (``op.opview.lengths``), so a dialect whose views are used (hal, memref, tensor, …) is not among them."""


def load_late(names: tuple[str, ...] = UNUSED) -> None:
    """Makes ``names`` load at the first use of an attribute. For the start of a worker process, before IREE's bindings."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = _stand_in(name)


def _stand_in(name: str) -> ModuleType:
    stand_in = ModuleType(name)

    def load(attribute: str) -> object:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        loaded = importlib.import_module(name)
        stand_in.__dict__.update(loaded.__dict__)
        return getattr(loaded, attribute)

    stand_in.__dict__["__getattr__"] = load
    stand_in.__spec__ = ModuleSpec(
        name, None
    )  # what every import statement asks for; finding it must load nothing
    return stand_in
