"""The programs that the table repairs, runs and compiles, when none are given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.programs.text.linalg_text import Function
from bench.programs.transformer_program import TransformerBlock

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = ("stablehlo_einsum", "tosa_conv_rescale")


def repaired(folder: Path) -> list[Path]:
    """The README's convolution, and a small one that fits a larger budget."""
    return [_convolution(folder, 16, 256), _convolution(folder, 8, 64)]


def run_as_well(folder: Path) -> list[Path]:
    """What is repaired on Vulkan for its loops: a softmax over rows longer than one thread of lavapipe computes."""
    softmax = Function("main", [("x", (8, 70000), "f32")])
    path = folder / "softmax_of_long_rows.mlir"
    path.write_text(softmax.returning(softmax.softmax(softmax.values[0])), encoding="utf-8")
    return [path]


def healthy(folder: Path) -> list[Path]:
    """A StableHLO and a TOSA program of bench/front_ends, and a quantised transformer block."""
    block = folder / "transformer_block.mlir"
    block.write_text(TransformerBlock(128, 256, 4, 1024).text, encoding="utf-8")
    return [*(ROOT / "bench/front_ends" / f"{stem}.mlir" for stem in HEALTHY), block]


def resnet50(folder: Path) -> Path:
    """In a process of its own: what this one holds in memory would count for every command that it starts."""
    made = f"from bench.check_cost import import_resnet50; import_resnet50(Path({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", f"from pathlib import Path; {made}"], check=True, cwd=ROOT)
    return folder / "resnet50.mlir"


def _convolution(folder: Path, size: int, filters: int) -> Path:
    path = folder / f"quantised_conv_{size}.mlir"
    words = ["--size", str(size), "--filters", str(filters)]
    made = subprocess.run(
        [sys.executable, ROOT / "examples/programs.py", *words], check=True, capture_output=True, text=True
    )
    path.write_text(made.stdout, encoding="utf-8")
    return path
