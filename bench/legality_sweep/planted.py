"""Programs with several things that IREE takes in no form, of different dialects and levels: does one audit find them all?

    python -m bench.legality_sweep.planted --docs

Each program is some of PIECES, with two functions that stock IREE compiles. What has to be found is asked of stock IREE: a piece is one that it
refuses alone, on that target. A piece counts as found where a finding stands in its lines; a finding in the lines of a piece that stock IREE
takes, or in none, is a false one. Exit status: 0 all are found and none is false, 1 not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fissile.finding import Severity
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.audit.audit_worker import run_audit
from fissile.pipelines.targets import resolve_target
from fissile.report import Report

from ..measured_tables import write_table

TARGETS = ("llvm-cpu", "vulkan")
PROGRAMS = 24
GENERIC = """\
  %e = tensor.empty() : tensor<4x{type}>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%a : tensor<4x{type}>) outs(%e : tensor<4x{type}>) {{
  ^bb0(%x: {type}, %y: {type}):
    %s = {op}
    linalg.yield %s : {type}
  }} -> tensor<4x{type}>
  return %r : tensor<4x{type}>
}}
"""


def _generic(name: str, kind: str, op: str) -> str:
    return f"func.func @{name}(%a: tensor<4x{kind}>) -> tensor<4x{kind}> {{\n" + GENERIC.format(
        type=kind, op=op
    )


PIECES = {
    "unknown dialect": """\
func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    "PyTorch operator": """\
func.func @torch(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "torch.aten.no_such"(%a) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
""",
    "PyTorch operator without a pattern": """\
func.func @and(%a: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.__and__.Tensor %a, %a : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
""",
    "ONNX operator": """\
func.func @onnx(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "onnx.NoSuch"(%a) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
""",
    "optional argument": """\
func.func @optional(%a: !torch.optional<vtensor<[4],f32>>) -> !torch.bool {
  %0 = torch.operator "onnx.OptionalHasElement"(%a) : (!torch.optional<vtensor<[4],f32>>) -> !torch.bool
  return %0 : !torch.bool
}
""",
    "StableHLO call": """\
func.func @call(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @somewhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    "StableHLO with an open size": """\
func.func @fft(%a: tensor<?xf32>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<?xf32>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
""",
    "TOSA custom op": """\
func.func @tosa(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tosa.custom"(%a) <{operator_name = "op", domain_name = "mine", implementation_attrs = ""}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    "no rank": """\
func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  %0 = math.exp %a : tensor<*xf32>
  return %0 : tensor<*xf32>
}
""",
    "lanes of a GPU in a body": _generic("lanes", "f32", "gpu.subgroup_reduce add %x : (f32) -> f32"),
    "scalar on an element type": _generic("root", "f4E2M1FN", "math.sqrt %x : f4E2M1FN"),
    "wide integer in a body": _generic("wide", "i128", "arith.muli %x, %x : i128"),
    "argument of f4": """\
func.func @f4(%a: tensor<64xf4E2M1FN>) -> tensor<64xf32> {
  %0 = arith.extf %a : tensor<64xf4E2M1FN> to tensor<64xf32>
  return %0 : tensor<64xf32>
}
""",
    "complex number as argument": """\
func.func @complex(%a: complex<f32>) -> complex<f32> {
  return %a : complex<f32>
}
""",
    "vector on the host": """\
func.func @vector(%a: vector<4xf32>) -> vector<4xf32> {
  %0 = arith.negf %a : vector<4xf32>
  return %0 : vector<4xf32>
}
""",
    "tensor of index": """\
func.func @indices(%a: tensor<4xindex>) -> tensor<4xindex> {
  %0 = arith.addi %a, %a : tensor<4xindex>
  return %0 : tensor<4xindex>
}
""",
    "memory on the host": """\
func.func @memory(%a: memref<4xf32>) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 4 {
    affine.store %c, %a[%i] : memref<4xf32>
  }
  return
}
""",
    "error function in a body": _generic("erfc", "f32", "math.erfc %x : f32"),
}
HEALTHY = {
    "healthy product": """\
