"""What fissile does about 60 programs, as a file: a change of structure leaves it as it is, a change of behaviour shows in it.

    python -m bench.golden_edits [--only REGEX] [--jobs 2]      # rewrites the rows of tests/golden/edits.json (make golden)

A row is one program on one target: the codes of the findings with their severity, the sets of edits in the order in
which they were tried, the edits that were kept, and the exit status. Most programs are `bench.programs.edited_patterns`',
of forms on which edits are tried; the others are a few of `bench.programs.patterns`' of one seed. An edit is
`remedy op`, where the op is a source op's index at global optimisation. The limit of code generation is one of processor
time, and generous: a row does not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.programs import edited_patterns
from bench.programs.patterns import program
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "edits.json"
TARGETS = (
    *("gfx942", "vulkan", "gfx1100", "vulkan", "sm_86", "vulkan"),
    *("gfx942", "vulkan", "llvm-cpu", "vulkan", "gfx942", "vulkan:rdna3"),
)
SEED, COUNT, MOST = 16, 40, 4e6
"""``MOST`` loop iterations of a root: programs that compile in a second or two."""
FUSED = re.compile(r"(nchw|nhwc|conv1d|bmm|rows|matmul)_(dq|group4)[^_]*_(id|q|sum)")
FUSED_TARGETS = ("gfx942", "vulkan:rdna3", "gfx1100", "vulkan:ampere")
FUSED_COUNT, FUSED_MOST = 20, 3e7
"""Larger programs of the kind that stock IREE refuses: dequantised operands of a convolution or a matmul."""
DRAWN = (0, 1, 9, 17, 41, 53, 59)
"""Of the programs that are drawn: one that is packed, and those on which edits are tried."""


def programs() -> dict[str, tuple[str, str]]:
    """Each row's name with its program's text and its target."""
    drawn = list(_drawn().items())
    return dict(drawn[number] for number in DRAWN) | {
        f"{name} {target}": (text, target) for name, text, target in edited_patterns.programs()
    }


def _drawn() -> dict[str, tuple[str, str]]:
    r, rows = random.Random(SEED), {}
    for number in range(COUNT):
        name, text = program(r, MOST)
        target = TARGETS[number % len(TARGETS)]
        rows[f"{number:02d} {name} {target}"] = text, target
    while len(rows) < COUNT + FUSED_COUNT:
        name, text = program(r, FUSED_MOST)
        if FUSED.fullmatch(name):
            target = FUSED_TARGETS[len(rows) % len(FUSED_TARGETS)]
            rows[f"{len(rows):02d} {name} {target}"] = text, target
    return rows


def row(name: str) -> dict:
    """Compiles the program in this process, which is good for one row: IREE takes its flags once."""
    from fissile.passes.containment import Containment, containing
    from fissile.passes.iree.library import initialise_command_line
    from fissile.pipelines.compile.compile_run import CompileRun
    from fissile.pipelines.compile.guarded_compile import GuardedCompile
    from fissile.pipelines.compile.request import parse_command_line
    from fissile.pipelines.repair.loop import RepairLoop

    text, target = programs()[name]
    tried: list[list[str]] = []
    diagnose = RepairLoop.diagnose

    def watched(self, wanted=()):
        wanted = list(wanted)
        words = [" ".join(filter(None, (e.remedy, str(e.op), e.options))) for e in sorted(wanted)]
        if words and words not in tried:
            tried.append(words)
        return diagnose(self, wanted)

    RepairLoop.diagnose = watched
    with tempfile.TemporaryDirectory(prefix="fissile-golden-") as folder:
        source, output = Path(folder, "in.mlir"), Path(folder, "out.vmfb")
        source.write_text(text)
        request = parse_command_line([*flags_for(find_target(target)), str(source), "-o", str(output)])
        initialise_command_line(list(request.flags))
        with containing(Containment()):
            report = GuardedCompile(CompileRun(request, output)).run()
    return {
        "findings": sorted(f"{f.code} {f.severity.value}" for f in report.findings),
        "tried": tried,
        "kept": report.facts.get("edits", []),
        "status": int(report.exit_code),
    }


def kept_rows() -> dict[str, dict]:
    return json.loads(GOLDEN.read_text())


def row_in_a_process(name: str) -> dict:
    command = [sys.executable, "-m", "bench.golden_edits", "--row", name]
    ended = subprocess.run(
        command,
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return json.loads(ended.stdout) if ended.returncode == 0 else {"error": ended.stderr[-300:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--row", help="print one row, compiled in this process")
    arguments = parser.parse_args()
    if arguments.row:
        print(json.dumps(row(arguments.row)), flush=True)
        return
    rows = kept_rows() if GOLDEN.exists() else {}
    wanted = [name for name in programs() if re.search(arguments.only, name)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, found in zip(wanted, pool.map(row_in_a_process, wanted), strict=True):
            print(name, "as before" if rows.get(name) == found else found)
            rows[name] = found
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in programs() if name in rows]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
