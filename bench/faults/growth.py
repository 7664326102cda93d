"""Growth: processor time and memory of fissile and of stock for programs of 10 to 10,000 dispatches, and a line through them."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .results import Row
from .trial import BIN

SIZES = (10, 30, 100, 300, 1000, 3000, 10000)
FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
MEASURES = {
    # All phases up to the point where fissile looks at every dispatch, each different from the others.
    "different": ("--compile-to=executable-configurations", "in.mlir", "-o", "out"),
    # The same for dispatches that are alike: what fissile adds, without what IREE takes for its host code, which grows faster.
    "alike-configured": ("--compile-to=executable-configurations", "in.mlir", "-o", "out"),
    # To the end; all dispatches are alike, and one is generated.
    "alike": ("in.mlir", "-o", "out"),
}


def trials(count: int, seed: int) -> Iterator[str]:
    """Small ones first; ``count`` is the most dispatches."""
    return (
        f"{form}/{size}/{who}"
        for size in SIZES
        if size <= max(count, SIZES[0])
        for form in MEASURES
        for who in ("stock", "fissile")
    )


def run(trial: str) -> Row:
    form, size, who = trial.split("/")
    command = ["iree-compile"] if who == "stock" else ["fissile", "compile"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in.mlir").write_text(program(int(size), form == "different"))
        command = [str(BIN / command[0]), *command[1:], *FLAGS, *MEASURES[form]]
        status, seconds, peak = _measured(command, folder)
    return {
        "broken": [] if status == 0 else [f"exit status {status}"],
        "seconds": round(seconds, 2),
        "mebibytes": peak >> 10,
        "line": trial,
    }


def program(dispatches: int, different: bool) -> str:
    """A chain of matrix products with vectors, each a dispatch of its own; ``different``: each has a size of its own."""
    lines, last, wide = (
        ["func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {", "  %zero = arith.constant 0.0 : f32"],
        "%x",
        4,
    )
    for index in range(dispatches):
        to = 4 + (index + 1) % 1000 if different and index + 1 < dispatches else 4
        kind = f"tensor<1x{to}xf32>"
        lines += [
            f"  %w{index} = util.unfoldable_constant dense<0.5> : tensor<{wide}x{to}xf32>",
            f"  %e{index} = tensor.empty() : {kind}",
            f"  %f{index} = linalg.fill ins(%zero : f32) outs(%e{index} : {kind}) -> {kind}",
            f"  %m{index} = linalg.matmul ins({last}, %w{index} : tensor<1x{wide}xf32>, tensor<{wide}x{to}xf32>) outs(%f{index} : {kind}) -> {kind}",
        ]
        last, wide = f"%m{index}", to
    return "\n".join([*lines, f"  return {last} : tensor<1x{wide}xf32>", "}", ""])


def _measured(command: list[str], folder: str) -> tuple[int, float, int]:
    """Exit status, seconds of processor time and the largest process's KiB, children included."""
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (7200, 7200))
            os.execv(command[0], command)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def table(rows: list[Row]) -> str:
    """Seconds and MiB by size, with the exponent of the last step: 1 is linear."""
    found = {row["trial"]: row for row in rows if not row["broken"]}
    lines = [
        "| program | dispatches | stock s | fissile s | ratio | stock MiB | fissile MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for form in MEASURES:
        points = []
        for size in SIZES:
            stock, own = (found.get(f"{form}/{size}/{who}") for who in ("stock", "fissile"))
            if stock and own:
                points.append((size, stock, own))
                lines.append(f"| {form} | {size} | {stock['seconds']} | {own['seconds']} | {own['seconds'] / max(stock['seconds'], 0.01):.2f} "
                             f"| {stock['mebibytes']} | {own['mebibytes']} |")  # fmt: skip
        if len(points) > 1:
            lines.append(f"| {form}, fitted | | {_fit([(n, s['seconds']) for n, s, _ in points])} | {_fit([(n, o['seconds']) for n, _, o in points])} | | "
                         f"{_fit([(n, s['mebibytes']) for n, s, _ in points])} | {_fit([(n, o['mebibytes']) for n, _, o in points])} |")  # fmt: skip
    return "\n".join(lines)


def _fit(points: list[tuple[int, float]]) -> str:
    """Least squares of ``a + b n``: ``b`` per 1000 dispatches, and the share of the variance that the line leaves."""
    count = len(points)
    mean_n, mean_y = sum(n for n, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((n - mean_n) ** 2 for n, _ in points)
    slope = sum((n - mean_n) * (y - mean_y) for n, y in points) / spread
    total = sum((y - mean_y) ** 2 for _, y in points)
    left = sum((y - mean_y - slope * (n - mean_n)) ** 2 for n, y in points)
    return f"{1000 * slope:.1f} per 1000, R2 {1 - left / total if total else 1:.3f}"
