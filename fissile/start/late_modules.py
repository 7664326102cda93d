"""Modules that are loaded when they are used, and not when they are imported: for the start of a process that is fissile's own.

`importlib.util.LazyLoader` does not help: an import statement asks a module for its ``__spec__``, which makes it load.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType


def load_late(names: Iterable[str]) -> None:
    """Makes ``names`` load at the first use of an attribute; what is loaded already stays."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = _stand_in(name)


def is_late(name: str) -> bool:
    """Whether ``name`` is yet to be loaded."""
    module = sys.modules.get(name)
    return module is not None and "__file__" not in vars(module)


def load_now(names: Iterable[str]) -> None:
    """Loads what `load_late` left out."""
    for name in filter(is_late, names):
        assert sys.modules[name].__file__


SELDOM_USED = ("difflib", "hashlib", "inspect", "textwrap", "tokenize", "zipfile")
"""Of Python's own modules: what a compile that succeeds has no use for. `inspect` brings `ast` and `dis` along, for the docstring that
`dataclasses` writes of a class without one; `traceback` imports `tokenize`, which compiles many patterns; `hashlib` loads OpenSSL."""


def begin_lightly() -> None:
    """For the start of a program, before `dataclasses` is imported: SELDOM_USED only where it is used, 0.03 s of each process.

    msgspec takes four names from `typing_extensions` where that is installed, which uses `inspect`; Python's own `typing` has them.
    """
    load_late(SELDOM_USED)
    if "typing_extensions" in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # to import it fails, which msgspec expects
    try:
        importlib.import_module("msgspec")
    finally:
        del sys.modules["typing_extensions"]


def _stand_in(name: str) -> ModuleType:
    stand_in = ModuleType(name)
    own = stand_in.__dict__

    def load(attribute: str) -> object:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        loaded = importlib.import_module(name)
        own.update(loaded.__dict__)
        return getattr(loaded, attribute)

    own["__getattr__"] = load
    stand_in.__spec__ = ModuleSpec(name, None)  # what every import statement asks for: it must load nothing
    return stand_in
