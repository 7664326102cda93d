"""How a verification runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..inputs import Sizes
from ..tolerance import Tolerance


@dataclass(frozen=True)
class Options:
    """How a verification runs. Times are in seconds, per compile and per run.

    ``on`` names runtimes (all present ones if empty). ``tolerance`` None is the default of each output's type.
    ``flags`` are added to every compile, ``run_flags`` to every run.
    """

    function: str | None = None
    on: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    sizes: Sizes = Sizes()
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    flags: tuple[str, ...] = ()
    run_flags: tuple[str, ...] = ()
    compile_timeout: float = 300.0
    run_timeout: float = 120.0
    witness_timeout: float = 60.0
    allow_pipelines: bool = False
    """Whether pass pipelines that a program brings along may run (FIS005)."""
