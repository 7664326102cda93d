"""What a caller gave to a Python function, in the form that the pipelines take. Each raises UsageError for anything else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
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
        if not is_text(flag):
            raise UsageError(f"flags holds {flag!r}, which is no text", NO_TEXT)
    return list(flags)


def compile_flags(flags: Any) -> list[str]:
    """`flag_words` without what a caller gives to `fissile.compile`, or takes from its result, in another way."""
    words = flag_words(flags)
    for word in words:
        if word.startswith("-") and (instead := _INSTEAD.get(word.lstrip("-").partition("=")[0])):
            raise UsageError(f"flags holds '{word}', which is of the command alone", instead)
    return words


def name_of(value: Any, name: str, example: str) -> str | None:
    """``value``, the argument ``name``, as a name, or None."""
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} is {_kind(value)}", f"give a name: {name}={example!r}")
    return value


def seeds_of(value: Any) -> tuple[int, ...]:
    """A number of random inputs, or the seeds themselves, none of them negative."""
    hint = "give a number of inputs, 1 or more, or a list of seeds"
    if hasattr(value, "__index__") and not isinstance(value, (bool, Iterable)):
        if value > MOST_SEEDS:
            raise UsageError(f"seeds={value} are more than {MOST_SEEDS}", "give a list of seeds")
        numbers: tuple[Any, ...] = tuple(range(value))
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        numbers = tuple(value)
    else:
        raise UsageError(f"seeds is {_kind(value)}", hint)
    for one in numbers:
        if not hasattr(one, "__index__") or isinstance(one, bool) or int(one) < 0:
            raise UsageError(f"seeds holds {one!r}, which is no seed", "a seed is an integer of 0 or more")
    if not numbers:
        raise UsageError(f"seeds={value!r} tries nothing", hint)
    return tuple(map(int, numbers))


def names_of(value: Any, name: str, example: str) -> tuple[str, ...]:
    """One name, or several."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise UsageError(f"{name} is {_kind(value)}", f"give a name, or a list of them: {name}=[{example!r}]")
    names = tuple(value)
    for one in names:
        if not isinstance(one, str):
            raise UsageError(f"{name} holds {_kind(one)}", f"give names: {name}=[{example!r}]")
    return names


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
    if not is_text(path):
        raise UsageError(f"{name} is {path!r}, which is no text", NO_TEXT)
    if path == "-":
        raise UsageError(
            f"{name} is '-', which stands for standard output in the command alone",
            "leave it out and write the bytes of result.vmfb; a file of that name is './-'",
        )
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


def is_text(value: str) -> bool:
    """Whether ``value`` can be written as UTF-8: half of a surrogate pair is no character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


NO_TEXT = "it holds half of a surrogate pair, which UTF-8 has no bytes for: read the file as bytes, or decode it as what it is"
MOST_SEEDS = 1_000_000
_REPORTED = "the result has the report: result.to_json(), result.html(), print(result)"
_INSTEAD = {
    **dict.fromkeys(
        ("o", "output"), "name the file as the second argument: fissile.compile(program, 'model.vmfb')"
    ),
    **dict.fromkeys(("format", "report-file", "report"), _REPORTED),
    **dict.fromkeys(
        ("help", "help-list", "help-hidden", "help-list-hidden"), "help(fissile.compile) says what it takes"
    ),
    "version": "it is fissile.__version__",
}
"""Flags of the command that a Python caller has no use for, and what there is instead; taken as they are they would change nothing."""
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
