"""Steps whose dispatches take indices from tensors or compute them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from storage_fuzz_programs import KINDS, Array, Values, Writer, _identity, _loops
from storage_fuzz_steps import element, step
from storage_oracle import TooLarge, require


def _indices(w: Writer, shape_of_ids: tuple[int | None, ...]) -> Array:
    """Indices that the caller passes, or that an elementwise op computes of those."""
    made = Array(w.fresh("t"), shape_of_ids, w.pick(("i32", "i64")))
    w.p.arguments.append((made.name, made.type))
    return _shifted(w, made) if w.chance(3) else made


def _shifted(w: Writer, ids: Array) -> Array:
    """Negative ones count from the end of ``k`` places, or all are shifted; with a reshape there and back at times."""
    k, from_end = w.integer(1, 5), w.chance(2)
    through = len(ids.dims) == 1 and ids.dims[0] is not None and w.chance(2)
    given = ids
    if through:
        given = Array(w.fresh("g"), (ids.dims[0], 1), ids.kind)
        w.line(
            f"{given.name} = tensor.expand_shape {ids.name} [[0, 1]] output_shape [{ids.dims[0]}, 1] : {ids.type} into {given.type}"
        )
    sizes = [w.dim(given, i).name for i, d in enumerate(given.dims) if d is None and given is ids]
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty({', '.join(sizes)}) : {given.type}")
    rank, computed = len(given.dims), w.fresh("j")
    w.line(
        f"{computed} = linalg.generic {{indexing_maps = [{_identity(rank)}, {_identity(rank)}], iterator_types = [{_loops(rank)}]}} "
        f"ins({given.name} : {given.type}) outs({empty} : {given.type}) {{\n  ^bb0(%p: {ids.kind}, %q: {ids.kind}):\n"
        f"    %k = arith.constant {k} : {ids.kind}\n    %zero = arith.constant 0 : {ids.kind}\n"
        f"    %low = arith.cmpi slt, %p, %zero : {ids.kind}\n    %up = arith.addi %p, %k : {ids.kind}\n"
        f"    %v = arith.select %low, %up, {'%p' if from_end else '%up'} : {ids.kind}\n    linalg.yield %v : {ids.kind}\n"
        f"  }} -> {given.type}"
    )
    made = Array(w.fresh("t"), ids.dims, ids.kind)
    if through:
        w.line(f"{made.name} = tensor.collapse_shape {computed} [[0, 1]] : {given.type} into {made.type}")
    else:
        w.line(f"{made.name} = tensor.cast {computed} : {given.type} to {made.type}")

    def run(v: Values) -> None:
        up = (v[ids.name] + KINDS[ids.kind](k)).astype(KINDS[ids.kind])
        v[made.name] = np.where(v[ids.name] < 0, up, v[ids.name]) if from_end else up

    w.p.steps.append(run)
    return made


def _inside(ids: np.ndarray, kept: np.ndarray, capacity: int) -> None:
    require(bool(np.all((ids[kept] >= 0) & (ids[kept] < capacity))))


@step
def gathered(w: Writer) -> None:
    x = w.array(2)
    count = w.pick((None, None, 3))
    ids = _indices(w, (count,))
    masked = w.chance(2)
    mask = Array(w.fresh("m"), (count,), "i1")
    if masked:
        w.p.arguments.append((mask.name, mask.type))
    like = Array("%none", (count, x.dims[1]), x.kind)
    sizes = [w.dim(ids, 0).name] if count is None else []
    sizes += [w.dim(x, 1).name] if x.dims[1] is None else []
    empty, filled = w.fresh("e"), w.fresh("f")
    zero = w.fresh("z")
    w.line(f"{zero} = arith.constant {'3.0' if x.kind[0] == 'f' else '3'} : {x.kind}")
    w.line(f"{empty} = tensor.empty({', '.join(sizes)}) : {like.type}")
    w.line(f"{filled} = linalg.fill ins({zero} : {x.kind}) outs({empty} : {like.type}) -> {like.type}")

    def run(v: Values) -> np.ndarray:
        i = v[ids.name]
        kept = v[mask.name].astype(bool) if masked else np.ones(len(i), bool)
        require(len(kept) == len(i))
        _inside(i, kept, v[x.name].shape[0])
        result = np.full((len(i), v[x.name].shape[1]), 3, KINDS[x.kind])
        result[kept] = v[x.name][i[kept]]
        return result

    made = w.made("r", like.dims, x.kind, run)
    inputs, types = f"{x.name}, {ids.name}", f"{x.type}, {ids.type}"
    if masked:
        inputs, types = f"{inputs}, {mask.name}", f"{types}, {mask.type}"
    w.line(
        f"{made.name} = iree_linalg_ext.gather dimension_map = [0] ins({inputs} : {types}) outs({filled} : {like.type}) "
        f"-> {like.type}"
    )


@step
def scattered(w: Writer) -> None:
    x = w.array(1)
    count = w.pick((None, 2, 3))
    ids, u = _indices(w, (count, 1)), Array(w.fresh("u"), (count,), x.kind)
    w.p.arguments.append((u.name, u.type))
    masked = w.chance(2)
    mask = Array(w.fresh("m"), (count,), "i1")
    if masked:
        w.p.arguments.append((mask.name, mask.type))

    def run(v: Values) -> np.ndarray:
        i, given = v[ids.name][:, 0], v[u.name]
        kept = v[mask.name].astype(bool) if masked else np.ones(len(i), bool)
        require(len(kept) == len(i) == len(given))
        _inside(i, kept, v[x.name].shape[0])
        if len(set(i[kept].tolist())) < kept.sum():
            raise TooLarge  # two writes to one place: their order is not defined
        result = v[x.name].copy()
        result[i[kept]] = given[kept]
        return result

    made = w.made("r", x.dims, x.kind, run)
    inputs, types = f"{u.name}, {ids.name}", f"{u.type}, {ids.type}"
    if masked:
        inputs, types = f"{inputs}, {mask.name}", f"{types}, {mask.type}"
    w.line(
        f"{made.name} = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins({inputs} : {types}) "
        f"outs({x.name} : {x.type}) {{\n  ^bb0(%a: {x.kind}, %b: {x.kind}):\n    iree_linalg_ext.yield %a : {x.kind}\n  }} -> {x.type}"
    )


@step
def of_pairs(w: Writer) -> None:
    """A gather with two indices a place."""
    x = w.array_argument(
        2, "f32", static_in=0
    )  # of a static 0x0 table stock IREE divides by zero, in the compiler
    count = w.pick((None, 3))
    ids = _indices(w, (count, 2))
    size = [w.dim(ids, 0).name] if count is None else []
    like = Array("%none", (count,), "f32")
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty({', '.join(size)}) : {like.type}")

    def run(v: Values) -> np.ndarray:
        i = v[ids.name]
        for column, capacity in enumerate(v[x.name].shape):
            _inside(i[:, column], np.ones(len(i), bool), capacity)
        return v[x.name][i[:, 0], i[:, 1]]

    made = w.made("r", like.dims, "f32", run)
    w.line(
        f"{made.name} = iree_linalg_ext.gather dimension_map = [0, 1] ins({x.name}, {ids.name} : {x.type}, {ids.type}) "
        f"outs({empty} : {like.type}) -> {like.type}"
    )


def _in_body(
    w: Writer, x: Array, inputs: list[Array], body: str, value: Callable[[Values, int], object], dims: tuple
) -> None:
    """A generic over one loop that yields `%val`."""
    like = Array("%none", dims, x.kind)
    size = [] if dims[0] is not None else [w.dim(inputs[0], 0).name]
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty({', '.join(size)}) : {like.type}")

    def run(v: Values) -> np.ndarray:
        n = dims[0] if dims[0] is not None else v[inputs[0].name].shape[0]
        require(all(v[i.name].shape[0] == n for i in inputs))
        return np.array([value(v, i) for i in range(n)], KINDS[x.kind])

    made = w.made("r", dims, x.kind, run)
    maps = ", ".join([_identity(1)] * (len(inputs) + 1))
    ins = f"ins({', '.join(i.name for i in inputs)} : {', '.join(i.type for i in inputs)}) " if inputs else ""
    arguments = ", ".join([*(f"%in{n}: {i.kind}" for n, i in enumerate(inputs)), f"%out: {x.kind}"])
    w.line(
        f"{made.name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{_loops(1)}]}} {ins}"
        f"outs({empty} : {like.type}) {{\n  ^bb0({arguments}):\n{body}\n    linalg.yield %val : {x.kind}\n  }} -> {like.type}"
    )


@step
def looked_up(w: Writer) -> None:
    """Indices from a tensor, clamped, wrapped to the end, or as they are."""
    x = w.array(1)
    ids = _indices(w, (w.pick((None, 4)),))
    how = w.pick(("plain", "plain", "clamp", "end", "rest"))
    k = w.integer(1, 5)
    size = w.dim(x, 0)
    wide = "    %wide = arith.index_cast %in0 : " + ids.kind + " to index\n"
    body = {
        "plain": "    %at = arith.addi %wide, %zero : index",
        "clamp": "    %low = arith.maxsi %wide, %zero : index\n    %at = arith.minsi %low, %top : index",
        "end": "    %neg = arith.cmpi slt, %wide, %zero : index\n    %up = arith.addi %wide, %size : index\n"
        "    %at = arith.select %neg, %up, %wide : index",
        "rest": "    %at = arith.remui %wide, %kk : index",
    }[how]
    body = (
        f"{wide}    %zero = arith.constant 0 : index\n    %kk = arith.constant {k} : index\n    %one = arith.constant 1 : index\n"
        f"    %top = arith.subi {size.name}, %one : index\n    %size = arith.addi {size.name}, %zero : index\n{body}\n"
        f"    %val = tensor.extract {x.name}[%at] : {x.type}"
    )

    def value(v: Values, i: int) -> object:
        have, at = v[x.name], int(v[ids.name][i])
        at = {
            "plain": at,
            "clamp": min(max(at, 0), len(have) - 1),
            "end": at + len(have) if at < 0 else at,
            "rest": at % 2**64 % k,
        }[how]
        return element(have, at)

    _in_body(w, x, [ids], body, value, ids.dims)


@step
def by_number(w: Writer) -> None:
    """Indices from the loop's number, or from a constant table."""
    x = w.array(1)
    n, a, b, c = w.integer(1, 6), w.integer(0, 3), w.integer(-1, 2), w.integer(1, 3)
    if w.chance(2):
        body = (
            "    %i = linalg.index 0 : index\n"
            f"    %at = affine.apply affine_map<(d) -> ((d * {a} + {b}) floordiv {c})>(%i)\n"
            f"    %val = tensor.extract {x.name}[%at] : {x.type}"
        )
        _in_body(w, x, [], body, lambda v, i: element(v[x.name], (i * a + b) // c), (n,))
        return
    table = [w.integer(-1 if w.chance(4) else 0, 5) for _ in range(n)]
    ids = Array(w.fresh("k"), (n,), "i64")
    w.line(f"{ids.name} = arith.constant dense<{table}> : {ids.type}")
    w.p.steps.append(lambda v: v.__setitem__(ids.name, np.array(table, np.int64)))
    body = (
        f"    %at = arith.index_cast %in0 : i64 to index\n    %val = tensor.extract {x.name}[%at] : {x.type}"
    )
    _in_body(w, x, [ids], body, lambda v, i: element(v[x.name], table[i]), (n,))


@step
def under_a_branch(w: Writer) -> None:
    x = w.array(1)
    ids, on = _indices(w, (4,)), Array(w.fresh("o"), (4,), "i32")
    w.p.arguments.append((on.name, on.type))
    zero = "0.0" if x.kind[0] == "f" else "0"
    body = (
        f"    %none = arith.constant {zero} : {x.kind}\n    %z = arith.constant 0 : i32\n"
        f"    %at = arith.index_cast %in0 : {ids.kind} to index\n    %c = arith.cmpi sgt, %in1, %z : i32\n"
        f"    %val = scf.if %c -> {x.kind} {{\n      %got = tensor.extract {x.name}[%at] : {x.type}\n"
        f"      scf.yield %got : {x.kind}\n    }} else {{\n      scf.yield %none : {x.kind}\n    }}"
    )

    def value(v: Values, i: int) -> object:
        return element(v[x.name], int(v[ids.name][i])) if v[on.name][i] > 0 else 0

    _in_body(w, x, [ids, on], body, value, (4,))


@step
def under_a_loop(w: Writer) -> None:
    x, n = w.array(1, "f32"), w.number()
    body = (
        "    %none = arith.constant 0.0 : f32\n    %z = arith.constant 0 : index\n    %s = arith.constant 1 : index\n"
        f"    %val = scf.for %k = %z to {n.name} step %s iter_args(%acc = %none) -> f32 {{\n"
        f"      %got = tensor.extract {x.name}[%k] : {x.type}\n      %sum = arith.addf %acc, %got : f32\n"
        "      scf.yield %sum : f32\n    }"
    )

    def value(v: Values, _i: int) -> object:
        require(v[n.name] <= len(v[x.name]))
        return sum((float(e) for e in v[x.name][: max(v[n.name], 0)]), 0.0)

    _in_body(w, x, [], body, value, (2,))


@step
def by_bytes(w: Writer) -> None:
    """Indices of eight bits, extended with zeros or with their sign."""
    x = w.array(1)
    ids = Array(w.fresh("o"), (4,), "i8")
    w.p.arguments.append((ids.name, ids.type))
    signed = w.chance(2)
    body = (
        f"    %w = arith.ext{'s' if signed else 'u'}i %in0 : i8 to i32\n    %at = arith.index_cast %w : i32 to index\n"
        f"    %val = tensor.extract {x.name}[%at] : {x.type}"
    )
    _in_body(
        w,
        x,
        [ids],
        body,
        lambda v, i: element(v[x.name], int(v[ids.name][i]) if signed else int(v[ids.name][i]) % 256),
        (4,),
    )
