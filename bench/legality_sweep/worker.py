"""One process of a sweep: `python -m bench.legality_sweep.worker JOB.json`. A crash of IREE ends it, and not the sweep.

For each model and target it writes what it begins, and then what IREE did and what the audit found. Where the audit's own compile of the
program succeeds, IREE compiles it; where it does not, the program is compiled once more in one run, as `iree-compile` does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fissile.passes.analysis.legality.compiler import Compiler
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.audit.entry import AuditJob, run_audit_here
from fissile.pipelines.importers import onnx_child
from fissile.pipelines.session import PhaseFailed, Session
from fissile.pipelines.targets import resolve_target
from fissile.report import Report

from . import torch_operators


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[1]).parent
    flags = {target: tuple(flags_for(resolve_target(target))) for target in job["targets"]}
    sessions = {target: Session(flags[target]) for target in flags}
    compiler = Compiler()
    for model, targets in job["models"]:
        program = folder / "program.mlirbc"
        _print_result({"model": Path(model).stem, "target": targets[0], "begins": True})
        found = imported(job["front_end"], Path(model), program)
        for target in targets:
            result = {"model": Path(model).stem, "target": target}
            _print_result(result | {"begins": True})
            if "refused" in found:
                _print_result(result | {"stock": "not imported", "message": found["refused"]} | NOTHING_NAMED)
                continue
            report = run_audit_here(AuditJob(str(program), ((target, flags[target]),)), compiler=compiler)
            if report.facts["audit"] and report.facts["audit"][0]["compiles"]:
                stock = {"stock": "compiles", "message": ""}
            else:
                stock = stock_compiles(program, sessions[target])
            _print_result(result | stock | named_by(report))


def imported(front_end: str, model: Path, program: Path) -> dict:
    """Writes ``program``, or says in ``refused`` why there is none."""
    if front_end == "torch":
        return torch_operators.answer(model, program)
    return onnx_child.answer({"model": str(model), "name": str(model), "program": str(program), "expand": []})


def stock_compiles(program: Path, session: Session) -> dict:
    try:
        session.run(session.parse(program), "end")
    except PhaseFailed as failure:
        return {"stock": "refused", "message": failure.message[:200]}
    return {"stock": "compiles", "message": ""}


NOTHING_NAMED: dict = {"audit": [], "codes": [], "findings": []}


def named_by(report: Report) -> dict:
    """``audit``: the ops that errors of ``report`` name; ``findings``: their headlines."""
    named = [finding.subject for finding in report.errors if finding.subject]
    for fact in report.facts.get("audit", []):
        if fact["part"] and any(f.code == "FIS414" for f in report.errors):
            named.append(fact["part"]["op"])
    return {
        "audit": list(dict.fromkeys(named)),
        "codes": sorted({finding.code for finding in report.errors}),
        "findings": [finding.message[:200] for finding in report.errors],
    }


def _print_result(result: dict) -> None:
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
