"""Passes that a Python process has registered, on their way to the worker process that compiles.

A class of the caller's own, from a script, a notebook or a module, is written by value: the worker need not find its file.
"""

from __future__ import annotations

import inspect
import io
import pickle
import re
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, get_type_hints

from fissile.errors import UsageError

from .definition import Pass, register_pass, registered_passes
from .user_code import MODULE_PREFIX, is_users

SUFFIX = ".passes"
"""Of the file that `ship` writes; `load_user_passes` takes it as it takes a Python file. It holds code: fissile reads only its own."""

_REGISTRY = threading.Lock()
"""cloudpickle keeps one list per process of the modules that are written by value: two compiles in threads would empty it for each other."""


_NOT_WRITTEN = (pickle.PicklingError, TypeError, AttributeError, NameError, RecursionError)
"""What cloudpickle, and a look at annotations, raise for a class that cannot be written."""


def ship(folder: Path, used_in: Sequence[str] = ()) -> Path | None:
    """Writes the passes that are not fissile's own to a file in ``folder``; None where there are none.

    One that cannot be written is left out, unless a text of ``used_in`` (pipelines, flags) names it: then UsageError is raised.
    """
    own = [cls for cls in registered_passes().values() if not cls.__module__.startswith("fissile.")]
    if not own:
        return None
    file = folder / f"registered{SUFFIX}"
    try:
        file.write_bytes(_written(own))
        return file
    except _NOT_WRITTEN as error:
        together = error
    refused = {cls.name: why for cls in own if (why := _why_not_written(cls)) is not None}
    named = [name for name in refused if any(_names(text, name) for text in used_in)]
    if named or not refused:
        names = ", ".join(named or [cls.name for cls in own])
        raise UsageError(
            f"the registered passes cannot be sent to the compiling process: {refused[named[0]] if named else together} ({names})",
            "a pass refers to what can be pickled: no open file, lock or module of IREE's",
        ) from together
    rest = [cls for cls in own if cls.name not in refused]
    if not rest:
        return None
    file.write_bytes(_written(rest))
    return file


def _why_not_written(cls: type[Pass]) -> Exception | None:
    try:
        _written([cls])
    except _NOT_WRITTEN as error:
        return error
    return None


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _written(classes: Sequence[type[Pass]]) -> bytes:
    modules = {sys.modules[name] for cls in classes if (name := cls.__module__) in sys.modules}
    return _by_value([(cls, _annotations(cls)) for cls in classes], modules)


def _by_value(value: object, modules: set[ModuleType]) -> bytes:
    """``value`` pickled, with what it takes from ``modules``, and with the file that each function is from: findings name it."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if not isinstance(obj, CodeType):
                return super().reducer_override(obj)
            make, arguments = self.dispatch_table[CodeType](obj)  # from 3.1.3 on without the file
            return _code_of_file, (obj.co_filename, make, arguments)

    written = io.BytesIO()
    with _REGISTRY:
        unlisted = [one for one in modules if one.__name__ not in cloudpickle.list_registry_pickle_by_value()]
        try:
            for module in unlisted:
                cloudpickle.register_pickle_by_value(module)
            Pickler(written).dump(value)
        finally:
            for module in unlisted:
                cloudpickle.unregister_pickle_by_value(module)
    return written.getvalue()


def _code_of_file(file: str, make: Callable[..., CodeType], arguments: tuple) -> CodeType:
    return make(*arguments).replace(co_filename=file)


def _annotations(cls: type) -> list[tuple[type, dict[str, object]]]:
    """What the annotations of ``cls`` and of the caller's bases of it mean: as text they need a module to be read in."""
    types = get_type_hints(cls)
    bases = (
        base for base in cls.__mro__ if base is not object and not base.__module__.startswith("fissile.")
    )
    return [(base, {name: types[name] for name in inspect.get_annotations(base)}) for base in bases]


def unship(file: Path) -> tuple[str, ...]:
    """Registers what `ship` wrote; the names."""
    import cloudpickle

    from . import properties  # noqa: F401  # contracts name them
    from .taken_names import check_against_iree

    names = []
    for cls, declared in cloudpickle.loads(file.read_bytes()):
        for base, types in declared:
            base.__annotations__ = types
        check_against_iree([cls])  # while it has the name that its caller knows
        if not is_users(cls):
            cls.__module__ = MODULE_PREFIX + cls.__module__.replace(".", "_")
        register_pass(cls)
        names.append(cls.name)
    return tuple(sorted(names))
