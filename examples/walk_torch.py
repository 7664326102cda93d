"""From a PyTorch module to numbers: exported, refused by stock IREE for gfx942, repaired by fissile, run, compared with PyTorch.

make walk-torch                           installs PyTorch and iree-turbine into .venv-torch, and runs this
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import fissile

TARGET = "gfx942"


class Dequantised(torch.nn.Module):
    """A convolution of an int8 image: the pattern whose whole input IREE keeps on chip."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(64, 64, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(image.to(torch.float32) * 0.02))


def main() -> int:
    torch.manual_seed(0)
    module = Dequantised().eval()
    image = torch.randint(-128, 128, (1, 64, 34, 34), dtype=torch.int8)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.pt2")
        torch.export.save(torch.export.export(module, (image,)), file)

        stock = fissile.compile(file, target=TARGET, repair="off", check=False)
        for finding in stock.errors:
            print(f"stock IREE: refuses {file.name} for {TARGET}: {finding.code} {finding.message}")

        repaired = fissile.compile(file, Path(folder, "model.vmfb"), target=TARGET)
        codes = ", ".join(dict.fromkeys(finding.code for finding in repaired.findings))
        print(f"fissile: wrote {Path(repaired.output).name}, {len(repaired.vmfb)} bytes; repaired: {codes}")

        ours = fissile.compile(file, target="llvm-cpu").run(image.numpy())
    theirs = module(image).detach().numpy()
    apart = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    print(f"numbers: {ours.size} of {ours.dtype}, at most {apart:.1e} of the largest from PyTorch's")
    return 0 if stock.errors and repaired.repaired and apart < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
