"""A user's own Python files: what goes wrong in them is reported with their file and line."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

MODULE_PREFIX = "fissile_user_passes_"
"""What the modules of users' files are called in `sys.modules`."""

LEFT = "the check of the IR that {} left"
"""The step behind a user's pass, whose name stands in it: IREE's verifier crashes on some of what a pass can leave."""


def way_out(step: str) -> str:
    """What to do where ``step`` of a user's ended the process; empty where that is not known."""
    left = step.startswith(LEFT.partition("{")[0])
    return (
        "an op that is erased must have no uses: op.result.replace_all_uses_with(…) comes first"
        if left
        else ""
    )


class _SourceAlone(SourceFileLoader):
    """Imports a file's text: compiled code beside it (`__pycache__`) may say something else, and none is left there."""

    def path_stats(self, path: str) -> dict[str, Any]:
        raise OSError  # what Python's own loader does without stats: it neither reads nor writes compiled code


def module_of(file: str | os.PathLike, name: str) -> ModuleType:
    """The module ``name`` that ``file`` makes, not executed yet; the file's name may have any ending, or none."""
    loader = _SourceAlone(name, os.fspath(file))
    spec = ModuleSpec(name, loader, origin=os.fspath(file))
    spec.has_location = True
    return module_from_spec(spec)


def execute(module: ModuleType) -> None:
    """Runs the file that ``module`` was made of."""
    assert module.__spec__ is not None and module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)


def loaded_files() -> tuple[str, ...]:
    """The users' files that were imported in this process."""
    modules = [module for name, module in sys.modules.items() if name.startswith(MODULE_PREFIX)]
    return tuple(sorted(str(module.__file__) for module in modules if getattr(module, "__file__", None)))


def is_users(cls: type) -> bool:
    """Whether a pass comes from a user's file."""
    return cls.__module__.startswith(MODULE_PREFIX)


def class_named(cls: type) -> str:
    """``module.Mine``; of a user's file ``Mine of mine.py``."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) if is_users(cls) else None
    return f"{cls.__qualname__} of {as_typed(file)}" if file else f"{cls.__module__}.{cls.__qualname__}"


def pass_named(cls: Any) -> str:
    """``pass 'mine' (mine.py:11)``: where its `run` is defined; a built-in pass by its name alone."""
    if not is_users(cls):
        return f"pass '{cls.name}'"
    file = source_of(cls)
    return (
        f"pass '{cls.name}' ({as_typed(file)}:{cls.run.__code__.co_firstlineno})"
        if file
        else f"pass '{cls.name}'"
    )


def source_of(cls: Any) -> str:
    """The file in which the `run` of a user's pass is defined; empty where no `def` does."""
    code = getattr(cls.run, "__code__", None)
    return code.co_filename if code else ""


def cause(error: BaseException, file: str | None) -> str:
    """The error in one line; with the innermost line of ``file`` that it came through."""
    summary = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {summary}".rstrip(": ")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{text} ({as_typed(file)}:{lines[-1]})" if file and lines else text


def is_ctrl_c(error: BaseException) -> bool:
    """Whether a signal raised it, and not the user's code: where SIGINT has no handler, which is so in children, no signal does."""
    return isinstance(error, KeyboardInterrupt) and callable(signal.getsignal(signal.SIGINT))


def as_typed(file: str | os.PathLike) -> str:
    """``file`` as seen from the working directory, where that is shorter."""
    with suppress(OSError, ValueError):
        return min(os.path.relpath(file), str(file), key=len)
    return str(file)
