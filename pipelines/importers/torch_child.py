"""The child process that imports an exported PyTorch program with iree-turbine: `python -m fissile.pipelines.importers.torch_child JOB.json`.

Locations are those of the exporter: lines of the model's own Python source.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fissile.errors import refused_by_system

from ..process.entry import begin, leave_answer


def main() -> int:
    begin()
    job = json.loads(Path(sys.argv[1]).read_text())
    leave_answer(Path(job["result"]), answer(job))
    return 0


def answer(job: dict) -> dict:
    """Empty tables of nodes, since places are lines of Python; or ``refused``: why there is no program."""
    try:
        _import(job["model"], Path(job["program"]))
        return {"lines": [], "types": [], "can_expand": []}
    except BaseException as error:
        system = refused_by_system(error)
        return {
            "refused": f"{type(error).__name__}: {' '.join(str(error).split())[:400]}",
            "system": [system.message, system.hint] if system else None,
            "node": 0,
            "lines": [],
        }


def _import(model: str, program: Path) -> None:
    import torch
    from iree.turbine import aot

    exported = aot.export(torch.export.load(model))
    with program.open("wb") as file:
        exported.mlir_module.operation.write_bytecode(file)


if __name__ == "__main__":
    sys.exit(main())
