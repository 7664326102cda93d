"""The fastest program that passes: what `--tune` does with a repair, and what is kept of it for the next compile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fissile.finding import Severity
from fissile.passes.iree.flags import TRANSFORM_LIBRARY_FLAG, TUNING_SPEC_FLAG
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT
from fissile.passes.iree.runtime_flags import RUNTIME_OF_BACKEND
from fissile.passes.iree.tuning_specs import attach_spec, detach_spec

from ..cache.keys import content_of, files_in, key_of
from ..cache.store import keep, recall
from ..compile.compile_run import CompileRun
from ..numerics.build import compile_stock
from ..numerics.signature import Signature, signatures_of_module
from ..process.scratch import scratch
from ..repair.edits import Edit, apply_edits, instead
from ..repair.loop import Diagnosis, Repair, RepairLoop
from ..session import Module, PhaseFailed
from .candidates import candidates as candidates_of
from .devices import Device, NotTimed, device_for
from .search import Candidate, search
from .tiles import Tiling, in_effect, search_tilings, spec_of, tilings
from .timing import Timed

COMPILE_SECONDS = 600.0


@dataclass(frozen=True)
class Winner:
    """All timings, the fastest first, and the edits of the fastest; ``tiles`` timed for it, and the tuning ``spec`` of those taken.

    ``untiled`` says why there is no spec.
    """

    timed: list[Timed]
    edits: tuple[Edit, ...]
    tiles: list[Timed]
    spec: str = ""
    untiled: str = ""


class Fastest:
    """Tunes one module, given at phase global-optimization."""

    def __init__(self, run: CompileRun, module: Module, repair_loop: RepairLoop) -> None:
        self._run, self._module, self._repair_loop = run, module, repair_loop
        self._builds = 0

    def of(self, repair: Repair, before: Diagnosis) -> tuple[Repair, str]:
        """``repair``, or what runs faster and passes as well, and the tuning spec that the module carries from now on.

        As it is, and no spec, where no device for the target answers.
        """
        drivers = {RUNTIME_OF_BACKEND.get(c.dispatch.target.backend) for c in before.checked} - {None}
        device = device_for({name for name in drivers if name}, self._run.request.tune_on)
        candidates = candidates_of(self._repair_loop, repair, before)
        signatures = tuple(signatures_of_module(self._run.parse().op).values())
        opaque = next((signature.opaque for signature in signatures if signature.opaque), "")
        if device is None or opaque:
            return self._untimed(repair, opaque or "no runtime for the target answers here"), ""
        key = self._key(candidates, device)
        winner = _recalled(key)
        self._run.facts["tuned_before"] = winner is not None
        if winner is None:
            try:
                winner = self._measured(candidates, device, signatures, repair)
            except NotTimed as failed:
                return self._untimed(repair, failed.message), ""
            _kept(key, winner)
        elif winner.spec and not self._holds(winner.edits, winner.spec):
            winner = replace(winner, spec="", untiled="the tiles that were kept do not pass any more")
        return self._taken(repair, winner, device), winner.spec

    def _measured(
        self,
        candidates: Sequence[Candidate],
        device: Device,
        signatures: Sequence[Signature],
        repair: Repair,
    ) -> Winner:
        def time(programs: Sequence[tuple[str, Path]]) -> list[Timed]:
            return device.time(programs, signatures)

        with scratch() as folder:
            timed, known = search(
                candidates, lambda wanted: self._built(wanted, folder, repair), time, self._passes
            )
        wanted = known[timed[0].name]
        why = self._why_untiled()
        if why:
            return Winner(timed, wanted, [], untiled=why)
        configured = self._configured(wanted)
        found = tilings(configured)
        offers = [one for one in found.offers if self._takes_effect(wanted, one, found.flag)]
        if not offers:
            return Winner(timed, wanted, [], untiled=found.why or "no spec reaches the roots")
        with scratch() as folder:

            def build(rows: Sequence[tuple[str, Sequence[Tiling]]]) -> list[tuple[str, Path]]:
                programs = [
                    Candidate(name, wanted, spec=spec_of(taken, found.flag) if taken else "")
                    for name, taken in rows
                ]
                return self._built(programs, folder, repair)

            tiled, chosen = search_tilings(offers, build, time)
        spec = spec_of(chosen, found.flag) if chosen else ""
        if spec and not self._holds(wanted, spec):
            return Winner(timed, wanted, tiled, untiled="the fastest tiles do not pass every check")
        return Winner(timed, wanted, tiled, spec, "" if spec else "IREE's own tiles are the fastest")

    # --- tiles

    def _why_untiled(self) -> str:
        """Why no tiles are tried; empty where they are."""
        request = self._run.request
        own = (TUNING_SPEC_FLAG, TRANSFORM_LIBRARY_FLAG)
        if any(flag.lstrip("-").startswith(own) for flag in request.flags):
            return "the compile reads a spec of yours"
        if request.pipelines_after or request.load_passes or request.pack_transients:
            return "passes of yours run behind global optimisation"
        return ""

    def _configured(self, wanted: tuple[Edit, ...], spec: str = "") -> Module:
        clone = self._module.clone()
        apply_edits(clone, wanted)
        if spec:
            attach_spec(clone.op, spec)
        self._run.phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
        return clone

    def _takes_effect(self, wanted: tuple[Edit, ...], one: Tiling, flag: str) -> bool:
        try:
            return in_effect(self._configured(wanted, spec_of([one], flag)), [one.config])
        except PhaseFailed:
            return False

    def _holds(self, wanted: tuple[Edit, ...], spec: str) -> bool:
        """Whether the program passes every check with ``spec``, which its module carries from now on; if not, it carries none."""
        attach_spec(self._module.op, spec)
        self._repair_loop.forget()
        if self._passes(wanted):
            return True
        detach_spec(self._module.op)
        self._repair_loop.forget()
        return False

    def _passes(self, wanted: tuple[Edit, ...]) -> bool:
        after = self._repair_loop.diagnose(wanted)
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
            if candidate.spec:
                attach_spec(clone.op, candidate.spec)
            sources[candidate.name] = (clone, Path(folder, f"{self._builds}-{number}.vmfb"))
        self._builds += 1
        if not alone and len(sources) > 1:
            self._built_apart(sources)
        built = []
        for candidate in candidates:
            clone, vmfb = sources[candidate.name]
            is_choice = candidate.edits == repair.edits and not candidate.spec
            if not vmfb.exists() and (alone or len(sources) == 1 or is_choice):
                try:
                    self._run.phase_pipeline.advance(clone, "end")
                except PhaseFailed:
                    if is_choice:
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
        timed, wanted = winner.timed, winner.edits
        self._run.facts["tuned_tiles"] = {
            t.name: t.seconds if t.seconds is not None else t.why for t in winner.tiles
        } or winner.untiled
        self._run.facts["tuned"] = {t.name: t.seconds if t.seconds is not None else t.why for t in timed}
        self._run.facts["tuned_processor"] = {t.name: t.processor for t in timed if t.seconds is not None}
        if timed[0].seconds is None:
            return repair
        rows = ", ".join(f"{t.name} {t.seconds * 1e3:.3g} ms" for t in timed if t.seconds is not None)
        noted = _noted(repair, f"timed on {device}: {rows}; took {timed[0].name}")
        if winner.spec:
            tiled = ", ".join(f"{t.name} {t.seconds * 1e3:.3g} ms" for t in winner.tiles if t.seconds)
            noted = _noted(noted, f"tiles timed: {tiled}; the fastest are used")
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
    if key and winner.timed[0].seconds is not None:
        keep(key, asdict(winner))


def _recalled(key: str) -> Winner | None:
    value = recall(key) if key else None
    if not isinstance(value, dict):
        return None
    timed, tiles = ([Timed(**row) for row in value[name]] for name in ("timed", "tiles"))
    edits = tuple(Edit(**edit) for edit in value["edits"])
    return Winner(timed, edits, tiles, value["spec"], value["untiled"])
