"""Seconds of one compile and one run of a program on the Vulkan device, as stock builds it (`--repair=off`) and repaired.

By the clock; a run is a process of its own, without Mesa's shader cache: the driver's compiler is part of it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fissile.pipelines.numerics.child_process import run_child

from bench.corpus_numerics import TARGETS

BIN = Path(sys.executable).parent
HEAD = "compile/run as it is  compile/run repaired  (seconds)"


def cells(text: str, inputs: Sequence[str], target: str, limit: float) -> tuple[str, str]:
    """`compile / run` of the program ``text`` with ``inputs`` (`2x3xf32=1`), as it is and repaired; words where one does not end."""
    os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"
    made = []
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as folder:
        source, module = Path(folder, "in.mlir"), Path(folder, "out.vmfb")
        source.write_text(text)
        for repair in ("off", "auto"):
            compiled = seconds([str(BIN / "fissile"), "compile", *TARGETS[target][1], f"--repair={repair}",
                                f"--dispatch-timeout={limit:g}", str(source), "-o", str(module)], limit)
            ran = seconds([str(BIN / "iree-run-module"), f"--module={module}", "--device=vulkan", "--function=main",
                           *(f"--input={given}" for given in inputs)], limit) if module.exists() else "-"
            made.append(f"{compiled} / {ran}")
            module.unlink(missing_ok=True)
    return made[0], made[1]


def seconds(command: list[str], limit: float) -> str:
    """Of ``command``; words where it fails or does not end."""
    start = time.monotonic()
    ended = run_child(command, limit)
    spent = time.monotonic() - start
    if ended.reason:
        return f"> {limit:.0f}"
    return f"{spent:.1f}" if ended.status == 0 else "failed"
