"""Steps that cut, write, pad, join and reshape: a size meets a capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from storage_fuzz_programs import KINDS, Array, Number, Values, Writer, taken
from storage_fuzz_steps import step
from storage_oracle import LARGEST, TooLarge, require


def _places(w: Writer, rank: int) -> tuple[list[Number], list[Number], list[int]]:
    strides = [w.pick((1, 1, 1, 2)) for _ in range(rank)]
    offsets = [w.constant(0) if w.chance(2) else w.number() for _ in range(rank)]
    return offsets, [w.number() for _ in range(rank)], strides


def _rows(
    offsets: list[Number], sizes: list[Number], strides: list[int]
) -> Callable[[Values], list[tuple[int, int, int]]]:
    return lambda v: [(v[o.name], v[s.name], k) for o, s, k in zip(offsets, sizes, strides, strict=True)]


def _listed(values: list[Number] | list[int]) -> str:
    return ", ".join(v.name if isinstance(v, Number) else str(v) for v in values)


@step
def slice_of(w: Writer) -> None:
    x = w.array(w.integer(1, 2))
    offsets, sizes, strides = _places(w, len(x.dims))
    rows = _rows(offsets, sizes, strides)
    made = w.made("r", (None,) * len(x.dims), x.kind, lambda v: taken(v[x.name], rows(v)))
    w.line(
        f"{made.name} = tensor.extract_slice {x.name}[{_listed(offsets)}] [{_listed(sizes)}] [{_listed(strides)}] "
        f": {x.type} to {made.type}"
    )


@step
def written_into(w: Writer) -> None:
    whole = w.array(w.integer(1, 2))
    x = w.array(len(whole.dims), whole.kind)
    offsets = [w.constant(0) if w.chance(2) else w.number() for _ in x.dims]
    sizes = [w.dim(x, i) if w.integer(1, 5) > 1 else w.number() for i in range(len(x.dims))]
    rows = _rows(offsets, sizes, [1] * len(x.dims))
    source = Array(x.name, (None,) * len(x.dims), x.kind)
    if x.dims != source.dims:
        name = w.fresh("g")
        w.line(f"{name} = tensor.cast {x.name} : {x.type} to {source.type}")
        source = Array(name, source.dims, x.kind)

    def run(v: Values) -> np.ndarray:
        places = rows(v)
        taken(v[whole.name], places)
        require(all(s == n for (_, s, _), n in zip(places, v[x.name].shape, strict=True)))
        result = v[whole.name].copy()
        result[tuple(slice(o, o + s) for o, s, _ in places)] = v[x.name] if v[x.name].size else 0
        return result

    def safe(v: Values) -> np.ndarray:
        places = rows(v)
        if any(s == 0 for _, s, _ in places):
            taken(v[whole.name], places)
            require(all(s == n for (_, s, _), n in zip(places, v[x.name].shape, strict=True)))
            return v[whole.name].copy()
        return run(v)

    made = w.made("w", whole.dims, whole.kind, safe)
    w.line(
        f"{made.name} = tensor.insert_slice {source.name} into {whole.name}[{_listed(offsets)}] [{_listed(sizes)}] "
        f"[{', '.join(['1'] * len(x.dims))}] : {source.type} into {whole.type}"
    )


@step
def padded(w: Writer) -> None:
    x = w.array(w.integer(1, 2))
    low, high = [w.number() for _ in x.dims], [w.constant(w.integer(0, 3)) for _ in x.dims]
    zero = "0.0" if x.kind[0] == "f" else "0"
    value = w.fresh("z")
    w.line(f"{value} = arith.constant {zero} : {x.kind}")

    def run(v: Values) -> np.ndarray:
        around = [(v[a.name], v[b.name]) for a, b in zip(low, high, strict=True)]
        require(all(a >= 0 and b >= 0 for a, b in around))
        require(all(a + b + n < 2**63 for (a, b), n in zip(around, v[x.name].shape, strict=True)))
        if any(a > LARGEST for a, _ in around):
            raise TooLarge
        return np.pad(v[x.name], around)

    made = w.made("p", (None,) * len(x.dims), x.kind, run)
    arguments = ", ".join(f"%b{i}: index" for i in range(len(x.dims)))
    w.line(
        f"{made.name} = tensor.pad {x.name} low[{_listed(low)}] high[{_listed(high)}] {{\n  ^bb0({arguments}):\n"
        f"    tensor.yield {value} : {x.kind}\n  }} : {x.type} to {made.type}"
    )


@step
def joined(w: Writer) -> None:
    x = w.array(2)
    y = w.array(2, x.kind)

    second = y.name

    def run(v: Values) -> np.ndarray:
        require(v[x.name].shape[1] == v[second].shape[1])
        return np.concatenate([v[x.name], v[second]])

    made = w.made("r", (None, x.dims[1]), x.kind, run)
    rows = None if None in (x.dims[0], y.dims[0]) else x.dims[0] + y.dims[0]
    columns = x.dims[1] if x.dims[1] is not None else y.dims[1]
    w.arrays[-1] = made = Array(made.name, (rows, columns), x.kind)
    if None not in (x.dims[1], y.dims[1]) and x.dims[1] != y.dims[1]:
        # The types would disagree: hide one.
        hidden = w.fresh("g")
        w.line(f"{hidden} = tensor.cast {y.name} : {y.type} to {Array('', (y.dims[0], None), y.kind).type}")
        y = Array(hidden, (y.dims[0], None), y.kind)
    w.line(f"{made.name} = tensor.concat dim(0) {x.name}, {y.name} : ({x.type}, {y.type}) -> {made.type}")


@step
def multiplied(w: Writer) -> None:
    x, y = w.array_argument(2, "i32"), w.array_argument(2, "i32")
    like = Array("%none", (x.dims[0], y.dims[1]), "i32")
    sizes = [w.dim(a, i).name for a, i in ((x, 0), (y, 1)) if a.dims[i] is None]
    empty, zero, filled = w.fresh("e"), w.fresh("z"), w.fresh("f")
    w.line(f"{zero} = arith.constant 0 : i32")
    w.line(f"{empty} = tensor.empty({', '.join(sizes)}) : {like.type}")
    w.line(f"{filled} = linalg.fill ins({zero} : i32) outs({empty} : {like.type}) -> {like.type}")
    if None not in (x.dims[1], y.dims[0]) and x.dims[1] != y.dims[0]:
        hidden = w.fresh("g")
        w.line(f"{hidden} = tensor.cast {y.name} : {y.type} to {Array('', (None, y.dims[1]), 'i32').type}")
        wide = Array(hidden, (None, y.dims[1]), "i32")
    else:
        wide = y

    def run(v: Values) -> np.ndarray:
        require(v[x.name].shape[1] == v[y.name].shape[0])
        return v[x.name] @ v[y.name]

    made = w.made("r", like.dims, "i32", run)
    w.line(
        f"{made.name} = linalg.matmul ins({x.name}, {wide.name} : {x.type}, {wide.type}) outs({filled} : {like.type}) -> {like.type}"
    )


@step
def reshaped(w: Writer) -> None:
    """flow.tensor.reshape or tensor.expand_shape into rows of two."""
    x, n = w.array(1), w.number()
    if x.dims[0] is not None:
        wide = w.fresh("g")
        w.line(f"{wide} = tensor.cast {x.name} : {x.type} to tensor<?x{x.kind}>")
    else:
        wide = x.name
    size = w.dim(x, 0)

    def run(v: Values) -> np.ndarray:
        require(v[n.name] >= 0 and v[n.name] * 2 == len(v[x.name]))
        return v[x.name].reshape(-1, 2) if len(v[x.name]) else np.zeros((0, 2), KINDS[x.kind])

    made = w.made("r", (None, 2), x.kind, run)
    if w.chance(2):
        w.line(
            f"{made.name} = flow.tensor.reshape {wide} : tensor<?x{x.kind}>{{{size.name}}} -> {made.type}{{{n.name}}}"
        )
    else:
        w.line(
            f"{made.name} = tensor.expand_shape {wide} [[0, 1]] output_shape [{n.name}, 2] : tensor<?x{x.kind}> into {made.type}"
        )


@step
def flow_part(w: Writer) -> None:
    """flow.tensor.slice and flow.tensor.update, with the sizes that they list."""
    x = w.array_argument(1, w.pick(("f32", "i32")), static_in=0)
    offset, length = w.number(), w.number()
    printed = w.dim(x, 0) if w.integer(1, 4) > 1 else w.number()

    def run(v: Values) -> np.ndarray:
        require(v[printed.name] == len(v[x.name]))
        require(
            0 <= v[offset.name] <= len(v[x.name])
        )  # IREE refuses to begin past the end, also for no element
        return taken(v[x.name], [(v[offset.name], v[length.name], 1)])

    made = w.made("r", (None,), x.kind, run)
    w.line(
        f"{made.name} = flow.tensor.slice {x.name}[{offset.name} for {length.name}] : {x.type}{{{printed.name}}} "
        f"-> {made.type}{{{length.name}}}"
    )
