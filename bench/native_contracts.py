"""Do IREE's and MLIR's own passes do what their contracts in `passes/iree/pass_contracts.py` state?

    python -m bench.native_contracts [--programs 12] [--docs]

Each listed pass runs on programs at the phase that it is made for: generated programs on buffers with their releases placed, and
the tensor programs of this file through IREE's phases. Each property of the house is evaluated before and after. A row says in how many runs the
pass's requirements held, which properties it broke, and which that did not hold before it established. Exit status 1 where a pass breaks a property
that its contract keeps, or does not establish what its contract promises. `--docs` writes the table to docs/contracts.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from iree.compiler import ir

from bench.lifetime.programs import program
from bench.measured_tables import write_table
from fissile.passes.definition import PassFailed
from fissile.passes.iree.pass_contracts import NATIVE
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.contracts import contract_of, known_properties
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Module, Session
from fissile.target import find_target

BUFFERS = "buffers"
PHASES = {
    "one-shot-bufferize": "input",
    "iree-codegen-iree-comprehensive-bufferize": "input",
    "iree-dispatch-creation-pipeline": "global-optimization",
    "iree-dispatch-creation-form-dispatch-regions": "global-optimization",
    "iree-dispatch-creation-convert-dispatch-regions-to-workgroups": "global-optimization",
    "iree-flow-outline-dispatch-regions": "dispatch-creation",
    "iree-flow-transformation-pipeline": "dispatch-creation",
    "iree-stream-transformation-pipeline": "flow",
    "iree-stream-schedule-allocation": "",
    "iree-stream-automatic-reference-counting": "stream",
    "iree-hal-configure-executables": "",
    "iree-hal-configure-target-executable-variants": "",
    "iree-hal-translate-all-executables": "",
    "iree-hal-translate-target-executable-variants": "",
    "iree-hal-transformation-pipeline": "stream",
}
"""Pass -> the phase of the programs that it runs on; empty: only inside of its pipeline. Any other pass runs on buffers and at every phase below."""
EVERYWHERE = (BUFFERS, "input", "global-optimization", "flow", "stream")
NESTS = {
    "static-memory-planner-analysis": "func.func",
    "iree-codegen-iree-comprehensive-bufferize": "func.func",
    "iree-dispatch-creation-form-dispatch-regions": "util.func",
    "iree-dispatch-creation-convert-dispatch-regions-to-workgroups": "util.func",
}
OPEN = ("no-open-obligation",)
"""Not evaluated: a solver decides it, and IREE's passes know nothing of it."""
FLAGS = flags_for(find_target("llvm-cpu"))
_T = "tensor<16x16xf32>"
TENSORS = (
    f"""func.func @main(%a: {_T}, %b: {_T}) -> {_T} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {_T}
  %f = linalg.fill ins(%zero : f32) outs(%e : {_T}) -> {_T}
  %0 = linalg.matmul ins(%a, %b : {_T}, {_T}) outs(%f : {_T}) -> {_T}
  %1 = linalg.softmax dimension(1) ins(%0 : {_T}) outs(%e : {_T}) -> {_T}
  %2 = linalg.matmul ins(%1, %b : {_T}, {_T}) outs(%f : {_T}) -> {_T}
  return %2 : {_T}
}}""",
    f"""func.func @main(%a: {_T}, %n: index) -> {_T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {_T}
  %f = linalg.fill ins(%zero : f32) outs(%e : {_T}) -> {_T}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %a) -> {_T} {{
    %0 = linalg.matmul ins(%q, %a : {_T}, {_T}) outs(%f : {_T}) -> {_T}
    scf.yield %0 : {_T}
  }}
  return %r : {_T}
}}""",
    """func.func private @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @main(%a: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %0 = func.call @twice(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = scf.if %c -> tensor<?xf32> {
    %2 = func.call @twice(%0) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  } else {
    scf.yield %a : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}""",
)


@dataclass
class Row:
    """What one pass did in all its runs."""

    runs: int = 0
    unmet: int = 0
    stopped: int = 0
    broke: Counter = field(default_factory=Counter)
    made: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def cells(self, name: str) -> str:
        def listed(counts: Counter) -> str:
            return ", ".join(f"{prop} ({n})" for prop, n in sorted(counts.items()))

        return f"| `{name}` | {self.runs} | {self.unmet or ''} | {self.stopped or ''} | {listed(self.broke)} | {listed(self.made)} |"


def inputs(session: Session, count: int) -> dict[str, list[ir.Operation]]:
    """Phase -> programs at that phase; generated ones on buffers have their releases placed."""
    found: dict[str, list[ir.Operation]] = {BUFFERS: []}
    for seed in range(count):
        module = session.parse_text(program(seed, straight=seed % 5 == 0).text, "buffers.mlir").op.operation
        run_pipeline("builtin.module(fissile-insert-kills)", module, report=lambda finding: None)
        found[BUFFERS].append(module)
    for phase in {*PHASES.values(), *EVERYWHERE} - {BUFFERS, ""}:
        found[phase] = [_at(session, text, phase).op.operation for text in TENSORS]
    return found


def _at(session: Session, text: str, phase: str) -> Module:
    return session.run(session.parse_text(text, "tensors.mlir"), phase)


def chosen(name: str, programs: dict[str, list[ir.Operation]]) -> Iterator[ir.Operation]:
    phases = (PHASES[name],) if name in PHASES else EVERYWHERE
    for phase in phases:
        yield from programs.get(phase, ())


def check(name: str, programs: dict[str, list[ir.Operation]]) -> Row:
    """Runs pass ``name`` on copies of its programs."""
    row, contract = Row(), contract_of(name).contract
    properties = [p for p in known_properties() if p.name not in OPEN]
    pipeline = f"builtin.module({NESTS[name]}({name}))" if name in NESTS else f"builtin.module({name})"
    for original in chosen(name, programs):
        copy = original.clone()
        before = {p.name for p in properties if p.holds(copy)}
        if any(p.name not in before for p in contract.requires):
            row.unmet += 1
            continue
        row.runs += 1
        try:
            run_pipeline(pipeline, copy, report=lambda finding: None)
        except PassFailed:
            row.stopped += 1
            continue
        after = {p.name for p in properties if p.holds(copy)}
        row.broke.update(before - after)
        row.made.update(after - before)
        kept = before - {p.name for p in contract.invalidates}
        row.wrong += [f"breaks {prop}, which its contract keeps" for prop in sorted(kept - after)]
        promised = {p.name for p in contract.establishes}
        row.wrong += [f"does not establish {prop}" for prop in sorted(promised - after)]
    return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=12, help="generated programs on buffers")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/contracts.md")
    args = parser.parse_args(argv)
    programs = inputs(Session(FLAGS), args.programs)
    lines = [
        "| pass | runs | requirement unmet | refused by the pass | broke (runs) | established (runs) |",
        "|---|---|---|---|---|---|",
    ]
    wrong = 0
    for name in NATIVE:
        if not list(chosen(name, programs)):
            continue
        row = check(name, programs)
        lines.append(row.cells(name))
        print(lines[-1], flush=True)
        for complaint in dict.fromkeys(row.wrong):
            print(f"  {name} {complaint}")
        wrong += len(row.wrong)
    if args.docs:
        write_table("contracts.md", "native-contracts", "\n".join(lines))
    print(f"{wrong} runs against a contract")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
