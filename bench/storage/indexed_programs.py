"""Programs that the storage guard checks at run time, small ones written out, with legal arguments for each."""

from __future__ import annotations

import numpy as np

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
