"""What a worker of a cluster does with one cell: with the environment and the model that the result is named by, or not at all."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from fissile.errors import UsageError

from .attempt import Limits, run_cell
from .cells import Cell, Model, digest_of_file
from .environments import Environment, described, find_environments
from .outcome import Outcome, Verdict


def run_there(cell: Cell, limits: Limits, content: bytes | None, keep_module: bool) -> tuple[Outcome, bytes]:
    """`run_cell` with this machine's interpreter; lost where this machine has not what ``cell`` is to be compiled with.

    ``content`` is the model; None where it is too large to be sent and has to lie here.
    """
    try:
        environment = environment_here(cell.environment)
        if content is None:
            _check_model(cell.model)
    except UsageError as error:
        return Outcome(Verdict.LOST, why=f"{platform.node()}: {error.message}", machine=platform.node()), b""
    return run_cell(replace(cell, environment=environment), limits, content, keep_module)


def unfit_for(environments: Iterable[Environment]) -> str:
    """Why this machine cannot compile in all of ``environments``; empty where it can."""
    try:
        for environment in environments:
            environment_here(environment)
    except UsageError as error:
        return error.message
    return ""


@cache
def environment_here(wanted: Environment) -> Environment:
    """``wanted`` on this machine: the interpreter of this process, else the one at the same path. Raises UsageError."""
    here = described()
    if (here["fissile"], here["iree"]) == wanted.identity:
        return replace(wanted, python=sys.executable)
    try:
        (there,) = find_environments([wanted.python])
        if there.identity == wanted.identity:
            return there
    except UsageError:
        pass  # what this process has says more
    raise UsageError(
        f"has fissile {here['fissile']} and IREE {here['iree']}, not fissile {wanted.fissile} and IREE {wanted.iree}"
    )


def _check_model(model: Model) -> None:
    """A result is named by its model's content: another file at the same path is not the model. Raises UsageError."""
    if not Path(model.path).is_file():
        raise UsageError(f"{model.path} is not on this machine: a model that is too large to be sent")
    if digest_of_file(Path(model.path)) != model.content:
        raise UsageError(f"{model.path} is another file on this machine")
