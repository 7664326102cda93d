"""The fastest program that passes: what `--tune` does with a repair, and what is kept of it for the next compile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from fissile.finding import Severity
from fissile.passes.iree.runtime_flags import RUNTIME_OF_BACKEND

from ..cache.keys import content_of, files_in, key_of
from ..cache.store import keep, recall
from ..compile.compile_run import CompileRun
from ..numerics.build import compile_stock
from ..numerics.signature import Signature, signatures_of_module
from ..process.scratch import scratch
from ..repair.edits import Edit, apply_edits, instead
from ..repair.loop import Diagnosis, Repair, Repairer
from ..session import Module, PhaseFailed
from .candidates import candidates as candidates_of
from .devices import Device, NotTimed, device_for
from .search import Candidate, search
from .timing import Timed

Winner = tuple[list[Timed], tuple[Edit, ...]]
"""All timings, the fastest first, and the edits of the fastest."""
COMPILE_SECONDS = 600.0


class Fastest:
    """Tunes one module, given at phase global-optimization."""

    def __init__(self, run: CompileRun, module: Module, repairer: Repairer) -> None:
        self._run, self._module, self._repairer = run, module, repairer

    def of(self, repair: Repair, before: Diagnosis) -> Repair:
        """``repair``, or what runs faster and passes as well; as it is where no device for the target answers."""
        drivers = {RUNTIME_OF_BACKEND.get(c.dispatch.target.backend) for c in before.checked} - {None}
        device = device_for({name for name in drivers if name}, self._run.request.tune_on)
        candidates = candidates_of(self._repairer, repair, before)
        signatures = tuple(signatures_of_module(self._run.parse().op).values())
        opaque = next((signature.opaque for signature in signatures if signature.opaque), "")
        if device is None or len(candidates) < 2 or opaque:
            why = "no runtime for the target answers here" if device is None else opaque
            return self._untimed(repair, why or "nothing to choose from")
        key = self._key(candidates, device)
        winner = _recalled(key)
        self._run.facts["tuned_before"] = winner is not None
        if winner is None:
            try:
                winner = self._measured(candidates, device, signatures, repair)
            except NotTimed as failed:
                return self._untimed(repair, failed.message)
            _kept(key, winner)
        return self._taken(repair, winner, device)

    def _measured(
        self,
        candidates: Sequence[Candidate],
        device: Device,
        signatures: Sequence[Signature],
        repair: Repair,
    ) -> Winner:
        with scratch() as folder:
            timed, known = search(
                candidates,
                lambda wanted: self._built(wanted, folder, repair),
                lambda programs: device.time(programs, signatures),
                self._passes,
            )
        return timed, known[timed[0].name]

    def _passes(self, wanted: tuple[Edit, ...]) -> bool:
        after = self._repairer.diagnose(wanted)
        return after.failed is None and not after.failing

    # --- compiling

    def _built(self, candidates: Sequence[Candidate], folder: Path, repair: Repair) -> list[tuple[str, Path]]:
        """The modules of ``candidates``, compiled side by side by stock IREE from global optimisation on.

        One by one in this process where passes of the user's run behind that, which stock has not.
        """
        request = self._run.request
        alone = bool(request.pipelines_after or request.load_passes or request.pack_transients)
        sources = {}
        for number, candidate in enumerate(candidates):
            clone = self._module.clone()
            apply_edits(clone, candidate.edits)
            sources[candidate.name] = (clone, Path(folder, f"{number}-{len(candidate.edits)}.vmfb"))
        if not alone and len(sources) > 1:
            self._built_apart(sources)
        built = []
        for candidate in candidates:
            clone, vmfb = sources[candidate.name]
            if not vmfb.exists() and (alone or len(sources) == 1 or candidate.edits == repair.edits):
                try:
                    self._run.phase_pipeline.advance(clone, "end")
                except PhaseFailed:
                    if candidate.edits == repair.edits:
                        raise
                    continue  # a candidate may be known to fit only; the choice itself has to compile
                self._run.session.write(clone, vmfb)
            if vmfb.exists():
                built.append((candidate.name, vmfb))
        return built

    def _built_apart(self, sources: dict[str, tuple[Module, Path]]) -> None:
        flags = [*self._run.request.flags, "--compile-from=global-optimization"]
        texts = []
        for clone, vmfb in sources.values():
            text = vmfb.with_suffix(".mlir")
            self._run.session.write(clone, text, "ir")
            texts.append((text, vmfb))
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for done in [pool.submit(compile_stock, *pair, flags, COMPILE_SECONDS) for pair in texts]:
                done.result()

    # --- what is kept

    def _key(self, candidates: Sequence[Candidate], device: Device) -> str:
        """What the winner depends on; empty where nothing is kept."""
        request = self._run.request
        content = "" if request.no_cache else content_of(self._run.input)
        named = [[c.name, [asdict(edit) for edit in c.edits]] for c in candidates]
        flags = list(request.flags)
        return key_of("tuned", content, flags, files_in(flags), str(device), named) if content else ""

    # --- reporting

    def _untimed(self, repair: Repair, why: str) -> Repair:
        self._run.facts["tuned"] = why
        return _noted(repair, f"not timed: {why}")

    def _taken(self, repair: Repair, winner: Winner, device: Device) -> Repair:
        timed, wanted = winner
        self._run.facts["tuned"] = {t.name: t.seconds if t.seconds is not None else t.why for t in timed}
        self._run.facts["tuned_processor"] = {t.name: t.processor for t in timed if t.seconds is not None}
        if timed[0].seconds is None:
            return repair
        rows = ", ".join(f"{t.name} {t.seconds * 1e3:.3g} ms" for t in timed if t.seconds is not None)
        noted = _noted(repair, f"timed on {device}: {rows}; took {timed[0].name}")
        if wanted == repair.edits:
            return noted
        changed = tuple(
            instead(f, timed[0].name, wanted) if f.severity is Severity.REPAIRED else f
            for f in noted.findings
        )
        return replace(noted, edits=wanted, findings=changed)


def _noted(repair: Repair, note: str) -> Repair:
    findings = (
        f.with_(notes=(*f.notes, note)) if f.severity is Severity.REPAIRED else f for f in repair.findings
    )
    return replace(repair, findings=tuple(findings))


def _kept(key: str, winner: Winner) -> None:
    timed, wanted = winner
    if key and timed[0].seconds is not None:
        keep(key, {"timed": [asdict(t) for t in timed], "edits": [asdict(edit) for edit in wanted]})


def _recalled(key: str) -> Winner | None:
    value = recall(key) if key else None
    if not isinstance(value, dict):
        return None
    return [Timed(**row) for row in value["timed"]], tuple(Edit(**edit) for edit in value["edits"])
