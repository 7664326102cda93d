"""Ops of random programs: complex arguments, rows by index, several results of a call or an op, places, reductions of several axes."""

from __future__ import annotations

from .program import Program, Value, dims, empty, generic, sum_op


def complex_numbers(p: Program, v: Value) -> Value | None:
    """An argument of complex numbers, and its real part, its imaginary part or its length."""
    if v.element not in ("f32", "f64"):
        return None
    element = f"complex<{v.element}>"
    given = p.argument(v.shape, element)
    p.values.remove(given)
    out = empty(p, v, v.shape, v.element)
    name = p.draw.choice(("re", "im", "abs"))
    other = p.draw.choice(("add", "mul", "sub", "exp", "conj"))
    words = "%x" if other in ("exp", "conj") else "%x, %x"
    body = (
        f"  ^bb0(%x: {element}, %r: {v.element}, %out: {v.element}):\n    %c = complex.{other} {words} : {element}\n"
        f"    %p = complex.{name} %c : {element}\n    %s = arith.addf %p, %r : {v.element}\n    linalg.yield %s : {v.element}\n"
    )
    same = f"({dims(v)}) -> ({dims(v)})"
    return p.op(generic([same] * 3, ["parallel"] * len(v.shape), [given, v], out, body), v.shape, v.element)


def rows_by_index(p: Program, v: Value) -> Value | None:
    """Rows picked by an argument (an embedding)."""
    if len(v.shape) != 2:
        return None
    many = p.draw.choice((1, 3, 8))
    places = p.argument((many,), "i32")
    p.values.remove(places)
    out = empty(p, v, (many, v.shape[1]), v.element)
    body = (
        f"  ^bb0(%in: i32, %out: {v.element}):\n    %limit = arith.constant {v.shape[0]} : i32\n    %r = arith.remui %in, %limit : i32\n"
        f"    %i = arith.index_cast %r : i32 to index\n    %j = linalg.index 1 : index\n"
        f"    %e = tensor.extract {v.name}[%i, %j] : {v.type}\n    linalg.yield %e : {v.element}\n"
    )
    maps = ["(d0, d1) -> (d0)", "(d0, d1) -> (d0, d1)"]
    return p.op(generic(maps, ["parallel"] * 2, [places], out, body), out.shape, v.element)


def largest(p: Program, v: Value) -> Value | None:
    """The largest of each row and where it is: an op with two results."""
    if len(v.shape) != 2 or v.element not in ("f32", "f16", "i32", "i8"):
        return None
    rows = (v.shape[0],)
    start = "-1.0" if v.is_float else "-1"
    value, index = p.filled(rows, v.element, start), p.filled(rows, "i32")
    compare = "arith.cmpf ogt" if v.is_float else "arith.cmpi sgt"
    body = (
        f"  ^bb0(%x: {v.element}, %m: {v.element}, %i: i32):\n    %at = linalg.index 1 : index\n    %a = arith.index_cast %at : index to i32\n"
        f"    %b = {compare}, %x, %m : {v.element}\n    %n = arith.select %b, %x, %m : {v.element}\n    %j = arith.select %b, %a, %i : i32\n"
        f"    linalg.yield %n, %j : {v.element}, i32\n"
    )
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)", "(d0, d1) -> (d0)"]
    both = p.hidden(
        f'linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{m}>" for m in maps)}], iterator_types = ["parallel", "reduction"]}} '
        f"ins({v.name} : {v.type}) outs({value.name}, {index.name} : {value.type}, {index.type}) {{\n{body}  }} -> ({value.type}, {index.type})",
        rows,
        v.element,
    )
    p.lines[-1] = p.lines[-1].replace(f"{both.name} = ", f"{both.name}:2 = ", 1)
    p.results.append(type(v)(f"{both.name}#1", rows, "i32"))
    result = type(v)(f"{both.name}#0", rows, v.element)
    p.values.append(result)
    return result


def two_from_a_call(p: Program, v: Value) -> Value:
    """A function of two results, both of which are used."""
    name = f"@{p.name}_f{len(p.functions)}"
    add = sum_op(v)
    p.functions.append(
        f"func.func private {name}(%x: {v.type}) -> ({v.type}, {v.type}) {{\n  %y = {add} %x, %x : {v.type}\n"
        f"  %z = {add} %y, %x : {v.type}\n  return %y, %z : {v.type}, {v.type}\n}}\n"
    )
    both = p.hidden(f"func.call {name}({v.name}) : ({v.type}) -> ({v.type}, {v.type})", v.shape, v.element)
    p.lines[-1] = p.lines[-1].replace(f"{both.name} = ", f"{both.name}:2 = ", 1)
    p.results.append(type(v)(f"{both.name}#0", v.shape, v.element))
    result = type(v)(f"{both.name}#1", v.shape, v.element)
    p.values.append(result)
    return result


def counted(p: Program, v: Value) -> Value | None:
    """Each element with its index."""
    if v.element not in ("i32", "i64", "f32", "i16", "i8"):
        return None
    out = empty(p, v, v.shape, v.element)
    axis = p.draw.randrange(len(v.shape))
    wide = "i32" if v.is_float else v.element
    more = f"    %n = arith.sitofp %a : i32 to {v.element}\n" if v.is_float else ""
    body = (
        f"  ^bb0(%x: {v.element}, %out: {v.element}):\n    %i = linalg.index {axis} : index\n    %a = arith.index_cast %i : index to {wide}\n"
        f"{more}    %s = {sum_op(v)} %x, {'%n' if v.is_float else '%a'} : {v.element}\n    linalg.yield %s : {v.element}\n"
    )
    same = f"({dims(v)}) -> ({dims(v)})"
    return p.op(generic([same] * 2, ["parallel"] * len(v.shape), [v], out, body), v.shape, v.element)


def several_axes(p: Program, v: Value) -> Value | None:
    """A reduction over all axes but one, or over all."""
    if len(v.shape) < 2 or v.element == "i1":
        return None
    kept = p.draw.choice((0, len(v.shape) - 1, -1))
    axes = [n for n in range(len(v.shape)) if n != kept]
    out = p.filled(() if kept < 0 else (v.shape[kept],), v.element)
    name = p.draw.choice(("addf", "maximumf") if v.is_float else ("addi", "maxsi"))
    return p.op(
        f"linalg.reduce {{ arith.{name} }} ins({v.name} : {v.type}) outs({out.name} : {out.type}) dimensions = {axes}",
        out.shape,
        v.element,
    )


KINDS = {
    "complex argument": complex_numbers, "embedding": rows_by_index, "largest": largest, "two results": two_from_a_call, "index": counted,
    "several axes": several_axes,
}  # fmt: skip
