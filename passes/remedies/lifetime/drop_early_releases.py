"""Removes deallocations that IREE places before the last use of what they deallocate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.early_releases import early_releases, released_parts
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

MOST_ROUNDS = 8
"""Without one release, another one may be the first that is too early."""


@register_pass
@dataclass(frozen=True)
class DropEarlyReleases(Remedy):
    """Removes `stream.resource.dealloca` ops behind which their storage is used, or deallocated again (FIS303), and on
    Vulkan those of parts of buffers (FIS306).

    The storage is free again when the last reference to it is dropped. Run it after phase stream.
    """

    name: ClassVar[str] = "fissile-drop-early-releases"
    cures: ClassVar[tuple[str, ...]] = ("FIS302", "FIS303", "FIS306")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "removes deallocations of storage that is used later (after phase stream)"
    repairs: ClassVar[str] = (
        "loops whose tensors IREE frees too early: wrong numbers, or a call fails (FIS303)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "removed the early deallocation: the storage is freed with its last reference"
    advice: ClassVar[str] = "remove the early deallocation: the storage is then freed with its last reference"
    dialects: ClassVar[tuple[str, ...]] = ("stream",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for release in released_parts(op):
            _remove(release)
        for _round in range(MOST_ROUNDS):
            found = early_releases(op)
            if not found:
                return
            for one in found:
                _remove(one.release)


def _remove(release: ir.Operation) -> None:
    """What waits for ``release`` waits for what it waits for."""
    timepoint = next((v for v in release.operands if str(v.type) == iree_ops.TIMEPOINT_TYPE), None)
    if timepoint is None:
        with ir.InsertionPoint(release), release.location:
            timepoint = ir.Operation.create(
                iree_ops.STREAM_TIMEPOINT_IMMEDIATE, [release.results[0].type], []
            ).results[0]
    release.results[0].replace_all_uses_with(timepoint)
    release.erase()
