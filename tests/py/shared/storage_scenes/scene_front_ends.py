"""Programs as front ends write them: StableHLO, TOSA and torch ops at places that are numbers of the call.

What an op does with a place that does not exist is its dialect's word where IREE's import keeps to it (StableHLO's dynamic slices
clamp, torch's slices too); else the call is refused (gathers, scatters).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st
from scene_integers import Draw
from scene_program import TRIED, Call, Scene
from scene_values import Illegal, Undefined, require

Made = tuple[str, list[object], Callable[..., object]]
"""A function's text, its arguments (shapes of tensors with None for a dynamic size and their type, or `int`), and what it computes."""
TEMPLATES: dict[str, dict[str, Callable[[Draw], Made]]] = {"stablehlo": {}, "tosa": {}, "torch": {}}


def template(dialect: str):
    def add(function: Callable[[Draw], Made]) -> Callable[[Draw], Made]:
        TEMPLATES[dialect][function.__name__] = function
        return function

    return add


def scenes_of(dialect: str):
    """A strategy of scenes that are written in ``dialect``."""

    @st.composite
    def scenes(draw) -> Scene:
        d = Draw(draw)
        text, arguments, run = TEMPLATES[dialect][d.pick(sorted(TEMPLATES[dialect]))](d)
        scene = Scene("", text)
        scene.calls, scene.can_fail = _calls(arguments, run, random.Random(draw(st.integers(0, 2**32))))
        return scene

    return scenes()


def _calls(arguments: Sequence[object], run: Callable, chance: random.Random) -> tuple[list[Call], bool]:
    found: dict[bool, list[Call]] = {True: [], False: []}
    for _ in range(TRIED):
        size = chance.randint(1, 6)
        values = [_value(a, size, chance) for a in arguments]
        try:
            expected = run(*[np.copy(v) if isinstance(v, np.ndarray) else v for v in values])
        except Illegal:
            found[False].append(Call(values, None))
        except Undefined:
            continue
        else:
            found[True].append(Call(values, [expected]))
    return [*found[True][:4], *found[False][:4]], bool(found[False])


def _value(kind: object, size: int, chance: random.Random) -> object:
    wild = chance.random() < 0.1
    if kind == "int":
        return chance.choice((-(2**63), 2**63 - 1, 2**32, -1)) if wild else chance.randint(-3, size + 2)
    shape, element = kind
    shape = tuple(
        n if n is not None else (size if chance.random() < 0.9 else chance.randint(0, 7)) for n in shape
    )
    if element == "f32":
        return (np.arange(int(np.prod(shape))) % 50 + 1).astype(np.float32).reshape(shape)
    dtype = {"i32": np.int32, "i64": np.int64}[element]
    low, high = (0, chance.randint(0, size)) if chance.random() < 0.6 else (-4, size + 3)
    made = np.array([chance.randint(low, high) for _ in range(int(np.prod(shape)))], dtype)
    if wild and made.size:
        made[chance.randrange(made.size)] = chance.choice((np.iinfo(dtype).min, np.iinfo(dtype).max, 2**20))
    return made.reshape(shape)


def _inside(ids: np.ndarray, size: int) -> np.ndarray:
    require(bool(np.all((ids >= 0) & (ids < size))))
    return ids


def _clamped(starts: Sequence[np.ndarray], shape: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    begin = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(b, b + k) for b, k in zip(begin, sizes, strict=True))


# -- StableHLO ------------------------------------------------------------------------------------------------


@template("stablehlo")
def dynamic_slice(d: Draw) -> Made:
    shape = [d.number(1, 6), d.number(1, 5)]
    sizes, kind = [d.number(1, n) for n in shape], d.pick(("i32", "i64"))
    x, out = f"tensor<{shape[0]}x{shape[1]}xf32>", f"tensor<{sizes[0]}x{sizes[1]}xf32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: tensor<{kind}>, %j: tensor<{kind}>) -> {out} {{
  %y = stablehlo.add %x, %x : {x}
  %r = stablehlo.dynamic_slice %y, %i, %j, sizes = {sizes} : ({x}, tensor<{kind}>, tensor<{kind}>) -> {out}
  return %r : {out}
}}"""
    return (
        text,
        [(shape, "f32"), ([], kind), ([], kind)],
        lambda v, i, j: (v + v)[_clamped((i, j), shape, sizes)],
    )


@template("stablehlo")
def dynamic_update_slice(d: Draw) -> Made:
    shape, loop = [d.number(2, 6), d.number(1, 5)], d.one_in(2)
    sizes = [d.number(1, n) for n in shape]
    x, u = f"tensor<{shape[0]}x{shape[1]}xf32>", f"tensor<{sizes[0]}x{sizes[1]}xf32>"

    def once(v, given, i, j):
        v = v.copy()
        v[_clamped((i, j), shape, sizes)] = given
        return v

    op = f"stablehlo.dynamic_update_slice %s, %u, %i, %j : ({x}, {u}, tensor<i32>, tensor<i32>) -> {x}"
    if not loop:
        text = f"""func.func @PROGRAM(%x: {x}, %u: {u}, %i: tensor<i32>, %j: tensor<i32>) -> {x} {{
  %s = stablehlo.add %x, %x : {x}
  %r = {op}
  return %r : {x}
}}"""
        return (
            text,
            [(shape, "f32"), (sizes, "f32"), ([], "i32"), ([], "i32")],
            lambda v, g, i, j: once(v + v, g, i, j),
        )
    text = f"""func.func @PROGRAM(%x: {x}, %u: {u}, %n: tensor<i32>, %j: tensor<i32>) -> {x} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, {x}
    cond {{
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %w = {op}
      %k = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %k, %w : tensor<i32>, {x}
    }}
  return %r#1 : {x}
}}"""

    def run(v, given, n, j):
        if int(n) > 500:
            raise Undefined
        for i in range(int(n)):
            v = once(v, given, i, j)
        return v

    return text, [(shape, "f32"), (sizes, "f32"), ([], "i32"), ([], "i32")], run


@template("stablehlo")
def hlo_gather(d: Draw) -> Made:
    rows, width, count = d.number(1, 6), d.number(1, 4), d.number(1, 4)
    x, out = f"tensor<{rows}x{width}xf32>", f"tensor<{count}x{width}xf32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: tensor<{count}x1xi32>) -> {out} {{
  %r = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {width}>, indices_are_sorted = false}}
    : ({x}, tensor<{count}x1xi32>) -> {out}
  return %r : {out}
}}"""
    return text, [([rows, width], "f32"), ([count, 1], "i32")], lambda v, i: v[np.clip(i[:, 0], 0, rows - 1)]


