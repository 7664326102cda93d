"""What the storage guard costs at run time: guarded against unguarded, in pairs, in one process.

    python -m bench.storage.storage_cost [--rounds 15] [--only TEXT]

Each program is compiled twice for llvm-cpu, without and with asserts, and called with legal sizes. A
round times both, in alternating order, in processor time of one thread (local-sync), which a loaded
machine stretches less than the clock. The table shows the fastest round of each with their ratio, and
the median of the rounds' ratios. Stock's gather checks no index, so the gather is the price of a check
that nobody made before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import iree.runtime as rt
import numpy as np

from fissile.pipelines.compile.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]

MATMULS = """func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.matmul ins(%r, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>,
      affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %u = arith.addf %p, %q : f32
    linalg.yield %u : f32
  } -> tensor<?x?xf32>
  return %t : tensor<?x?xf32>
}
"""
TILES = """func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c4096 iter_args(%a = %x) -> (tensor<?xf32>) {
    %s = tensor.extract_slice %a[%i] [4096] [1] : tensor<?xf32> to tensor<4096xf32>
    %e = tensor.empty() : tensor<4096xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
        iterator_types = ["parallel"]} ins(%s : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%p: f32, %q: f32):
      %u = math.exp %p : f32
      linalg.yield %u : f32
    } -> tensor<4096xf32>
    %w = tensor.insert_slice %g into %a[%i] [4096] [1] : tensor<4096xf32> into tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
"""
GATHER = """func.func @main(%x: tensor<?x512xf32>, %j: tensor<?xi32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %j, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%j : tensor<?xi32>) outs(%e : tensor<?x512xf32>) {
  ^bb0(%p: i32, %q: f32):
    %i = arith.index_cast %p : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%i, %k] : tensor<?x512xf32>
    linalg.yield %v : f32
  } -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}
"""

SMALL = """func.func @main(%y: tensor<?xf32>, %f: tensor<10xf32>, %o: index) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %y into %f[%o] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
"""


def bag(tables: int, rows: int, width: int, batch: int, indices: int) -> str:
    """Embedding bags: ``batch`` sums of ``indices`` rows each, from each of the tables."""
    out = f"tensor<{batch}x{width}xf32>"
    arguments = ", ".join(
        f"%t{n}: tensor<{rows}x{width}xf32>, %j{n}: tensor<{batch}x{indices}xi64>" for n in range(tables)
    )
    sums = "".join(
        f"""  %r{n} = linalg.generic {{indexing_maps = [affine_map<(b, w, h) -> (b, h)>, affine_map<(b, w, h) -> (b, w)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%j{n} : tensor<{batch}x{indices}xi64>) outs(%f : {out}) {{
  ^bb0(%p: i64, %q: f32):
    %i = arith.index_cast %p : i64 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %t{n}[%i, %k] : tensor<{rows}x{width}xf32>
    %s = arith.addf %q, %v : f32
    linalg.yield %s : f32
  }} -> {out}
"""
        for n in range(tables)
    )
    results = ", ".join(f"%r{n}" for n in range(tables))
    return f"""func.func @main({arguments}) -> ({", ".join([out] * tables)}) {{
  %e = tensor.empty() : {out}
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
{sums}  return {results} : {", ".join([out] * tables)}
}}
"""


def chain(links: int, rows: int, width: int) -> str:
    """Rows of a table at indices that another table gives, ``links`` times in a row."""
    take = """  %n{n} = linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
      iterator_types = ["parallel"]}} ins(%n{m} : tensor<{rows}xi32>) outs(%e : tensor<{rows}xi32>) {{
  ^bb0(%p: i32, %q: i32):
    %i = arith.index_cast %p : i32 to index
    %v = tensor.extract %j[%i] : tensor<{rows}xi32>
    linalg.yield %v : i32
  }} -> tensor<{rows}xi32>
