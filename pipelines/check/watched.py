"""What does the caller of a check, which outlives its process, hear of it and know already?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fissile.finding import Finding

from ..probe.probe_pool import CodegenProgress


@dataclass(frozen=True)
class Watched:
    """What is passed to a process that watches this one, and what it knows from an earlier try.

    ``at(target, phase)`` is called before IREE runs to ``phase``; ``watch`` and ``endless`` as in `ProbePool`; ``translating``
    gets how many dispatches are compiled to the end. ``ended``: target name
    -> what is known of a target that took an earlier process along.
    """

    at: Callable[[str, str], object] = lambda _target, _phase: None
    watch: CodegenProgress | None = None
    translating: CodegenProgress = lambda *_: None
    endless: tuple[str, ...] = ()
    ended: Mapping[str, Finding] = field(default_factory=dict)
