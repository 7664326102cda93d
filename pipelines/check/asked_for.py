"""What `fissile check` looks at on request alone, since it takes long: live bytes, and the generated code run in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.checks.dispatch_places import root_places
from fissile.passes.containment import contained
from fissile.passes.iree.backends import backend_named

from .dispatch_findings import Formed


@dataclass(frozen=True)
class AskedFor:
    """``memory``: the live bytes over program time; ``simulate``: the code of each dispatch for a GPU is run."""

    memory: bool = False
    simulate: bool = False

    def look(self, formed: Formed, gathered: dict) -> list[Finding]:
        """Enters the JSON values into ``gathered``; returns the findings."""
        if self.memory:
            from .memory import memory_of

            gathered["memory"] = contained("live bytes", lambda: memory_of(formed.module.op.operation), [])
        return _simulated(formed, gathered) if self.simulate else []


def _simulated(formed: Formed, gathered: dict) -> list[Finding]:
    """FIS189 for each dispatch whose code computes otherwise than it says; equal dispatches are run once."""
    from fissile.pipelines.simulation.simulation import Simulated, simulate

    counts: dict = {"right": 0, "wrong": 0, "unknown": {}}
    findings: list[Finding] = []
    for dispatch in {one.fingerprint: one for one in reversed(formed.dispatches)}.values():
        failed = Simulated(dispatch.name, "unknown", "fissile's simulation failed")
        if not backend_named(dispatch.target.backend).gpu:
            found = Simulated(dispatch.name, "unknown", "it is not for a GPU")
        else:
            found = contained("the simulation", partial(simulate, dispatch), failed, about=dispatch)
        if found.verdict == "unknown":
            counts["unknown"][found.name] = found.detail
            continue
        counts[found.verdict if not found.faults else "wrong"] += 1
        if found.verdict == "wrong" or found.faults:
            findings.append(_finding(dispatch, found.verdict, found.detail, found.faults, formed))
    gathered["simulation"] = counts
    return findings


def _finding(
    dispatch: Dispatch, verdict: str, detail: str, faults: tuple[str, ...], formed: Formed
) -> Finding:
    said = "computes otherwise than the dispatch says" if verdict == "wrong" else "does what no program may"
    return Finding(
        "FIS189",
        f"the generated code, run in NumPy, {said}",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, formed.ops),
        notes=(*((detail,) if verdict == "wrong" else ()), *faults),
    )
