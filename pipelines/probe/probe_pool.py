"""Code generation for many dispatches, each under a deadline, none able to take the caller along.

A few child processes (`probe_server`) generate code in parallel. One that crashes or exceeds the deadline is ended, and
its dispatch gets a failure that says so; the next dispatch gets a fresh process.
"""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from fissile import wire
from fissile.errors import InternalError
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.memory.footprint import Footprint
from fissile.passes.containment import contained, current
from fissile.passes.failures.failure import Ending
from fissile.passes.progress import at_dispatch

from ..cache.endless import remember_endless
from ..process.server import Server
from .diagnostics import Diagnostic
from .linking import standalone
from .one_dispatch import Probed, probe, probe_and_convert, unknown
from .probe_wire import Generated, GenerateJob, ServerFlags

FEW = 8
"""Up to so many dispatches are probed faster here (0.03 to 0.3 s each) than by processes that first load IREE (0.5 s)."""
TIMED_OUT = "code generation did not end within {:g} seconds"
CRASHED = "code generation crashed ({})"

CodegenProgress = Callable[..., None]
"""Called with the number of dispatches that code is generated for from now on, and the fingerprint where it is one."""


@dataclass(frozen=True)
class ProbeResult:
    """``probed`` up to the resource check; ``converted``: the first error of the conversion to LLVM or SPIR-V.

    ``seconds`` of one core. ``ended`` where the process had to be ended.
    """

    probed: Probed
    converted: Diagnostic | None
    seconds: float
    ended: Ending | None = None


class ProbePool:
    """Up to ``processes`` probe servers, started on demand. ``deadline`` seconds per dispatch, of the clock
    and of processor time, 0 for none.

    ``watch``: the caller's process is watched from outside, and may be lost. Then a few dispatches are probed in it,
    each between ``watch(1, fingerprint)`` and ``watch(0)``; whoever watches applies the deadline. Dispatches whose fingerprint is among
    ``endless`` are known not to end. ``translate``: code is generated to the very end, LLVM's own translation included (0.2 to 1 s more).
    ``session_flags``: what links needs beside the flags of the process; a caller with several targets changes them.
    """

    def __init__(
        self,
        flags: Sequence[str],
        deadline: float,
        processes: int | None = None,
        watch: CodegenProgress | None = None,
        endless: Iterable[str] = (),
        session_flags: Sequence[str] = (),
        translate: bool = False,
    ) -> None:
        self._flags = list(flags)
        self._session_flags = tuple(session_flags)
        self._watch = watch
        self._translate = translate
        self._started = False
        self._deadline = deadline
        self._endless = {fingerprint: self._not_ended(0.0) for fingerprint in endless}
        count = processes or max(1, min(4, len(os.sched_getaffinity(0))))
        self._idle: queue.LifoQueue[Server | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)
        self._threads = ThreadPoolExecutor(count)
        self._missed: queue.SimpleQueue[Finding] = queue.SimpleQueue()

    def __enter__(self) -> ProbePool:
        return self

    def __exit__(self, *_exc) -> None:
        self.close()

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        while not self._idle.empty():
            server = self._idle.get()
            if server is not None:
                server.end()

    def link_with(self, flags: Sequence[str]) -> None:
        """What links from now on needs beside the flags of the process: of another target."""
        self._session_flags = tuple(flags)

    def translate_all(self) -> None:
        """From now on code is generated to the very end, LLVM's own translation included."""
        self._translate = True

    def probe_all(self, dispatches: Sequence[Dispatch], convert: bool = True) -> list[ProbeResult]:
        """Results in the order of ``dispatches``."""
        if self._watch is not None and not self._started and len(dispatches) <= FEW:
            found = []
            for number, d in enumerate(dispatches, 1):
                at_dispatch(number, len(dispatches), d.name)
                found.append(
                    self._endless.get(d.fingerprint)
                    or contained(
                        "generated code",
                        partial(self._here, d, convert),
                        None,
                        about=d,
                        cpu_limit=0,
                    )
                    or ProbeResult(unknown(d), None, 0.0)
                )
            return found
        # Text is taken here: the module belongs to this thread.
        jobs = [
            contained(
                "generated code",
                partial(self._job, d, convert),
                None,
                about=d,
            )
            for d in dispatches
        ]
        results = []
        answers = self._threads.map(self._run, jobs, [d.fingerprint for d in dispatches])
        for number, d in enumerate(dispatches, 1):
            at_dispatch(number, len(dispatches), d.name)
            results.append(next(answers) or ProbeResult(unknown(d), None, 0.0))
        while not self._missed.empty():
            if containment := current():
                containment.add(self._missed.get())
            else:
                raise InternalError(self._missed.get().message)
        return results

    def _job(self, dispatch: Dispatch, convert: bool) -> GenerateJob:
        return GenerateJob(
            standalone(dispatch),
            _index(dispatch),
            dispatch.name,
            convert,
            convert and self._translate,
            self._session_flags,
        )

    def _here(self, dispatch: Dispatch, converted: bool) -> ProbeResult:
        watch = self._watch
        assert watch is not None  # else code is not generated here
        start = time.perf_counter()
        watch(1, dispatch.fingerprint)
        try:
            if converted:
                probed, conversion_error = probe_and_convert(dispatch, self._session_flags)
            else:
                probed, conversion_error = probe(dispatch), None
        finally:
            watch(0)
        return ProbeResult(probed, conversion_error, time.perf_counter() - start)

    def _not_ended(self, seconds: float) -> ProbeResult:
        return _without_answer(TIMED_OUT.format(self._deadline), seconds, Ending.TIMED_OUT)

    def _run(self, job: GenerateJob | None, fingerprint: str) -> ProbeResult | None:
        """None where the dispatch could not be probed."""
        if job is None:
            return None
        if fingerprint in self._endless:
            return self._endless[fingerprint]  # to see it again would take the whole limit
        server = self._idle.get()
        try:
            if server is None:
                self._started = True
                server = Server("fissile.pipelines.probe.probe_server")
                server.send(ServerFlags(tuple(self._flags)))
            start = time.perf_counter()
            answer = server.request(job, self._deadline)
            seconds = time.perf_counter() - start
            if isinstance(answer, dict):
                generated = wire.build(Generated, answer)
                for finding in generated.missed:
                    self._missed.put(finding)
                if generated.probed is None:
                    return None
                return ProbeResult(generated.probed, generated.converted, seconds)
            server.end()
            server = None
            if answer is None:
                remember_endless(self._flags, fingerprint, self._deadline)
                return self._endless.setdefault(fingerprint, self._not_ended(seconds))
            return _without_answer(CRASHED.format(answer), seconds, Ending.CRASHED)
        finally:
            self._idle.put(server)


def _without_answer(text: str, seconds: float, ended: Ending) -> ProbeResult:
    return ProbeResult(Probed(Footprint(()), Diagnostic("error", text, text)), None, seconds, ended)


def _index(dispatch: Dispatch) -> int:
    """The dispatch's position among those of its own executable."""
    from fissile.passes.analysis.dispatch.dispatches import dispatches_of

    same = dispatches_of(dispatch.executable)
    return next(i for i, d in enumerate(same) if (d.name, d.variant) == (dispatch.name, dispatch.variant))
