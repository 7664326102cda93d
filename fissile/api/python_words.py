"""Usage errors of the pipelines, which name options of the commands, in the words of a caller from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from fissile.errors import UsageError, refused_by_system

_SPELLED_AS_OPTIONS = (
    ("--target gfx942", "target='gfx942'"),
    ("name one with --function", "name one: function='NAME'"),
    ("(--input=FILE.npy)", "(inputs=[x, y])"),
    ("--update-baseline", "update_baseline=True"),
    ("option '--guard'", "guard"),
    ("option '--repair'", "repair"),
    ("option '--match-device'", "match_device"),
)
"""What the pipelines say to the commands, and what a Python function says instead, where it has an argument for it."""

Call = TypeVar("Call", bound=Callable[..., Any])


def in_python(function: Call) -> Call:
    """``function``, whose usage errors name its arguments instead of the options of a command."""

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except UsageError as error:
            for option, argument in _SPELLED_AS_OPTIONS:
                error.message = error.message.replace(option, argument)
                error.hint = error.hint.replace(option, argument)
            raise
        except OSError as error:
            if (refused := refused_by_system(error)) is not None:
                raise refused from error
            raise

    return called  # type: ignore[return-value]
