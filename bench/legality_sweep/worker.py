"""One process of a sweep: `python -m bench.legality_sweep.worker JOB.json`. A crash of IREE ends it, and not the sweep.

For each model and target it writes what it begins, and then what stock IREE did and what the audit said.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fissile.passes.iree.targets import flags_for
from fissile.pipelines.audit.entry import AuditJob, run_audit_here
from fissile.pipelines.importers import onnx_child
from fissile.pipelines.session import PhaseFailed, Session
from fissile.pipelines.targets import resolve_target


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[1]).parent
    for model in job["models"]:
        program = folder / "program.mlirbc"
        found = onnx_child.answer({"model": model, "name": model, "program": str(program), "expand": []})
        for target in job["targets"]:
            if [model, target] in job["done"]:
                continue
            result = {"model": model, "target": target}
            _say(result | {"begins": True})
            if "refused" in found:
                _say(result | {"stock": "not imported", "said": found["refused"], "audit": []})
                continue
            flags = tuple(flags_for(resolve_target(target)))
            _say(result | _stock(program, flags) | _audit(program, target, flags))


def _stock(program: Path, flags: tuple[str, ...]) -> dict:
    session = Session(flags)
    try:
        session.run(session.parse(program), "end")
    except PhaseFailed as failure:
        return {"stock": f"refused before {failure.phase}", "said": failure.message[:200]}
    return {"stock": "compiles", "said": ""}


def _audit(program: Path, target: str, flags: tuple[str, ...]) -> dict:
    report = run_audit_here(AuditJob(str(program), ((target, flags),)))
    ops = [op["op"] for fact in report.facts["audit"] for op in fact["ops"]]
    codes = sorted({finding.code for finding in report.errors})
    return {"audit": ops, "audit_codes": codes}


def _say(result: dict) -> None:
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
