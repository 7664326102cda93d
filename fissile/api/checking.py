"""`fissile.check`: any program against one or many targets, by the worker process of the command."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from fissile.errors import UsageError
from fissile.pipelines.check.check_worker import run_check
from fissile.pipelines.process.limits import with_limits
from fissile.target import Target, find_target

from .arguments import budget_bytes, file_path, flag_words, many_targets, seconds
from .programs import Program, program_file, renamed
from .python_words import in_python
from .reproducers import kept_for_a_reproducer
from .result import Result


@in_python
def check_program(
    program: Program,
    target: str | Target | Sequence[str | Target],
    *,
    budget: int | str | None,
    flags: Sequence[str],
    dispatch_timeout: float,
    baseline: str | os.PathLike[str] | None,
    **options: Any,
) -> Result:
    """The result of checking ``program``; ``options`` are `fissile.pipelines.check.entry.check`'s. Raises UsageError."""
    wanted = many_targets(target)
    given = budget_bytes(budget)
    names = [one if isinstance(one, str) else one.name for one in wanted]
    own = {limit for one in wanted if (limit := _own_limit(one)) is not None}
    if own and (len(own) > 1 or len(wanted) > 1 or given is not None):
        raise UsageError(
            "targets with limits of their own are checked one at a time", "give one target a call"
        )
    if options.get("update_baseline") and baseline is None:
        raise UsageError("update_baseline=True needs a file", "name it: baseline='bytes.json'")
    with program_file(program) as file, kept_for_a_reproducer([file.path] if file.name else []):
        words = shlex.join([str(file.path), *(word for name in names for word in ("--target", name))])
        report = run_check(
            str(file.path),
            names,
            command=with_limits(f"fissile check --strict {words}"),
            budget=given or next(iter(own), None),
            flags=flag_words(flags),
            dispatch_timeout=seconds(dispatch_timeout, "dispatch_timeout", endless=True),
            baseline=None if baseline is None else file_path(baseline, "baseline"),
            **options,
        )
        return Result(renamed(report, file), program=program)


def _own_limit(target: str | Target) -> int | None:
    """The limit of a target that is not the one which its name stands for (`Target.with_budget`)."""
    if isinstance(target, str) or find_target(target.name) == target:
        return None
    return target.limit.bytes
