"""What an input says that IREE's import drops, and that is wanted later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.passes.containment import contained

from ..bounds.value_names import declared_names
from .stable_sorts import asks_for_stable_sorts


@dataclass(frozen=True)
class InputMarks:
    """``declared``: function -> what it calls its arguments; ``stable_sorts``: whether a sort is marked as stable."""

    declared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stable_sorts: bool = False


NO_MARKS = InputMarks()


def marks_of(module: ir.Operation) -> InputMarks:
    """The marks of ``module``, as it was parsed."""
    return InputMarks(
        contained("names of arguments", lambda: declared_names(module), {}),
        contained("stable sorts", lambda: asks_for_stable_sorts(module), False),
    )
