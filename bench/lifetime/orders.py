"""Do releases survive any order of passes?

    python -m bench.lifetime.orders [--sequences 100] [--seed 0]

Every permutation of insert-kills, check-lifetimes, canonicalize (constant folding and dead code), cse, boundary placement, the
storage guard and the lowering of storage, then random sequences with repetition, run on programs with storage and with buffers. Each sequence
gives a module that verifies and computes what the program computed before, or is refused before anything runs, with the order that
works. Where insert-kills ran last of those that place releases, the check finds nothing. Exit status 1 where anything is not so.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.definition import PassFailed
from fissile.pipelines.pass_runner import run_pipeline

from .buffers import Misuse
from .interpreter import call
from .suite import new_context

PASSES = (
    "fissile-insert-kills",
    "fissile-check-lifetimes",
    "canonicalize",
    "cse",
    "fissile-place-boundaries",
    "fissile-assert-bounds",
    "fissile-lower-storage",
)
ON_BUFFERS = tuple(name for name in PASSES if name not in ("fissile-place-boundaries",))

STORAGE = """
func.func @main(%c: i1, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %three = arith.addf %one, %two : tensor<4xf32>
  %f = linalg.copy ins(%three : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "fissile.kill"(%three) : (tensor<4xf32>) -> ()
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %f) -> tensor<4xf32> {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%q : tensor<4xf32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }
  %unused = arith.mulf %one, %two : tensor<4xf32>
  %s2 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t2 = "fissile.alloc_tensor"(%s2, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  %a = tensor.extract %r[%c0] : tensor<4xf32>
  %b = tensor.extract %z[%c1] : tensor<4xf32>
  %e = arith.addf %a, %b : f32
  return %e : f32
}
"""
BUFFERS = """
memref.global "private" constant @k : memref<4xf32> = dense<3.0>
func.func @main(%c: i1, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %g = arith.addf %f, %f : f32
  %true = arith.constant true
  %k = memref.get_global @k : memref<4xf32>
  %m = memref.alloc() : memref<4xf32>
  %unused = memref.alloc() : memref<4xf32>
  memref.copy %k, %m : memref<4xf32> to memref<4xf32>
  %p = arith.select %true, %m, %k : memref<4xf32>
  memref.dealloc %p : memref<4xf32>
  %w = scf.for %i = %c0 to %n step %c1 iter_args(%q = %m) -> memref<4xf32> {
    %x = memref.alloc() : memref<4xf32>
    memref.copy %q, %x : memref<4xf32> to memref<4xf32>
    memref.store %g, %x[%c0] : memref<4xf32>
    scf.yield %x : memref<4xf32>
  }
  %r = scf.if %c -> memref<4xf32> {
    scf.yield %w : memref<4xf32>
  } else {
    %y = memref.alloc() : memref<4xf32>
    memref.copy %w, %y : memref<4xf32> to memref<4xf32>
    scf.yield %y : memref<4xf32>
  }
  %v = memref.load %r[%c0] : memref<4xf32>
  %u = memref.load %r[%c1] : memref<4xf32>
  %e = arith.addf %v, %u : f32
  return %e : f32
}
"""
CALLS = ((True, 0), (False, 2))
EXPECTED = {"storage": (3.0, 12.0), "buffers": (6.0, 5.0)}


def sequences(passes: Sequence[str], count: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Every order of ``passes``, then ``count`` random sequences with repetition."""
    yield from itertools.permutations(passes)
    chosen = random.Random(seed)
    for _ in range(count):
        yield tuple(chosen.choices(passes, k=chosen.randint(2, 10)))


def check_sequence(
    text: str, expected: Sequence[float], names: Sequence[str], context: ir.Context
) -> tuple[str, str]:
    """(how it ended, what is wrong with that, empty where nothing is)."""
    module = ir.Module.parse(text, context=context).operation
    before = str(module)
    try:
        run_pipeline(f"builtin.module({','.join(names)})", module, report=lambda finding: None)
    except PassFailed as refused:
        codes = {finding.code for finding in refused.findings}
        if codes != {"FIS501"}:
            return "stopped", f"{sorted(codes)}: {refused.findings[0].message}"
        if str(module) != before:
            return "refused", "a refused sequence changed the module"
        way_out = any("run " in note or "order" in note for f in refused.findings for note in f.notes)
        return "refused", "" if way_out else "refused without the order that works"
    if not module.verify():
        return "ran", "the module does not verify"
    placed = "fissile-insert-kills" in names
    if placed and "fissile-lower-storage" not in names:
        if wrong := [f for f in lifetime_findings(module) if f.effect.is_error]:
            return "ran", f"{wrong[0].code}: {wrong[0].message}"
    for arguments, number in zip(CALLS, expected, strict=True):
        try:
            run = call(module, "main", arguments)
        except Misuse as misuse:
            if not placed:
                continue  # the program's own wrong release, which nothing repaired
            return "ran", str(misuse)
        if run.results != [number]:
            return "ran", f"{run.results} and not {number}"
        if run.leaked and placed and ops_of(module, "memref.alloc"):
            return "ran", f"{len(run.leaked)} buffers leak"
    return "ran", ""


def check_all(count: int, seed: int, most: int | None = None) -> tuple[Counter, list[str]]:
    """All sequences of both programs, or ``most`` of them chosen at random; what happened, and what was wrong."""
    context = new_context()
    ended, wrong = Counter(), []
    for name, text, passes in (("storage", STORAGE, PASSES), ("buffers", BUFFERS, ON_BUFFERS)):
        tried = list(dict.fromkeys(sequences(passes, count, seed)))
        if most is not None:
            tried = random.Random(seed).sample(tried, most)
        for names in tried:
            how, complaint = check_sequence(text, EXPECTED[name], names, context)
            ended[name, how] += 1
            if complaint:
                wrong.append(f"{name}: {','.join(names)}: {complaint}")
    return ended, wrong


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sequences", type=int, default=100, help="random sequences of each program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, help="try only that many of each program, chosen at random")
    chosen = parser.parse_args(argv)
    ended, wrong = check_all(chosen.sequences, chosen.seed, chosen.most)
    for line in wrong[:10]:
        print(line)
    print(", ".join(f"{name} {how}: {number}" for (name, how), number in sorted(ended.items())))
    print(f"{sum(ended.values())} sequences, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
