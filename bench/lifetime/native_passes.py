"""What MLIR's and IREE's own passes for lifetimes do with the programs of this folder.

    python -m bench.lifetime.native_passes [--programs 60]

Programs that allocate buffers and release none (`programs.py`) go through each pipeline and are run before and after by the interpreter
with poisoned memory. `right`: same results, nothing misused, nothing left over. The peak is that of the calls, in parts of the least
peak that the order of ops allows. Programs of stream ops are judged by `fissile-check-lifetimes`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field

from iree.compiler import ir

from bench.measured_tables import write_table
from fissile.dialect import ops_of
from fissile.finding import Severity
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.definition import PassFailed
from fissile.pipelines.pass_runner import run_pipeline

from .buffers import Misuse, NotRun
from .interpreter import call
from .programs import Program, program
from .suite import CALLS, new_context

OWNERSHIP = (
    "ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification,"
    "bufferization-lower-deallocations"
)
ON_BUFFERS = {
    "fissile-insert-kills": "fissile-insert-kills",
    "ownership-based-buffer-deallocation (with simplification and lowering)": OWNERSHIP,
    "the same, then optimize-allocation-liveness": f"{OWNERSHIP},func.func(optimize-allocation-liveness)",
    "buffer-deallocation-simplification alone": "buffer-deallocation-simplification",
    "optimize-allocation-liveness alone": "func.func(optimize-allocation-liveness)",
    "static-memory-planner-analysis alone": "func.func(static-memory-planner-analysis)",
    "fissile-insert-kills, then static-memory-planner-analysis": (
        "fissile-insert-kills,func.func(static-memory-planner-analysis)"
    ),
    "promote-buffers-to-stack": "func.func(promote-buffers-to-stack)",
}
ON_STREAM = {
    "fissile-insert-kills": "fissile-insert-kills",
    "iree-stream-automatic-reference-counting": "iree-stream-automatic-reference-counting",
    "iree-stream-reuse-allocations": "util.func(iree-stream-reuse-allocations)",
}
_TRANSIENT, _TIME = "!stream.resource<transient>", "!stream.timepoint"
_WORK = """stream.cmd.execute await({await_}) => with({name} as %in: !stream.resource<transient>{{%c64}}) {{
    stream.cmd.fill %c0_i32, %in[%c0 for %c64] : i32 -> !stream.resource<transient>{{%c64}}
  }} => !stream.timepoint"""
_HEAD = """  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c0_i32 = arith.constant 0 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
"""
STREAM_PROGRAMS = {
    "one use": "util.func public @main() -> !stream.timepoint {\n" + _HEAD + "  %t1 = " + _WORK.format(await_="%t0", name="%r") + """
  util.return %t1 : !stream.timepoint
}""",
    "two uses, not ordered": "util.func public @main() -> !stream.timepoint {\n" + _HEAD + "  %t1 = " + _WORK.format(await_="%t0", name="%r")
    + "\n  %t2 = " + _WORK.format(await_="%t0", name="%r") + """
  %t3 = stream.timepoint.join max(%t1, %t2) => !stream.timepoint
  util.return %t3 : !stream.timepoint
}""",
    "two resources, one behind the other": "util.func public @main() -> !stream.timepoint {\n" + _HEAD + "  %t1 = " + _WORK.format(await_="%t0", name="%r")
    + "\n  %s, %t2 = stream.resource.alloca uninitialized await(%t1) => !stream.resource<transient>{%c64} => !stream.timepoint"
    + "\n  %t3 = " + _WORK.format(await_="%t2", name="%s") + """
  util.return %t3 : !stream.timepoint
}""",
    "a branch that uses it": "util.func public @main(%c: i1) -> !stream.timepoint {\n" + _HEAD + "  cf.cond_br %c, ^use, ^end(%t0 : !stream.timepoint)\n^use:\n  %t1 = "
    + _WORK.format(await_="%t0", name="%r") + """
  cf.br ^end(%t1 : !stream.timepoint)
^end(%t: !stream.timepoint):
  util.return %t : !stream.timepoint
}""",
    "a loop of blocks that carries it": "util.func public @main(%n: index) -> !stream.timepoint {\n" + _HEAD + """  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %r, %t0 : index, !stream.resource<transient>, !stream.timepoint)
^head(%i: index, %q: !stream.resource<transient>, %t: !stream.timepoint):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %s, %t2 = stream.resource.alloca uninitialized await(%t) => !stream.resource<transient>{%c64} => !stream.timepoint
  %t3 = stream.cmd.execute await(%t2) => with(%q as %in: !stream.resource<transient>{%c64}, %s as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.copy %in[%c0], %out[%c0], %c64 : !stream.resource<transient>{%c64} -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %s, %t3 : index, !stream.resource<transient>, !stream.timepoint)
