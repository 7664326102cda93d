"""What a caller gave to a Python function, in the form that the pipelines take. Each raises UsageError for anything else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from fissile.errors import UsageError
from fissile.option_values import LONGEST
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.targets import resolve_target
from fissile.target import Target, parse_budget


def flag_words(flags: Any) -> list[str]:
    """``flags`` as a list of words."""
    if isinstance(flags, str) or not isinstance(flags, Sequence):
        raise UsageError(f"flags is {_kind(flags)}", "give a list of strings, one for each flag")
    for flag in flags:
        if not isinstance(flag, str):
            raise UsageError(f"flags holds {_kind(flag)}", "give a list of strings, one for each flag")
    return list(flags)


def target_flags(target: Any) -> list[str]:
    """The flags of iree-compile that name ``target``; none for None."""
    if target is None:
        return []
    if isinstance(target, (list, tuple, set)):
        raise UsageError(
            "compile takes one target", "call it once for each target; fissile.check takes many at once"
        )
    return list(flags_for(resolve_target(target) if isinstance(target, str) else _target(target)))


def many_targets(target: Any) -> list[str | Target]:
    """``target`` as a list: a name, a Target, or several of them."""
    if isinstance(target, (str, Target)):
        return [target]
    if not isinstance(target, Sequence):
        _target(target)
    return [one if isinstance(one, str) else _target(one) for one in target]


def file_path(value: Any, name: str) -> str:
    """``value``, the argument ``name``, as the path of a file."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(path := os.fspath(value), str):
        raise UsageError(f"{name} is {_kind(value)}", f"give a path: {name}='model.vmfb'")
    if path in _TARGETS_AS_A_FILE:
        raise UsageError(f"{name} is '{path}', the name of a target", f"write target='{path}'")
    return path


def budget_bytes(value: Any) -> int | None:
    """A positive number of bytes, or text such as 64K."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise UsageError(f"budget is {_kind(value)}", "give a number of bytes: budget=65536")
    return parse_budget(str(value))


def seconds(value: Any, name: str, *, endless: bool = False) -> float:
    """A number of seconds above 0; where ``endless``, 0 stands for no limit."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= LONGEST or value == 0 and not endless:
        raise UsageError(
            f"{name}={value!r} is not a number of seconds",
            f"for example {name}=60{'; 0 is no limit' * endless}",
        )
    return float(value)


_TARGETS_AS_A_FILE = ("llvm-cpu", "vulkan", "metal", "cuda", "hip", "rocm")
"""Names that somebody who forgot `target=` gives as the second argument; a file of that name is written as ./NAME."""


def _target(value: Any) -> Target:
    if not isinstance(value, Target):
        raise UsageError(
            f"target is {_kind(value)}", "give a name such as 'gfx942'; `fissile targets` lists them"
        )
    return value


def _kind(value: Any) -> str:
    shown = f"{value!r}, of type " if isinstance(value, (int, float, str)) else "of type "
    return shown + type(value).__name__
