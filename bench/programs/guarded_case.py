"""What stock iree-compile and fissile say to one program for one target, and what the module computes."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics.compare import Tolerance
from fissile.pipelines.numerics.verify import Options
from fissile.pipelines.numerics.verify_worker import run_verify
from fissile.pipelines.process.child import run_child
from fissile.target import find_target

MATCHED = "vulkan:device"
"""The Vulkan device that is present here; only fissile has it, so that there is no stock answer."""

RUNTIMES = {"llvm-cpu": "local-task", "vulkan": "vulkan", MATCHED: "vulkan"}
"""Target -> the runtime that takes its modules here."""

GRACE_SECONDS = 60.0
"""fissile ends its own compiler at the limit; this much later it is ended itself."""


@dataclass(frozen=True)
class Answer:
    """``verdict`` is one word (compiles, clean, repaired, refused, endless, crashed), ``detail`` the reason in a line."""

    verdict: str
    detail: str
    seconds: float
    findings: tuple[str, ...] = ()
    """One line each: severity, code, message."""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.verdict}{detail}, {self.seconds:.0f} s"


def compile_with_stock(source: Path, target: str, limit: float) -> Answer:
    """Stock iree-compile's answer; ``limit`` in seconds."""
    if target == MATCHED:
        return Answer("not run", "", 0.0)
    start = time.perf_counter()
    ended = run_child([stock_compiler(), source, "-o", "/dev/null", *flags_for(find_target(target))], limit)
    seconds = time.perf_counter() - start
    if ended.status == 0:
        return Answer("compiles", "", seconds)
    error = re.search(r"error: (.*)", ended.err)
    detail = ended.reason or (error[1][:160] if error else "no error reported")
    return Answer("endless" if ended.status is None else "refused", detail, seconds)


def compile_with_fissile(
    source: Path, target: str, output: Path, limit: float, options: Sequence[str] = ()
) -> Answer:
    """`fissile compile`'s answer; the module is in ``output`` where the verdict is clean or repaired."""
    matched = ["--match-device=vulkan"] if target == MATCHED else []
    flags = flags_for(find_target(target.partition(":")[0]))
    start = time.perf_counter()
    ended = run_child(
        [
            sys.executable,
            "-m",
            "fissile.cli.main",
            "compile",
            source,
            "-o",
            output,
            *flags,
            *matched,
            *options,
            "--format=json",
            f"--time-limit={limit:g}",
        ],
        limit + GRACE_SECONDS,
    )
    seconds = time.perf_counter() - start
    if ended.status is None:
        return Answer("endless", ended.reason, seconds)
    try:
        report = fissile.Report.from_json(json.loads(ended.out[ended.out.index("{") :]))
    except (ValueError, KeyError):
        last = (ended.err.strip().splitlines() or ["nothing printed"])[-1]
        return Answer("crashed", f"exit {ended.status}: {last[:160]}", seconds)
    codes = Counter((f.severity.value, f.code) for f in report.findings)
    detail = ", ".join(f"{severity} {code} x{count}" for (severity, code), count in codes.items())
    shown = tuple(f"{f.severity.value} {f.code}: {f.message}" for f in report.findings)
    verdict = "refused" if report.errors or not report.output else "repaired" if report.repaired else "clean"
    return Answer(verdict, detail, seconds, shown)


@dataclass(frozen=True)
class Case:
    """One program for one target. ``name`` starts every line that is printed about it.

    ``inputs`` and ``expected`` are for the run; ``parameters`` are flags for the runtime (external weights).
    """

    name: str
    source: Path
    target: str
    inputs: Sequence[np.ndarray] = ()
    expected: Sequence[np.ndarray] = ()
    tolerance: Tolerance | None = None
    parameters: tuple[str, ...] = ()
    limit: float = 600.0
    options: tuple[str, ...] = ()
    stock: bool = True

    def show(self, run: bool) -> bool:
        """Prints a line for the compiles, one for each finding, one for the run. True where all is well."""
        head = f"{self.name} {self.target}"
        output = self.source.with_suffix(f".{self.target.replace(':', '-')}.vmfb")
        stock = f"stock: {compile_with_stock(self.source, self.target, self.limit)} | " if self.stock else ""
        answer = compile_with_fissile(self.source, self.target, output, self.limit, self.options)
        size = f", {output.stat().st_size} bytes" if output.exists() else ""
        print(f"{head} | {stock}fissile: {answer}{size}", flush=True)
        for finding, count in Counter(answer.findings).items():
            print(f"    {finding[:180]}" + (f" (x{count})" if count > 1 else ""), flush=True)
        if answer.verdict not in ("clean", "repaired"):
            return False
        return self.run(output) if run and self.target in RUNTIMES else True

    def run(self, output: Path) -> bool:
        options = Options(
            on=(RUNTIMES[self.target],),
            tolerance=self.tolerance,
            run_timeout=self.limit,
            run_flags=self.parameters,
        )
        # The source first: a torch import's vmfb does not hold its types.
        certificate = run_verify(
            self.source, output, inputs=list(self.inputs), expected=list(self.expected), options=options
        )
        for check in certificate.checks:
            print(f"    ran {check.sentence}", flush=True)
        return certificate.agrees

    def on(self, target: str) -> Case:
        return replace(self, target=target)
