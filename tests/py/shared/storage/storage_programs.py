"""Steps of random programs whose sizes lie below, at and above their capacities.

A program is built step by step as MLIR text and as a Python function side by side (`storage_oracle.py`): the function returns the result,
or raises Violation where a size does not fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from storage_oracle import LARGEST, Number, Program, Tensor, TooLarge, fits, require, wrap


class Builder:
    """Draws steps. Every tensor step is preceded or followed by an elementwise op often enough to be
    a dispatch."""

    def __init__(self, draw: Callable) -> None:
        self.draw = draw
        self.p = Program()
        self.tensors: list[Tensor] = []
        self.numbers: list[Number] = []

    def pick(self, choices):
        return self.draw(st.sampled_from(list(choices)))

    def argument_tensor(self, dims: tuple[int | None, ...]) -> Tensor:
        made = Tensor(self.p.fresh("x"), dims)
        self.p.arguments.append((made.name, made.type))
        self.tensors.append(made)
        return made

    def argument_number(self) -> Number:
        name = self.p.fresh("n")
        kind = self.pick(["index", "index", "i32", "i64"])
        self.p.arguments.append((name, kind))
        if kind == "index":
            made = Number(name, lambda v, n=name: v[n])
        else:
            cast = self.p.fresh("i")
            self.p.lines.append(f"{cast} = arith.index_cast {name} : {kind} to index")
            made = Number(cast, lambda v, n=name: v[n])
        self.numbers.append(made)
        return made

    def constant(self, value: int) -> Number:
        name = self.p.fresh("c")
        self.p.lines.append(f"{name} = arith.constant {value} : index")
        return Number(name, lambda v, k=value: k)

    def dim(self, t: Tensor, i: int) -> Number:
        at, name = self.constant(i), self.p.fresh("d")
        self.p.lines.append(f"{name} = tensor.dim {t.name}, {at.name} : {t.type}")
        return Number(name, lambda v, n=t.name, i=i: v[n].shape[i])

    def number(self) -> Number:
        """An argument, a constant, a dimension, or one op on them."""
        kind = self.pick(["argument", "constant", "dim", "add", "sub", "mul", "min", "max", "floordiv"])
        if kind == "argument":
            return self.argument_number() if len(self.numbers) < 3 else self.pick(self.numbers)
        if kind == "constant":
            return self.constant(self.draw(st.integers(0, 9)))
        if kind == "dim":
            t = self.pick(self.tensors)
            return self.dim(t, self.draw(st.integers(0, len(t.dims) - 1)))
        base = self.pick(self.numbers) if self.numbers else self.argument_number()
        k = self.draw(st.integers(1, 4))
        other, name = self.constant(k), self.p.fresh("e")
        op, compute = {
            "add": ("addi", lambda a: wrap(a + k)),
            "sub": ("subi", lambda a: wrap(a - k)),
            "mul": ("muli", lambda a: wrap(a * k)),
            "min": ("minsi", lambda a: min(a, k)),
            "max": ("maxsi", lambda a: max(a, k)),
            "floordiv": ("divsi", lambda a: abs(a) // k * (1 if a >= 0 else -1)),
        }[kind]
        self.p.lines.append(f"{name} = arith.{op} {base.name}, {other.name} : index")
        return Number(name, lambda v, f=compute, b=base: f(b.value(v)))

    def tensor(self, rank: int = 1) -> Tensor:
        have = [t for t in self.tensors if len(t.dims) == rank]
        if have and self.draw(st.booleans()):
            return self.pick(have)
        return self.argument_tensor(tuple(self.pick([None, None, 4, 6, 8]) for _ in range(rank)))

    def made(self, stem: str, dims: tuple[int | None, ...], step: Callable[[dict], np.ndarray]) -> Tensor:
        made = Tensor(self.p.fresh(stem), dims)

        def run(v: dict) -> None:
            v[made.name] = step(v)
            if v[made.name].size > LARGEST:
                raise TooLarge

        self.p.steps.append(run)
        self.tensors.append(made)
        return made

    # -- steps ----------------------------------------------------------------------------------------------

    def doubled(self, t: Tensor) -> Tensor:
        sizes = [self.dim(t, i).name for i, d in enumerate(t.dims) if d is None]
        empty = self.p.fresh("e")
        names = [f"d{i}" for i in range(len(t.dims))]
        map_ = f"affine_map<({', '.join(names)}) -> ({', '.join(names)})>"
        made = self.made("y", t.dims, lambda v: v[t.name] * 2)
        loops = ", ".join(['"parallel"'] * len(t.dims))
        self.p.lines += [
            f"{empty} = tensor.empty({', '.join(sizes)}) : {t.type}",
            f"{made.name} = linalg.generic {{indexing_maps = [{map_}, {map_}], iterator_types = [{loops}]}} "
            f"ins({t.name} : {t.type}) outs({empty} : {t.type}) {{",
            "^bb0(%p: f32, %q: f32):",
            "  %r = arith.addf %p, %p : f32",
            "  linalg.yield %r : f32",
            f"}} -> {t.type}",
        ]
        return made

    def add(self) -> Tensor:
        a, b = self.tensor(), self.tensor()
        if a.dims[0] is not None and b.dims[0] is not None and a.dims != b.dims:
            return self.doubled(a)
        a, b = (a, b) if a.dims[0] is None else (b, a)
        size = [self.dim(a, 0).name] if a.dims[0] is None else []
        empty = self.p.fresh("e")
        map_ = "affine_map<(d0) -> (d0)>"

        def run(v: dict) -> np.ndarray:
            require(v[a.name].shape == v[b.name].shape)
            return v[a.name] + v[b.name]

        made = self.made("y", a.dims, run)
        self.p.lines += [
            f"{empty} = tensor.empty({', '.join(size)}) : {a.type}",
            f'{made.name} = linalg.generic {{indexing_maps = [{map_}, {map_}, {map_}], iterator_types = ["parallel"]}} '
            f"ins({a.name}, {b.name} : {a.type}, {b.type}) outs({empty} : {a.type}) {{",
            "^bb0(%p: f32, %q: f32, %o: f32):",
            "  %r = arith.addf %p, %q : f32",
            "  linalg.yield %r : f32",
            f"}} -> {a.type}",
        ]
        return made

    def extract(self) -> Tensor:
        t, o, n, stride = self.tensor(), self.number(), self.number(), self.pick([1, 1, 1, 2, 3])

        def run(v: dict) -> np.ndarray:
            offset, size = o.value(v), n.value(v)
            fits(offset, size, stride, v[t.name].shape[0])
            return v[t.name][offset:][::stride][:size] if size else np.zeros(0, np.float32)

        made = self.made("s", (None,), run)
        self.p.lines.append(
            f"{made.name} = tensor.extract_slice {t.name}[{o.name}] [{n.name}] [{stride}] : "
            f"{t.type} to {made.type}"
        )
        return self.doubled(made)

    def extract_rows(self) -> Tensor:
        t, o, n = self.tensor(2), self.number(), self.number()
        width = t.dims[1] if t.dims[1] is not None else None
        columns = str(width) if width is not None else self.dim(t, 1).name

        def run(v: dict) -> np.ndarray:
            offset, size = o.value(v), n.value(v)
            fits(offset, size, 1, v[t.name].shape[0])
            return (
                v[t.name][offset : offset + size] if size else np.zeros((0, v[t.name].shape[1]), np.float32)
            )

        made = self.made("s", (None, width), run)
        self.p.lines.append(
            f"{made.name} = tensor.extract_slice {t.name}[{o.name}, 0] [{n.name}, {columns}] [1, 1] : "
            f"{t.type} to {made.type}"
        )
        return self.doubled(made)

    def insert(self) -> Tensor:
        source, target, o = self.tensor(), self.tensor(), self.number()
        n = self.pick([self.number, lambda: self.dim(source, 0)])() if source.dims[0] is None else None
        size = n.name if n else str(source.dims[0])

        def run(v: dict) -> np.ndarray:
            offset, count = o.value(v), n.value(v) if n else source.dims[0]
            fits(offset, count, 1, v[target.name].shape[0])
            require(v[source.name].shape[0] == count)
            result = v[target.name].copy()
            if count:
                result[offset : offset + count] = v[source.name]
            return result

        doubled = self.doubled(source)
        made = self.made("w", target.dims, lambda v: run({**v, source.name: v[doubled.name]}))
        self.p.lines.append(
            f"{made.name} = tensor.insert_slice {doubled.name} into {target.name}[{o.name}] [{size}] [1] : "
            f"{doubled.type} into {target.type}"
        )
        return made

    def guarded_insert(self) -> Tensor:
        """An insert that only runs where a comparison holds: it may make it safe, or not."""
        source, target, n = self.tensor(), self.tensor(), self.number()
        limit = self.constant(self.draw(st.integers(0, 8)))
        condition, zero = self.p.fresh("b"), self.constant(0)
        size = self.dim(source, 0).name if source.dims[0] is None else str(source.dims[0])
        predicate = self.pick(["sle", "slt", "sge", "ult"])
        holds = {
            "sle": lambda a, b: a <= b,
            "slt": lambda a, b: a < b,
            "sge": lambda a, b: a >= b,
            "ult": lambda a, b: a % 2**64 < b,
        }[predicate]

        def run(v: dict) -> np.ndarray:
            if not holds(n.value(v), limit.value(v)):
                return v[target.name]
            offset, count = n.value(v), v[source.name].shape[0]
            fits(offset, count, 1, v[target.name].shape[0])
            result = v[target.name].copy()
            if count:
                result[offset : offset + count] = v[source.name]
            return result

        made = self.made("g", target.dims, run)
        inner = self.p.fresh("w")
        self.p.lines += [
            f"{condition} = arith.cmpi {predicate}, {n.name}, {limit.name} : index",
            f"{made.name} = scf.if {condition} -> ({target.type}) {{",
            f"  {inner} = tensor.insert_slice {source.name} into {target.name}[{n.name}] [{size}] [1] : "
            f"{source.type} into {target.type}",
            f"  scf.yield {inner} : {target.type}",
            "} else {",
            f"  scf.yield {target.name} : {target.type}",
            "}",
        ]
        del zero
        return made

    def asserted(self) -> None:
        """A cf.assert of the program's own, which later obligations may rest on."""
        n, limit = (
            self.pick(self.numbers) if self.numbers else self.argument_number(),
            self.draw(st.integers(0, 8)),
        )
        bound, low = self.constant(limit), self.constant(0)
        upper, lower, both = self.p.fresh("b"), self.p.fresh("b"), self.p.fresh("b")
        self.p.lines += [
            f"{upper} = arith.cmpi sle, {n.name}, {bound.name} : index",
            f"{lower} = arith.cmpi sge, {n.name}, {low.name} : index",
            f"{both} = arith.andi {upper}, {lower} : i1",
            f'cf.assert {both}, "the program\'s own assert"',
        ]
        self.p.steps.append(lambda v: require(0 <= n.value(v) <= limit))

    def tiled(self) -> Tensor:
        """A loop that writes one tile after the other."""
        target, n, tile = self.tensor(), self.number(), self.draw(st.integers(1, 3))
        low, step, one = self.constant(0), self.constant(tile), self.p.fresh("f")

        def run(v: dict) -> np.ndarray:
            result = v[target.name].copy()
            count = n.value(v)
            if count > LARGEST:
                fits(LARGEST, tile, 1, result.shape[0])
            for i in range(0, count, tile):
                fits(i, tile, 1, result.shape[0])
                result[i : i + tile] = 1
            return result

        made = self.made("t", target.dims, run)
        i, carried, inner = self.p.fresh("i"), self.p.fresh("a"), self.p.fresh("w")
        self.p.lines += [
            f"{one} = arith.constant dense<1.0> : tensor<{tile}xf32>",
            f"{made.name} = scf.for {i} = {low.name} to {n.name} step {step.name} iter_args({carried} = {target.name}) "
            f"-> ({target.type}) {{",
            f"  {inner} = tensor.insert_slice {one} into {carried}[{i}] [{tile}] [1] : tensor<{tile}xf32> into {target.type}",
            f"  scf.yield {inner} : {target.type}",
            "}",
        ]
        return made

    def cast(self) -> Tensor:
        t = self.tensor()
        if t.dims[0] is not None:
            return self.doubled(t)
        want = self.draw(st.integers(1, 8))

        def run(v: dict) -> np.ndarray:
            require(v[t.name].shape[0] == want)
            return v[t.name]

        made = self.made("k", (want,), run)
        self.p.lines.append(f"{made.name} = tensor.cast {t.name} : {t.type} to {made.type}")
        return self.doubled(made)

    def expand(self) -> Tensor:
        t = self.doubled(self.tensor())
        if t.dims[0] is not None:
            return t
        n, k = self.number(), self.draw(st.integers(1, 3))

        def run(v: dict) -> np.ndarray:
            rows = n.value(v)
            require(rows >= 0 and rows * k == v[t.name].shape[0])
            return v[t.name].reshape(rows, k)

        made = self.made("r", (None, k), run)
        self.p.lines.append(
            f"{made.name} = tensor.expand_shape {t.name} [[0, 1]] output_shape [{n.name}, {k}] : "
            f"{t.type} into {made.type}"
        )
        return made

    def collapse(self) -> Tensor:
        t = self.doubled(self.tensor(2))
        size = None if None in t.dims else t.dims[0] * t.dims[1]
        made = self.made("o", (size,), lambda v: v[t.name].reshape(-1))
        self.p.lines.append(
            f"{made.name} = tensor.collapse_shape {t.name} [[0, 1]] : {t.type} into {made.type}"
        )
        return made

    def pad(self) -> Tensor:
        t, low, high = self.tensor(), self.number(), self.number()
        zero = self.p.fresh("z")

        def run(v: dict) -> np.ndarray:
            before, after = low.value(v), high.value(v)
            require(before >= 0 and after >= 0 and before + after + v[t.name].shape[0] < 2**63)
            if before + after > LARGEST:
                raise TooLarge
            return np.pad(v[t.name], (before, after))

        made = self.made("p", (None,), run)
        self.p.lines += [
            f"{zero} = arith.constant 0.0 : f32",
            f"{made.name} = tensor.pad {t.name} low[{low.name}] high[{high.name}] {{",
            "^bb0(%j: index):",
            f"  tensor.yield {zero} : f32",
            f"}} : {t.type} to {made.type}",
        ]
        return self.doubled(made)

    def gather(self) -> Tensor:
        """Reads where the elements of an i32 tensor say."""
        t = self.tensor()
        indices, length = self.p.fresh("j"), self.pick([None, 3])
        kind = f"tensor<{'?' if length is None else length}xi32>"
        self.p.arguments.append((indices, kind))
        size, empty = [], self.p.fresh("e")
        if length is None:
            zero, name = self.constant(0), self.p.fresh("d")
            self.p.lines.append(f"{name} = tensor.dim {indices}, {zero.name} : {kind}")
            size = [name]

        def run(v: dict) -> np.ndarray:
            at = v[indices]
            require(bool(np.all((at >= 0) & (at < v[t.name].shape[0]))))
            return v[t.name][at] if at.size else np.zeros(0, np.float32)

        made = self.made("h", (length,), run)
        map_ = "affine_map<(d0) -> (d0)>"
        self.p.lines += [
            f"{empty} = tensor.empty({', '.join(size)}) : {made.type}",
            f'{made.name} = linalg.generic {{indexing_maps = [{map_}, {map_}], iterator_types = ["parallel"]}} '
            f"ins({indices} : {kind}) outs({empty} : {made.type}) {{",
            "^bb0(%p: i32, %q: f32):",
            "  %w = arith.index_cast %p : i32 to index",
            f"  %r = tensor.extract {t.name}[%w] : {t.type}",
            "  linalg.yield %r : f32",
            f"}} -> {made.type}",
        ]
        return made