"""
    steps = "".join(take.format(n=n + 1, m=n, rows=rows) for n in range(links))
    return f"""func.func @main(%x: tensor<{rows}x{width}xf32>, %j: tensor<{rows}xi32>, %n0: tensor<{rows}xi32>)
    -> tensor<{rows}x{width}xf32> {{
  %e = tensor.empty() : tensor<{rows}xi32>
  %g = tensor.empty() : tensor<{rows}x{width}xf32>
{steps}  %r = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]}} ins(%n{links} : tensor<{rows}xi32>) outs(%g : tensor<{rows}x{width}xf32>) {{
  ^bb0(%p: i32, %q: f32):
    %i = arith.index_cast %p : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%i, %k] : tensor<{rows}x{width}xf32>
    %s = math.exp %v : f32
    linalg.yield %s : f32
  }} -> tensor<{rows}x{width}xf32>
  return %r : tensor<{rows}x{width}xf32>
}}
"""


def _ones(*shape: int) -> np.ndarray:
    return np.full(shape, 0.01, np.float32)


def _indices(count: int, below: int, kind: type = np.int32) -> np.ndarray:
    return (np.arange(count) * 7 % below).astype(kind)


def _bags(tables: int, rows: int, width: int, batch: int, indices: int) -> tuple[str, list]:
    at = _indices(batch * indices, rows, np.int64).reshape(batch, indices)
    return bag(tables, rows, width, batch, indices), [_ones(rows, width), at] * tables


PROGRAMS = {
    "two matmuls, 384x384": (MATMULS, [_ones(384, 384), _ones(384, 384), _ones(384, 384)]),
    "64 tiles of 4096 in a loop": (TILES, [_ones(64 * 4096), 64 * 4096]),
    "one insert of 8 elements": (SMALL, [_ones(8), _ones(10), 2]),
    "gather of 4096 rows of 512": (GATHER, [_ones(8192, 512), _indices(4096, 8192)]),
    "gather of 8 rows of 512": (GATHER, [_ones(8192, 512), _indices(8, 8192)]),
    "21 embedding bags, 128x8 of 64": _bags(21, 1000, 64, 128, 8),
    "3 gathers in a chain, 1024x64": (chain(2, 1024, 64), [_ones(1024, 64), *[_indices(1024, 1024)] * 2]),
}


def build(session: Session, text: str, path: Path, mode: str) -> int:
    """Compiles ``text`` to ``path``; returns how many asserts the guard added."""
    module = session.run(session.parse_text(text), GUARDED_AT)
    added = guard(module.op, mode).asserts
    session.run(module, "end")
    session.write(module, path)
    return added


def load(path: Path):
    context = rt.SystemContext(config=rt.Config("local-sync"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, path.read_bytes()))
    return context.modules.module["main"], context.config.device


def seconds(function, values: list, repeat: int) -> float:
    started = time.process_time()
    for _ in range(repeat):
        result = function(*values)
    (result[0] if isinstance(result, tuple) else result).to_host()
    return (time.process_time() - started) / repeat


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    options = parser.parse_args(argv)
    rounds = options.rounds
    print(f"{'program':<32} {'asserts':>7} {'unguarded':>11} {'guarded':>11} {'ratio':>7} {'median':>7}")
    with Session(FLAGS) as session, tempfile.TemporaryDirectory() as folder:
        for name, (text, values) in PROGRAMS.items():
            if options.only not in name:
                continue
            paths = [Path(folder, mode) for mode in ("off", "assert")]
            asserts = [build(session, text, path, path.name) for path in paths]
            functions = []
            for path in paths:
                function, device = load(path)
                given = [rt.asdevicearray(device, v) if isinstance(v, np.ndarray) else v for v in values]
                functions.append((function, given))
            repeat = max(1, int(0.2 / seconds(*functions[0], 3)))
            times: list[list[float]] = [[], []]
            for number in range(rounds):
                for side in (0, 1) if number % 2 else (1, 0):
                    times[side].append(seconds(*functions[side], repeat))
            ratio = statistics.median(b / a for a, b in zip(*times))
            off, on = (min(t) * 1e3 for t in times)
            print(f"{name:<32} {asserts[1]:>7} {off:>8.3f} ms {on:>8.3f} ms {on / off:>7.3f} {ratio:>7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
