"""The ops that a pass has to change, by index."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.errors import UsageError


def check_indices(
    indices: Sequence[int], known: Sequence[ir.Operation], name: str, kind: str = "source op"
) -> None:
    """Raises UsageError where an index is none of ``known``, the ops of a module that are of that ``kind``; ``name`` is the pass's."""
    for index in indices:
        if not 0 <= index < len(known):
            there = (
                f"the module has {len(known)} {kind}{'s' if len(known) != 1 else ''}; indices count from 0"
            )
            raise UsageError(f"{name}: there is no {kind} {index}", there)