@template("stablehlo")
def clamped_gather(d: Draw) -> Made:
    """Clamped to the table first: no index is outside."""
    rows, width, count = d.number(1, 6), d.number(1, 4), d.number(1, 4)
    x, out, ids = f"tensor<{rows}x{width}xf32>", f"tensor<{count}x{width}xf32>", f"tensor<{count}x1xi32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: {ids}) -> {out} {{
  %low = stablehlo.constant dense<0> : tensor<i32>
  %high = stablehlo.constant dense<{rows - 1}> : tensor<i32>
  %k = stablehlo.clamp %low, %i, %high : (tensor<i32>, {ids}, tensor<i32>) -> {ids}
  %r = "stablehlo.gather"(%x, %k) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {width}>, indices_are_sorted = false}}
    : ({x}, {ids}) -> {out}
  return %r : {out}
}}"""
    return text, [([rows, width], "f32"), ([count, 1], "i32")], lambda v, i: v[np.clip(i[:, 0], 0, rows - 1)]


@template("stablehlo")
def hlo_scatter(d: Draw) -> Made:
    rows, width, count = d.number(2, 6), d.number(1, 4), d.number(1, 2)
    x, u, ids = f"tensor<{rows}x{width}xf32>", f"tensor<{count}x{width}xf32>", f"tensor<{count}x1xi32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: {ids}, %u: {u}) -> {x} {{
  %r = "stablehlo.scatter"(%x, %i, %u) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true}}
    : ({x}, {ids}, {u}) -> {x}
  return %r : {x}
}}"""

    def run(v, i, given):
        places = i[:, 0].tolist()
        if len(set(places)) < count:
            raise Undefined
        for place, row in zip(places, given, strict=True):
            if 0 <= place < rows:
                v[place] += row
        return v

    return text, [([rows, width], "f32"), ([count, 1], "i32"), ([count, width], "f32")], run


@template("stablehlo")
def case_of_slices(d: Draw) -> Made:
    """A branch by number, the last one for any other; each reads elsewhere."""
    size, first, second = d.number(4, 6), d.number(0, 2), d.number(0, 2)
    x = f"tensor<{size}xf32>"
    text = f"""func.func @PROGRAM(%x: {x}, %p: tensor<i32>, %i: tensor<i32>) -> tensor<2xf32> {{
  %r = "stablehlo.case"(%p) ({{
    %s = stablehlo.slice %x [{first}:{first + 2}] : ({x}) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }}, {{
    %s = stablehlo.dynamic_slice %x, %i, sizes = [2] : ({x}, tensor<i32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }}, {{
    %s = stablehlo.slice %x [{second}:{second + 2}] : ({x}) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }}) : (tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}}"""

    def run(v, p, i):
        if int(p) == 1:
            return v[_clamped((i,), (size,), (2,))]
        begin = first if int(p) == 0 else second
        return v[begin : begin + 2]

    return text, [([size], "f32"), ([], "i32"), ([], "i32")], run


# -- TOSA -----------------------------------------------------------------------------------------------------


@template("tosa")
def tosa_gather(d: Draw) -> Made:
    n, rows, count = d.number(1, 2), d.pick((None, d.number(1, 6))), d.pick((None, d.number(1, 4)))
    k, w = "?" if rows is None else rows, "?" if count is None else count
    x, ids, out = f"tensor<{n}x{k}x3xf32>", f"tensor<{n}x{w}xi32>", f"tensor<{n}x{w}x3xf32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: {ids}) -> {out} {{
  %y = tosa.add %x, %x : ({x}, {x}) -> {x}
  %r = tosa.gather %y, %i : ({x}, {ids}) -> {out}
  return %r : {out}
}}"""

    def run(v, i):
        _inside(i, v.shape[1])
        return np.stack([2 * v[b][i[b]] for b in range(n)])

    return text, [([n, rows, 3], "f32"), ([n, count], "i32")], run


@template("tosa")
def tosa_scatter(d: Draw) -> Made:
    rows, count = d.number(2, 6), d.number(1, 2)
    x, ids, u = f"tensor<1x{rows}x3xf32>", f"tensor<1x{count}xi32>", f"tensor<1x{count}x3xf32>"
    text = f"""func.func @PROGRAM(%x: {x}, %i: {ids}, %u: {u}) -> {x} {{
  %r = tosa.scatter %x, %i, %u : ({x}, {ids}, {u}) -> {x}
  return %r : {x}
}}"""

    def run(v, i, given):
        _inside(i, rows)
        if len(set(i[0].tolist())) < count:
            raise Undefined
        v[0, i[0]] = given[0]
        return v

    return text, [([1, rows, 3], "f32"), ([1, count], "i32"), ([1, count, 3], "f32")], run


STRATEGIES = {dialect: lambda dialect=dialect: scenes_of(dialect) for dialect in TEMPLATES}
