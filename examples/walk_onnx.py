"""From an ONNX model to numbers: refused by stock IREE for gfx942, repaired by fissile, run on the CPU, compared with onnxruntime.

pip install '.[onnx]'
python examples/walk_onnx.py              in a folder of its own, which is removed
python examples/walk_onnx.py --keep walk  in the folder walk, which stays
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from quantised_onnx import model

import fissile

TARGET = "gfx942"
FLAGS = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]


def stock_refuses(file: Path, folder: Path) -> str:
    """What stock IREE reports of the model; empty where it builds it."""
    program = str(folder / "model.mlir")
    tools = Path(sys.executable).parent
    subprocess.run([tools / "iree-import-onnx", file, "-o", program], check=True)
    words = [tools / "iree-compile", *FLAGS, program, "-o", folder / "stock.vmfb"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return lines[0] if done.returncode else ""


def walk(folder: Path, size: int) -> int:
    file = folder / "model.onnx"
    onnx.save(model(size), file)

    refused = stock_refuses(file, folder)
    print("stock IREE:", f"refuses {file.name} for {TARGET}: {refused}" if refused else f"builds {file.name}")

    repaired = fissile.compile(file, folder / f"{TARGET}.vmfb", target=TARGET)
    codes = ", ".join(dict.fromkeys(finding.code for finding in repaired.findings))
    print(f"fissile: wrote {Path(repaired.output).name}, {len(repaired.vmfb)} bytes; repaired: {codes}")

    here = fissile.compile(file, target="llvm-cpu")
    image = np.random.default_rng(1).integers(-128, 128, (1, 64, size, size), dtype=np.int8)
    ours = here.run(image)
    theirs = onnxruntime.InferenceSession(file).run(None, {"x": image})[0]
    apart = int(np.abs(ours.astype(int) - theirs.astype(int)).max())
    print(
        f"numbers: {ours.size} of {ours.dtype}, at most {apart} step{'s' * (apart != 1)} from onnxruntime's"
    )
    return 0 if refused and repaired.repaired and apart <= 1 else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", metavar="FOLDER", help="work in this folder and leave everything there")
    parser.add_argument("--size", type=int, default=18, help="rows and columns of the image (default 18)")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="walk-"))
    folder.mkdir(exist_ok=True)
    try:
        return walk(folder, args.size)
    finally:
        if not args.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
