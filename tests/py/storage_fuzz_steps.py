"""The steps of `storage_fuzz_programs`: one function a kind of op."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from storage_fuzz_programs import KINDS, Array, Number, Values, Writer, _identity, _loops, taken
from storage_oracle import LARGEST, TooLarge, require

STEPS: dict[str, Callable[[Writer], None]] = {}


def step(function: Callable[[Writer], None]) -> Callable[[Writer], None]:
    STEPS[function.__name__] = function
    return function


def _places(w: Writer, rank: int) -> tuple[list[Number], list[Number], list[int]]:
    strides = [w.pick((1, 1, 1, 2)) for _ in range(rank)]
    offsets = [w.constant(0) if w.chance(2) else w.number() for _ in range(rank)]
    return offsets, [w.number() for _ in range(rank)], strides


def _rows(offsets: list[Number], sizes: list[Number], strides: list[int]) -> Callable[[Values], list[tuple[int, int, int]]]:
    return lambda v: [(v[o.name], v[s.name], k) for o, s, k in zip(offsets, sizes, strides)]


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
    static = [w.p.lines and n for n in sizes]
    rows = _rows(offsets, sizes, [1] * len(x.dims))
    source = Array(x.name, (None,) * len(x.dims), x.kind)
    if x.dims != source.dims:
        name = w.fresh("g")
        w.line(f"{name} = tensor.cast {x.name} : {x.type} to {source.type}")
        source = Array(name, source.dims, x.kind)

    def run(v: Values) -> np.ndarray:
        places = rows(v)
        taken(v[whole.name], places)
        require(all(s == n for (_, s, _), n in zip(places, v[x.name].shape)))
        result = v[whole.name].copy()
        result[tuple(slice(o, o + s) for o, s, _ in places)] = v[x.name] if v[x.name].size else 0
        return result

    def safe(v: Values) -> np.ndarray:
        places = rows(v)
        if any(s == 0 for _, s, _ in places):
            taken(v[whole.name], places)
            require(all(s == n for (_, s, _), n in zip(places, v[x.name].shape)))
            return v[whole.name].copy()
        return run(v)

    made = w.made("w", whole.dims, whole.kind, safe)
    w.line(
        f"{made.name} = tensor.insert_slice {source.name} into {whole.name}[{_listed(offsets)}] [{_listed(static)}] "
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
        around = [(v[a.name], v[b.name]) for a, b in zip(low, high)]
        require(all(a >= 0 and b >= 0 for a, b in around))
        require(all(a + b + n < 2**63 for (a, b), n in zip(around, v[x.name].shape)))
        if any(a > LARGEST for a, _ in around):
            raise TooLarge
        return np.pad(v[x.name], around)

    made = w.made("p", (None,) * len(x.dims), x.kind, run)
    arguments = ", ".join(f"%b{i}: index" for i in range(len(x.dims)))
    w.line(
        f"{made.name} = tensor.pad {x.name} low[{_listed(low)}] high[{_listed(high)}] {{\n  ^bb0({arguments}):\n"
        f"    tensor.yield {value} : {x.kind}\n  }} : {x.type} to {made.type}"
    )


# -- indices from tensors -----------------------------------------------------------------------------------


def _indices(w: Writer, shape_of_ids: tuple[int | None, ...]) -> Array:
    made = Array(w.fresh("t"), shape_of_ids, w.pick(("i32", "i64")))
    w.p.arguments.append((made.name, made.type))
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


def _in_body(w: Writer, x: Array, inputs: list[Array], body: str, value: Callable[[Values, int], object], dims: tuple) -> None:
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


def _element(array: np.ndarray, i: int) -> object:
    require(0 <= i < len(array))
    return array[i]


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
        return _element(have, at)

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
        _in_body(w, x, [], body, lambda v, i: _element(v[x.name], (i * a + b) // c), (n,))
        return
    table = [w.integer(-1 if w.chance(4) else 0, 5) for _ in range(n)]
    ids = Array(w.fresh("k"), (n,), "i64")
    w.line(f"{ids.name} = arith.constant dense<{table}> : {ids.type}")
    w.p.steps.append(lambda v: v.__setitem__(ids.name, np.array(table, np.int64)))
    body = f"    %at = arith.index_cast %in0 : i64 to index\n    %val = tensor.extract {x.name}[%at] : {x.type}"
    _in_body(w, x, [ids], body, lambda v, i: _element(v[x.name], table[i]), (n,))


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
        return _element(v[x.name], int(v[ids.name][i])) if v[on.name][i] > 0 else 0

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


# -- on the host --------------------------------------------------------------------------------------------


@step
def filled_with_an_element(w: Writer) -> None:
    """A read on the host, alone, in a branch, or in a while."""
    x, n = w.array(1), w.number()
    how = w.pick(("alone", "branch", "while", "flow"))
    zero = "0.0" if x.kind[0] == "f" else "0"
    got = w.fresh("v")
    none = w.fresh("z")
    w.line(f"{none} = arith.constant {zero} : {x.kind}")
    m = w.number() if how in ("branch", "while") else None
    if how == "alone":
        w.line(f"{got} = tensor.extract {x.name}[{n.name}] : {x.type}")
    elif how == "flow":
        sizes = f"{{{w.dim(x, 0).name}}}" if x.dims[0] is None else ""
        w.line(f"{got} = flow.tensor.load {x.name}[{n.name}] : {x.type}{sizes}")
    elif how == "branch":
        c = w.fresh("b")
        w.line(f"{c} = arith.cmpi slt, {n.name}, {m.name} : index")
        w.line(
            f"{got} = scf.if {c} -> {x.kind} {{\n    %in = tensor.extract {x.name}[{n.name}] : {x.type}\n"
            f"    scf.yield %in : {x.kind}\n  }} else {{\n    scf.yield {none} : {x.kind}\n  }}"
        )
    else:
        start, one, top = w.constant(0), w.constant(1), w.constant(6)
        upto = w.computed("q", f"arith.minsi {m.name}, {top.name} : index", lambda v: min(v[m.name], 6))
        state = w.fresh("s")
        w.line(
            f"{state}:2 = scf.while (%i = {start.name}, %a = {none}) : (index, {x.kind}) -> (index, {x.kind}) {{\n"
            f"    %go = arith.cmpi slt, %i, {upto.name} : index\n    scf.condition(%go) %i, %a : index, {x.kind}\n  }} do {{\n"
            f"  ^bb0(%i: index, %a: {x.kind}):\n    %in = tensor.extract {x.name}[%i] : {x.type}\n"
            f"    %j = arith.addi %i, {one.name} : index\n    scf.yield %j, %in : index, {x.kind}\n  }}"
        )
        got = f"{state}#1"

    def run(v: Values) -> np.ndarray:
        have, value = v[x.name], 0
        if how == "while":
            for i in range(min(v[m.name], 6)):
                value = _element(have, i)
        elif how != "branch" or v[n.name] < v[m.name]:
            value = _element(have, v[n.name])
        return np.full(3, value, KINDS[x.kind])

    made = w.made("r", (3,), x.kind, run)
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty() : {made.type}")
    w.line(f"{made.name} = linalg.fill ins({got} : {x.kind}) outs({empty} : {made.type}) -> {made.type}")


@step
def called(w: Writer) -> None:
    """A private function pads, its caller slices what comes back."""
    x = w.array(1, "f32")
    k, name = w.integer(0, 3), f"@PROGRAM_part{w.count}"
    w.p.others.append(
        f"func.func private {name}(%x: tensor<?xf32>) -> tensor<?xf32> {{\n  %z = arith.constant 0.0 : f32\n"
        f"  %r = tensor.pad %x low[0] high[{k}] {{\n  ^bb0(%i: index):\n    tensor.yield %z : f32\n  }} "
        ": tensor<?xf32> to tensor<?xf32>\n  return %r : tensor<?xf32>\n}"
    )
    given = x.name
    if x.dims[0] is not None:
        given = w.fresh("g")
        w.line(f"{given} = tensor.cast {x.name} : {x.type} to tensor<?xf32>")
    back = w.made("h", (None,), "f32", lambda v: np.pad(v[x.name], (0, k)))
    w.line(f"{back.name} = call {name}({given}) : (tensor<?xf32>) -> tensor<?xf32>")
    n = w.dim(x, 0)
    j = w.integer(0, 4)
    more = w.constant(j)
    size = w.computed("a", f"arith.addi {n.name}, {more.name} : index", lambda v: v[n.name] + j)
    made = w.made("r", (None,), "f32", lambda v: taken(v[back.name], [(0, v[size.name], 1)]))
    w.line(f"{made.name} = tensor.extract_slice {back.name}[0] [{size.name}] [1] : {back.type} to {made.type}")


@step
def chosen(w: Writer) -> None:
    """One of two tensors; IREE has room for as many bytes as the first has."""
    # Of any size: IREE gives an argument the size that the other choice is known to have.
    x = w.array_argument(1, w.pick(("f32", "i32", "i8")), static_in=0)
    y = w.array_argument(1, x.kind, static_in=0)
    n, m = w.number(), w.number()
    c = w.fresh("b")
    w.line(f"{c} = arith.cmpi slt, {n.name}, {m.name} : index")

    def run(v: Values) -> np.ndarray:
        if v[n.name] < v[m.name]:
            return v[x.name].copy()
        require(len(v[y.name]) <= len(v[x.name]))
        return v[y.name].copy()

    made = w.made("r", (None,), x.kind, run)
    w.line(f"{made.name} = arith.select {c}, {x.name}, {y.name} : {made.type}")


@step
def counted(w: Writer) -> None:
    """A loop that carries the place that it writes."""
    x, start, by = w.array(1, "f32"), w.number(), w.integer(0, 2)
    zero, one, rounds, more = w.constant(0), w.constant(1), w.number(), w.constant(by)
    top = w.constant(4)
    upto = w.computed("q", f"arith.minsi {rounds.name}, {top.name} : index", lambda v: min(v[rounds.name], 4))

    def run(v: Values) -> np.ndarray:
        result, at = v[x.name].copy(), v[start.name]
        for _ in range(max(v[upto.name], 0)):
            require(0 <= at < len(result))
            result[at] = 9
            at += by
        return result

    made = w.made("r", x.dims, "f32", run)
    state, nine = w.fresh("s"), w.fresh("z")
    w.line(f"{nine} = arith.constant dense<9.0> : tensor<1xf32>")
    w.line(
        f"{state}:2 = scf.for %k = {zero.name} to {upto.name} step {one.name} iter_args(%a = {x.name}, %i = {start.name}) "
        f"-> ({x.type}, index) {{\n    %in = tensor.insert_slice {nine} into %a[%i] [1] [1] : tensor<1xf32> into {x.type}\n"
        f"    %j = arith.addi %i, {more.name} : index\n    scf.yield %in, %j : {x.type}, index\n  }}"
    )
    w.line(f"{made.name} = tensor.cast {state}#0 : {x.type} to {x.type}")


@step
def of_pairs(w: Writer) -> None:
    """A gather with two indices a place."""
    x = w.array_argument(2, "f32", static_in=0)  # of a static 0x0 table stock IREE divides by zero, in the compiler
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


@step
def at_the_largest(w: Writer) -> None:
    """An element of one tensor where another is largest."""
    x, s = w.array(1), w.array_argument(1, "f32")
    zero, low, best = w.fresh("z"), w.fresh("z"), w.fresh("s")
    at, place, got = w.fresh("v"), w.fresh("i"), w.fresh("v")
    w.line(f"{zero} = arith.constant dense<0> : tensor<i64>")
    w.line(f"{low} = arith.constant dense<-1.0> : tensor<f32>")
    w.line(
        f"{best}:2 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], "
        f'iterator_types = ["reduction"]}} ins({s.name} : {s.type}) outs({low}, {zero} : tensor<f32>, tensor<i64>) {{\n'
        "  ^bb0(%p: f32, %m: f32, %k: i64):\n    %l = linalg.index 0 : index\n    %n = arith.index_cast %l : index to i64\n"
        "    %c = arith.cmpf ogt, %p, %m : f32\n    %a = arith.select %c, %p, %m : f32\n    %b = arith.select %c, %n, %k : i64\n"
        "    linalg.yield %a, %b : f32, i64\n  } -> (tensor<f32>, tensor<i64>)"
    )
    w.line(f"{at} = tensor.extract {best}#1[] : tensor<i64>")
    w.line(f"{place} = arith.index_cast {at} : i64 to index")
    w.line(f"{got} = tensor.extract {x.name}[{place}] : {x.type}")

    def run(v: Values) -> np.ndarray:
        where = int(np.argmax(v[s.name])) if len(v[s.name]) else 0
        return np.full(2, _element(v[x.name], where), KINDS[x.kind])

    made = w.made("r", (2,), x.kind, run)
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty() : {made.type}")
    w.line(f"{made.name} = linalg.fill ins({got} : {x.kind}) outs({empty} : {made.type}) -> {made.type}")


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
    _in_body(w, x, [ids], body, lambda v, i: _element(v[x.name], int(v[ids.name][i]) if signed else int(v[ids.name][i]) % 256), (4,))


# -- shapes -------------------------------------------------------------------------------------------------


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
        w.line(f"{made.name} = flow.tensor.reshape {wide} : tensor<?x{x.kind}>{{{size.name}}} -> {made.type}{{{n.name}}}")
    else:
        w.line(
            f"{made.name} = tensor.expand_shape {wide} [[0, 1]] output_shape [{n.name}, 2] : tensor<?x{x.kind}> into {made.type}"
        )


@step
def flow_part(w: Writer) -> None:
    """flow.tensor.slice and flow.tensor.update, with the sizes that they list."""
    x = w.array_argument(1, w.pick(("f32", "i32")), static_in=0)
    offset, length = w.number(), w.number()
    said = w.dim(x, 0) if w.integer(1, 4) > 1 else w.number()

    def run(v: Values) -> np.ndarray:
        require(v[said.name] == len(v[x.name]))
        require(0 <= v[offset.name] <= len(v[x.name]))  # IREE refuses to begin past the end, also for no element
        return taken(v[x.name], [(v[offset.name], v[length.name], 1)])

    made = w.made("r", (None,), x.kind, run)
    w.line(
        f"{made.name} = flow.tensor.slice {x.name}[{offset.name} for {length.name}] : {x.type}{{{said.name}}} "
        f"-> {made.type}{{{length.name}}}"
    )
