"""Programs as torch's exporter writes them, at places that are numbers of the call."""

from __future__ import annotations

import numpy as np
from scene_front_ends import STRATEGIES, Made, _inside, template
from scene_integers import Draw
from scene_values import LARGEST, Undefined, regrouped, require


def _type(shape: list[int | None], element: str) -> str:
    return f"!torch.vtensor<[{','.join('?' if n is None else str(n) for n in shape)}],{element}>"


def _function(arguments: list[tuple[str, str]], result: str, lines: list[str]) -> str:
    listed = ", ".join(f"%{name}: {kind}" for name, kind in arguments)
    body = "\n  ".join(lines)
    return f"func.func @PROGRAM({listed}) -> {result} {{\n  {body}\n  return %r : {result}\n}}"


def _rows(d: Draw) -> int | None:
    return d.pick((None, None, d.number(1, 6)))


@template("torch")
def embedding(d: Draw) -> Made:
    rows, count = _rows(d), d.pick((None, 3))
    w, i, out = _type([rows, 3], "f32"), _type([count], "si64"), _type([count, 3], "f32")
    text = _function(
        [("w", w), ("i", i)],
        out,
        [
            "%f = torch.constant.bool false",
            "%m = torch.constant.int -1",
            f"%r = torch.aten.embedding %w, %i, %m, %f, %f : {w}, {i}, !torch.int, !torch.bool, !torch.bool -> {out}",
        ],
    )
    return text, [([rows, 3], "f32"), ([count], "i64")], lambda v, ids: v[_inside(ids, len(v))]


@template("torch")
def index_select(d: Draw) -> Made:
    shape, along = [_rows(d), _rows(d)], d.number(0, 1)
    count = d.pick((None, 2))
    out_shape = [count if n == along else s for n, s in enumerate(shape)]
    x, i, out = _type(shape, "f32"), _type([count], "si64"), _type(out_shape, "f32")
    text = _function(
        [("x", x), ("i", i)],
        out,
        [
            f"%d = torch.constant.int {along}",
            f"%r = torch.aten.index_select %x, %d, %i : {x}, !torch.int, {i} -> {out}",
        ],
    )

    def run(v, ids):
        if not v.shape[1 - along]:  # nothing is read, whatever the indices are
            return np.zeros((len(ids), 0) if along == 0 else (0, len(ids)), np.float32)
        return np.take(v, _inside(ids, v.shape[along]), along)

    return text, [(shape, "f32"), ([count], "i64")], run


@template("torch")
def indexed(d: Draw) -> Made:
    """x[i]: a negative index counts from the end."""
    rows, count = _rows(d), d.pick((None, 3))
    x, i, out = _type([rows, 3], "f32"), _type([count], "si64"), _type([count, 3], "f32")
    text = _function(
        [("x", x), ("i", i)],
        out,
        [
            f"%l = torch.prim.ListConstruct %i : ({i}) -> !torch.list<vtensor>",
            f"%r = torch.aten.index.Tensor %x, %l : {x}, !torch.list<vtensor> -> {out}",
        ],
    )

    def run(v, ids):
        return v[_inside(np.where(ids < 0, ids + len(v), ids), len(v))]

    return text, [([rows, 3], "f32"), ([count], "i64")], run


@template("torch")
def gather(d: Draw) -> Made:
    along = d.number(0, 1)
    x, i = _type([None, None], "f32"), _type([None, None], "si64")
    text = _function(
        [("x", x), ("i", i)],
        x,
        [
            "%f = torch.constant.bool false",
            f"%d = torch.constant.int {along}",
            f"%r = torch.aten.gather %x, %d, %i, %f : {x}, !torch.int, {i}, !torch.bool -> {x}",
        ],
    )

    def run(v, ids):
        if ids.size:
            require(ids.shape[1 - along] <= v.shape[1 - along])
        _inside(ids, v.shape[along])
        other = np.arange(ids.shape[1 - along])
        return v[ids, other[None, :]] if along == 0 else v[other[:, None], ids]

    return text, [([None, None], "f32"), ([None, None], "i64")], run


@template("torch")
def scatter_add(d: Draw) -> Made:
    x, i = _type([None, None], "f32"), _type([None, None], "si64")
    text = _function(
        [("x", x), ("i", i), ("u", x)],
        x,
        [
            "%d = torch.constant.int 0",
            f"%r = torch.aten.scatter_add %x, %d, %i, %u : {x}, !torch.int, {i}, {x} -> {x}",
        ],
    )

    def run(v, ids, given):
        if ids.size == 0:
            return v
        require(
            ids.shape[0] <= given.shape[0] and ids.shape[1] <= given.shape[1] and ids.shape[1] <= v.shape[1]
        )
        _inside(ids, v.shape[0])
        for r, c in np.ndindex(*ids.shape):
            v[ids[r, c], c] += given[r, c]
        return v

    return text, [([None, None], "f32"), ([None, None], "i64"), ([None, None], "f32")], run