^end:
  util.return %t : !stream.timepoint
}""",
}  # fmt: skip


@dataclass
class Row:
    """What one pipeline did with all programs."""

    ended: Counter = field(default_factory=Counter)
    ratios: list[float] = field(default_factory=list)
    first: str = ""

    def add(self, how: str, why: str = "") -> None:
        self.ended[how] += 1
        if how not in ("right", "nothing") and not self.first:
            self.first = f"{how}: {why}"

    def line(self, name: str) -> str:
        counts = " | ".join(
            str(self.ended[how] or "") for how in ("right", "leaks", "wrong", "nothing", "refuses")
        )
        peak = (
            f"{sum(self.ratios) / len(self.ratios):.2f}, at most {max(self.ratios):.2f}"
            if self.ratios
            else ""
        )
        return f"| `{name}` | {counts} | {peak} |"


def on_buffers(one: Program, pipeline: str, row: Row, context: ir.Context) -> None:
    module = ir.Module.parse(one.text, context=context).operation
    before = [call(module, "main", arguments) for arguments in CALLS]
    untouched = str(module)
    try:
        run_pipeline(f"builtin.module({pipeline})", module, report=lambda finding: None)
    except PassFailed as failed:
        return row.add("refuses", failed.findings[0].message)
    if str(module) == untouched or _same_memory(module, untouched):
        return row.add("nothing")
    leaks = 0
    for arguments, old in zip(CALLS, before, strict=True):
        try:
            run = call(module, "main", arguments)
        except Misuse as misuse:
            return row.add("wrong", f"program {one.seed}: {misuse}")
        except NotRun as why:
            return row.add("not run", str(why))
        if str(run.results) != str(old.results):
            return row.add("wrong", f"program {one.seed}: {run.results} and not {old.results}")
        leaks += len(run.leaked)
        row.ratios.append(run.peak / old.least_peak)
    return row.add("leaks" if leaks else "right", f"program {one.seed}")


def _same_memory(module: ir.Operation, untouched: str) -> bool:
    """Whether a module allocates as before and releases nothing: other ops may have been folded."""
    allocations = len(ops_of(module, "memref.alloc")) + len(ops_of(module, "memref.alloca"))
    return not ops_of(module, "memref.dealloc") and allocations == untouched.count("memref.alloc() ")


def on_stream(text: str, pipeline: str, row: Row, context: ir.Context) -> None:
    module = ir.Module.parse(text, context=context).operation
    try:
        run_pipeline(f"builtin.module({pipeline})", module, report=lambda finding: None)
    except PassFailed as failed:
        return row.add("refuses", failed.findings[0].message)
    if not ops_of(module, "stream.resource.dealloca"):
        return row.add("nothing")
    wrong = [f for f in lifetime_findings(module) if f.severity is not Severity.NOTE]
    leaks = all(f.code in ("FIS301", "FIS304") for f in wrong)
    return row.add("right" if not wrong else "leaks" if leaks else "wrong", wrong[0].message if wrong else "")


def table(programs: int, context: ir.Context) -> tuple[dict[str, Row], dict[str, Row]]:
    buffers = {name: Row() for name in ON_BUFFERS}
    for seed in range(programs):
        one = program(seed, straight=seed % 5 == 0)
        for name, pipeline in ON_BUFFERS.items():
            on_buffers(one, pipeline, buffers[name], context)
    stream = {name: Row() for name in ON_STREAM}
    for text in STREAM_PROGRAMS.values():
        for name, pipeline in ON_STREAM.items():
            on_stream(text, pipeline, stream[name], context)
    return buffers, stream


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--docs", action="store_true", help="write the tables to docs/lifetime.md")
    chosen = parser.parse_args(argv)
    tables = []
    for title, rows in zip(
        ("buffers", "stream resources"), table(chosen.programs, new_context()), strict=True
    ):
        head = f"| pipeline on {title} | right | leaks | wrong | nothing | refuses | peak |\n|---|---|---|---|---|---|---|"
        tables.append("\n".join([head, *(row.line(name) for name, row in rows.items())]))
        print(tables[-1])
        for name, row in rows.items():
            if row.first:
                print(f"{name}: {row.first}")
        print()
    if chosen.docs:
        write_table("lifetime.md", "native-passes", "\n\n".join(tables))
    ours = rows["fissile-insert-kills"]
    return 0 if ours.ended["wrong"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