func.func @product(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
""",
    "healthy exponential": _generic("exponential", "f32", "math.exp %x : f32"),
}
ALL = PIECES | HEALTHY


@dataclass(frozen=True)
class Verdict:
    """One program on one target: the pieces that stock IREE refuses, those found, and the findings that are false."""

    pieces: tuple[str, ...]
    refused: tuple[str, ...]
    found: tuple[str, ...]
    false: tuple[str, ...]
    stock: str

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(name for name in self.refused if name not in self.found)


def programs() -> list[tuple[str, ...]]:
    """The pieces of each program: four to six, every piece in several of them and beside many others."""
    names = list(PIECES)
    return [
        tuple(dict.fromkeys(names[(start + step * k) % len(names)] for k in range(4 + start % 3)))
        for start in range(PROGRAMS)
        for step in ((1, 5, 7)[start % 3] + 10 * (start // len(names)),)
    ]


def text_of(pieces: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The program of ``pieces`` with the healthy functions around them, and the first and last line of each."""
    lines: list[str] = []
    spans = []
    for name in pieces:
        own = ALL[name].splitlines()
        spans.append((len(lines) + 1, len(lines) + len(own)))
        lines += own
    return "\n".join(lines) + "\n", spans


def stock_says(text: str, target: str, folder: Path) -> str:
    """The first error of iree-compile for ``text``; empty where it compiles it."""
    source = folder / "stock.mlir"
    source.write_text(text)
    command = [str(Path(sys.executable).with_name("iree-compile")), *flags_for(resolve_target(target))]
    done = subprocess.run(
        [*command, str(source), "-o", str(folder / "x")],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
    )
    if done.returncode == 0:
        return ""
    errors = [line.partition("error: ")[2] for line in done.stderr.splitlines() if "error: " in line]
    return (
        errors[0].partition(": ")[0].partition(", ")[0]
        if errors and done.returncode > 0
        else "the compiler crashes"
    )


def judged(report: Report, pieces: Sequence[str], refused: Sequence[str], stock: str = "") -> Verdict:
    """What ``report`` found of ``pieces``, ``refused`` of which stock IREE does not take."""
    _text, spans = text_of(pieces)
    found: list[str] = []
    false = []
    for finding in report.findings:
        if finding.severity is Severity.WARNING:
            continue
        names = {_piece_at(place.line, pieces, spans) for place in finding.places}
        found += names & set(refused)
        if not names or names - set(refused):
            false.append(f"{finding.code}: {finding.message}")
    return Verdict(tuple(pieces), tuple(refused), tuple(dict.fromkeys(found)), tuple(false), stock)


def _piece_at(line: int, pieces: Sequence[str], spans: Sequence[tuple[int, int]]) -> str:
    return next((name for name, (a, b) in zip(pieces, spans, strict=True) if a <= line <= b), "")


def audited(pieces: Sequence[str], refused: Sequence[str], target: str, folder: Path) -> Verdict:
    text, _spans = text_of(pieces)
    file = folder / "planted.mlir"
    file.write_text(text)
    report = run_audit(str(file), [(target, flags_for(resolve_target(target)))])
    return judged(report, pieces, refused, stock_says(text, target, folder))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.legality_sweep.planted", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="write the table to docs/legality-sweep.md")
    parser.add_argument("--count", type=int, default=PROGRAMS, help="how many of the programs")
    args = parser.parse_args()
    verdicts: dict[str, list[Verdict]] = {}
    with tempfile.TemporaryDirectory(prefix="fissile-planted-") as name:
        folder = Path(name)
        for target in TARGETS:
            alone = {piece: stock_says(ALL[piece], target, folder) for piece in ALL}
            verdicts[target] = []
            for planted in programs()[: args.count]:
                pieces = (*HEALTHY, *planted)
                refused = [piece for piece in pieces if alone[piece]]
                verdict = audited(pieces, refused, target, folder)
                verdicts[target].append(verdict)
                for text in (*(f"missed: {piece}" for piece in verdict.missed), *verdict.false):
                    print(f"{target}: {', '.join(planted)}: {text}", flush=True)
    table = markdown(verdicts)
    print(table)
    if args.docs:
        write_table("legality-sweep.md", "planted", table)
    return int(any(one.missed or one.false for found in verdicts.values() for one in found))


def markdown(verdicts: dict[str, list[Verdict]]) -> str:
    """A line for each target, then one for each program of the first: what stock IREE says of it, and how much the audit does."""
    lines = [
        "| target | programs | rejected by stock, one function at a time | found by one audit | missed | false |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for target, found in verdicts.items():
        counts = [
            sum(len(getattr(one, part)) for one in found) for part in ("refused", "found", "missed", "false")
        ]
        lines.append(f"| {target} | {len(found)} | {' | '.join(map(str, counts))} |")
    for target, found in verdicts.items():
        lines += ["", f"| planted, {target} | stock's first message | found |", "| --- | --- | --- |"]
        for one in found:
            planted = ", ".join(piece for piece in one.pieces if piece not in HEALTHY)
            lines.append(
                f"| {planted} | {one.stock or 'compiles'} | {len(one.found)} of {len(one.refused)} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