@template("torch")
def index_put(d: Draw) -> Made:
    rows = _rows(d)
    x, i, u = _type([rows, 3], "f32"), _type([None], "si64"), _type([None, 3], "f32")
    text = _function(
        [("x", x), ("i", i), ("u", u)],
        x,
        [
            "%f = torch.constant.bool false",
            f"%l = torch.prim.ListConstruct %i : ({i}) -> !torch.list<vtensor>",
            f"%r = torch.aten.index_put %x, %l, %u, %f : {x}, !torch.list<vtensor>, {u}, !torch.bool -> {x}",
        ],
    )

    def run(v, ids, given):
        require(len(ids) == len(given))
        _inside(ids, len(v))  # IREE's import does not count negative ones from the end: they are refused
        if len(set(ids.tolist())) < len(ids):
            raise Undefined
        v[ids] = given
        return v

    return text, [([rows, 3], "f32"), ([None], "i64"), ([None, 3], "f32")], run


@template("torch")
def sliced(d: Draw) -> Made:
    """x[a:b:k]: any numbers, counted from the end where negative."""
    rows, k, doubled = None, d.number(1, 3), d.one_in(2)
    x, out = _type([rows, 2], "f32"), _type([None, 2], "f32")
    lines = ["%d = torch.constant.int 0", "%one = torch.constant.int 1", f"%s = torch.constant.int {k}"]
    if doubled:
        lines.append(f"%y = torch.aten.add.Tensor %x, %x, %one : {x}, {x}, !torch.int -> {x}")
    of = "%y" if doubled else "%x"
    lines.append(
        f"%r = torch.aten.slice.Tensor {of}, %d, %a, %b, %s : {x}, !torch.int, !torch.int, !torch.int, !torch.int -> {out}"
    )
    text = _function([("x", x), ("a", "!torch.int"), ("b", "!torch.int")], out, lines)

    def run(v, a, b):
        if max(abs(a), abs(b)) > 1 << 40:
            raise Undefined
        return (v + v if doubled else v)[a:b:k] if doubled else v[a:b:k]

    return text, [([rows, 2], "f32"), "int", "int"], run


@template("torch")
def viewed(d: Draw) -> Made:
    given = d.one_in(2)
    x = _type([None, None], "f32")
    second = "%b" if given else "%m"
    text = _function(
        [("x", x), ("a", "!torch.int"), ("b", "!torch.int")],
        x,
        [
            "%m = torch.constant.int -1",
            f"%l = torch.prim.ListConstruct %a, {second} : (!torch.int, !torch.int) -> !torch.list<int>",
            f"%r = torch.aten.view %x, %l : {x}, !torch.list<int> -> {x}",
        ],
    )

    def run(v, a, b):
        if not given:
            if a == 0:
                raise Undefined
            require(a > 0 and v.size % a == 0)
            b = v.size // a
        elif -1 in (a, b):
            raise Undefined
        return regrouped(v, [a, b])

    return text, [([None, None], "f32"), "int", "int"], run


@template("torch")
def padded(d: Draw) -> Made:
    x = _type([None, None], "f32")
    text = _function(
        [("x", x), ("a", "!torch.int"), ("b", "!torch.int")],
        x,
        [
            "%l = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>",
            "%v = torch.constant.float 7.0",
            f"%r = torch.aten.constant_pad_nd %x, %l, %v : {x}, !torch.list<int>, !torch.float -> {x}",
        ],
    )

    def run(v, a, b):
        require(a >= 0 and b >= 0)
        if max(a, b) > LARGEST:
            raise Undefined
        return np.pad(v, [(0, 0), (a, b)], constant_values=7)

    return text, [([None, None], "f32"), "int", "int"], run


@template("torch")
def joined(d: Draw) -> Made:
    x = _type([None, None], "f32")
    along = d.number(0, 1)
    text = _function(
        [("x", x), ("y", x)],
        x,
        [
            f"%d = torch.constant.int {along}",
            f"%l = torch.prim.ListConstruct %x, %y : ({x}, {x}) -> !torch.list<vtensor>",
            f"%r = torch.aten.cat %l, %d : !torch.list<vtensor>, !torch.int -> {x}",
        ],
    )

    def run(v, w):
        require(v.shape[1 - along] == w.shape[1 - along])
        return np.concatenate([v, w], along)

    return text, [([None, None], "f32"), ([None, None], "f32")], run


@template("torch")
def written_over(d: Draw) -> Made:
    """x[a:b] = u."""
    x = _type([None, 2], "f32")
    text = _function(
        [("x", x), ("u", x), ("a", "!torch.int"), ("b", "!torch.int")],
        x,
        [
            "%d = torch.constant.int 0",
            "%s = torch.constant.int 1",
            f"%r = torch.aten.slice_scatter %x, %u, %d, %a, %b, %s : {x}, {x}, !torch.int, !torch.int, !torch.int, !torch.int -> {x}",
        ],
    )

    def run(v, u, a, b):
        if max(abs(a), abs(b)) > 1 << 40:
            raise Undefined
        require(v[a:b].shape == u.shape)
        v[a:b] = u
        return v

    return text, [([None, 2], "f32"), ([None, 2], "f32"), "int", "int"], run


__all__ = ["STRATEGIES"]
