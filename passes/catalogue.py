"""Which passes there are, by name, without importing them.

A built-in pass is imported on first use: a start-up does not pay for passes it does not use.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path

from fissile.errors import UsageError, closest

from .built_in import built_in
from .definition import Pass, PassDefinitionError, registered_passes
from .plugins import load_plugged
from .progress import running
from .shipped_passes import SUFFIX, unship
from .user_code import MODULE_PREFIX, cause, execute, is_ctrl_c, module_of


def known_passes() -> tuple[str, ...]:
    """All names, sorted: the built-in passes, those of other packages, and those of the users' files loaded so far."""
    load_plugged()
    return tuple(sorted({*built_in(), *registered_passes()}))


def is_known(name: str) -> bool:
    if name not in built_in() and name not in registered_passes():
        load_plugged()
    return name in built_in() or name in registered_passes()


def find_pass(name: str) -> type[Pass]:
    """The pass class called ``name``. Raises UsageError with the nearest known name."""
    if name not in registered_passes():
        if name in built_in():
            importlib.import_module(built_in()[name])
        else:
            load_plugged()
    found = registered_passes().get(name)
    if found is None:
        raise UsageError(f"unknown pass '{name}'", closest(name, list(known_passes())))
    return found


def load_user_passes(path: str | Path) -> tuple[str, ...]:
    """Imports a user's Python file and returns the names of the passes it registers. Raises UsageError.

    A file that was loaded before is not loaded again.
    """
    file = Path(path).resolve()
    if file.suffix == SUFFIX:
        return unship(file)
    module_name = MODULE_PREFIX + hashlib.sha256(str(file).encode()).hexdigest()[:12]
    if module_name not in sys.modules:
        _import_file(file, module_name, shown=str(path))
    return tuple(sorted(name for name, cls in registered_passes().items() if cls.__module__ == module_name))


def _import_file(file: Path, module_name: str, shown: str) -> None:
    if not file.is_file():
        raise UsageError(f"no such file of passes: {shown}")
    module = module_of(file, module_name)
    sys.modules[module_name] = module  # dataclasses look annotations up here
    try:
        with running(f"the import of {shown}", users=True):
            execute(module)
    except BaseException as error:  # sys.exit at the top of a file is no way to end a compile
        del sys.modules[module_name]
        if is_ctrl_c(error):
            raise
        raise UsageError(f"{shown} cannot be imported: {cause(error, str(file))}") from None
    from .taken_names import check_against_iree  # IREE's bindings: only where there are passes of users

    try:
        check_against_iree(cls for cls in registered_passes().values() if cls.__module__ == module_name)
    except PassDefinitionError as wrong:
        raise PassDefinitionError(
            f"{shown}: {wrong.message.replace(f'{module_name}.', '')}", wrong.hint
        ) from None
