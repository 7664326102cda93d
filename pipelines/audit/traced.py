"""Which of IREE's passes handles each op of a program, and which one drops an op with an effect: read from one compile that prints."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, cast

from fissile import wire
from fissile.finding import Finding
from fissile.passes.analysis.legality.effects import Effect
from fissile.passes.analysis.legality.pass_trace import Trace, read_trace
from fissile.passes.checks.legality.dropped_effect import check_dropped
from fissile.passes.iree.legality.traced import TRACE_FLAGS
from fissile.report import Report

from ..native_programs import stock_compiler
from ..process.child import Child
from ..process.scratch import scratch

MOST_BYTES = 512 << 20
"""Of what IREE prints; beyond, the trace is not complete."""


def with_trace(report: Report, program: str, every_op: bool) -> Report:
    """``report`` of an audit of the file ``program`` with FIS413 and, if ``every_op``, the passes that handle its ops.

    A program without an op with an effect is compiled once more only if ``every_op``.
    """
    counts = cast(dict[str, int], report.facts.get("ops", {}))
    effects = [wire.build(Effect, one) for one in cast(list, report.facts.get("effects", []))]
    if not effects and not (every_op and counts):
        return report
    findings: list[Finding] = []
    for target in cast(list[dict], report.facts.get("audit", [])):
        if not target["compiles"] and not every_op:
            continue
        trace = _trace(program, target["flags"], list(counts), [one.text for one in effects])
        target["handled"] = [
            {"op": op, "count": counts[op], "pass": by}
            for op, by in sorted(trace.handled.items())
            if op not in {row["op"] for row in target["ops"]}
        ]
        if target["compiles"]:
            findings += [
                check_dropped(effect, trace.dropped[effect.text], target["target"])
                for effect in effects
                if effect.text in trace.dropped
            ]
    return replace(report, findings=(*report.findings, *findings))


def _trace(program: str, flags: Sequence[str], ops: Sequence[str], effects: Sequence[str]) -> Trace:
    with scratch() as folder:
        command = [stock_compiler(), program, *flags, *TRACE_FLAGS, "-o", str(folder / "out.vmfb")]
        with Child(command, folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            assert child.stdout is not None  # a pipe
            lines = _lines(child.stdout)
            trace = read_trace(lines, ops, effects)
            complete = trace.complete and child.wait() == 0
    return replace(trace, complete=complete, dropped=trace.dropped if complete else {})


def _lines(stream: IO[bytes]) -> Iterator[str]:
    read = 0
    for line in stream:
        read += len(line)
        if read > MOST_BYTES:
            break
        yield line.decode(errors="replace")
