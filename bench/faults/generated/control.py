"""Ops of random programs beyond tensors of a fixed size: branches, loops that data end, calls, and sizes that are known at run time."""

from __future__ import annotations

from .program import DYNAMIC, Program, Value, sum_op


def branch(p: Program, v: Value) -> Value:
    """A condition on an argument, one arm of which computes."""
    flag = p.argument((), "i32")
    p.values.remove(flag)
    number = p.hidden(f"tensor.extract {flag.name}[] : {flag.type}", (), "i32")
    limit = p.hidden(f"arith.constant {p.draw.choice((-1, 0, 3))} : i32", (), "i32")
    taken = p.hidden(f"arith.cmpi sgt, {number.name}, {limit.name} : i32", (), "i1")
    return p.op(
        f"scf.if {taken.name} -> ({v.type}) {{\n    %t = {sum_op(v)} {v.name}, {v.name} : {v.type}\n    scf.yield %t : {v.type}\n"
        f"  }} else {{\n    scf.yield {v.name} : {v.type}\n  }}",
        v.shape,
        v.element,
    )


def until(p: Program, v: Value) -> Value:
    """A loop whose number of rounds is an argument's, between 0 and 3."""
    rounds = p.argument((), "i32")
    p.values.remove(rounds)
    given = p.hidden(f"tensor.extract {rounds.name}[] : {rounds.type}", (), "i32")
    three = p.hidden("arith.constant 3 : i32", (), "i32")
    limit = p.hidden(f"arith.andi {given.name}, {three.name} : i32", (), "i32")
    zero, one = (p.hidden(f"arith.constant {n} : i32", (), "i32") for n in (0, 1))
    pair = f"(i32, {v.type})"
    loop = p.hidden(
        f"scf.while (%i = {zero.name}, %x = {v.name}) : {pair} -> {pair} {{\n"
        f"    %more = arith.cmpi slt, %i, {limit.name} : i32\n    scf.condition(%more) %i, %x : i32, {v.type}\n"
        f"  }} do {{\n  ^bb0(%i: i32, %x: {v.type}):\n    %y = {sum_op(v)} %x, {v.name} : {v.type}\n"
        f"    %j = arith.addi %i, {one.name} : i32\n    scf.yield %j, %y : i32, {v.type}\n  }}",
        v.shape,
        v.element,
    )
    p.lines[-1] = p.lines[-1].replace(f"{loop.name} = ", f"{loop.name}:2 = ", 1)
    result = type(v)(f"{loop.name}#1", v.shape, v.element)
    p.values.append(result)
    return result


def call(p: Program, v: Value) -> Value:
    """A function of its own, called once or twice."""
    name, kept = f"@{p.name}_f{len(p.functions)}", p.draw.choice((" attributes {noinline}", ""))
    p.functions.append(
        f"func.func private {name}(%x: {v.type}) -> {v.type}{kept} {{\n  %y = {sum_op(v)} %x, %x : {v.type}\n  return %y : {v.type}\n}}\n"
    )
    for _ in range(p.draw.choice((1, 2))):
        v = p.op(f"func.call {name}({v.name}) : ({v.type}) -> {v.type}", v.shape, v.element)
    return v


def dynamic(p: Program, v: Value) -> Value | None:
    """An argument with a size that is known at run time, brought back to a tensor of a fixed size, or returned."""
    if v.element == "i1":
        return None
    wide = p.draw.choice((1, 4, 7, 16))
    given = p.argument((DYNAMIC, wide), v.element)
    p.values.remove(given)
    zero = p.hidden("arith.constant 0 : index", (), "index")
    rows = p.hidden(f"tensor.dim {given.name}, {zero.name} : {given.type}", (), "index")
    many = p.hidden(f"{sum_op(v)} {given.name}, {given.name} : {given.type}", given.shape, v.element)
    way = p.draw.randrange(4)
    if way == 0:  # written into a tensor that may be too small
        into = p.filled((p.draw.choice((8, 32)), wide), v.element)
        return p.op(
            f"tensor.insert_slice {many.name} into {into.name}[0, 0] [{rows.name}, {wide}] [1, 1] : {many.type} into {into.type}",
            into.shape,
            v.element,
        )
    if way == 1:  # a product with as many rows
        across = p.draw.choice((1, 5, 16))
        other = p.argument((wide, across), v.element)
        out = type(v)("", (DYNAMIC, across), v.element)
        scalar = p.hidden(f"arith.constant {'0.0' if v.is_float else '0'} : {v.element}", (), v.element)
        empty = p.hidden(f"tensor.empty({rows.name}) : {out.type}", out.shape, v.element)
        start = p.hidden(
            f"linalg.fill ins({scalar.name} : {v.element}) outs({empty.name} : {out.type}) -> {out.type}",
            out.shape,
            v.element,
        )
        many = p.hidden(
            f"linalg.matmul ins({many.name}, {other.name} : {many.type}, {other.type}) outs({start.name} : {out.type}) -> {out.type}",
            out.shape,
            v.element,
        )
    if p.draw.random() < 0.4:
        p.results.append(many)
    total = p.filled((many.shape[1],), v.element)
    name = "addf" if v.is_float else "addi"
    return p.op(
        f"linalg.reduce {{ arith.{name} }} ins({many.name} : {many.type}) outs({total.name} : {total.type}) dimensions = [0]",
        total.shape,
        v.element,
    )


def cut(p: Program, v: Value) -> Value | None:
    """A slice whose size and place are an argument's."""
    if v.element == "i1":
        return None
    count = p.argument((), "i32")
    p.values.remove(count)
    given = p.hidden(f"tensor.extract {count.name}[] : {count.type}", (), "i32")
    size = p.hidden(f"arith.index_cast {given.name} : i32 to index", (), "index")
    rest = "".join(f", {n}" for n in v.shape[1:])
    part = type(v)("", (DYNAMIC, *v.shape[1:]), v.element)
    zeros, ones = ", 0" * (len(v.shape) - 1), ", 1" * (len(v.shape) - 1)
    part = p.hidden(
        f"tensor.extract_slice {v.name}[0{zeros}] [{size.name}{rest}] [1{ones}] : {v.type} to {part.type}",
        part.shape,
        v.element,
    )
    total = p.filled(v.shape[1:], v.element)
    name = "addf" if v.is_float else "addi"
    return p.op(
        f"linalg.reduce {{ arith.{name} }} ins({part.name} : {part.type}) outs({total.name} : {total.type}) dimensions = [0]",
        total.shape,
        v.element,
    )


KINDS = {"branch": branch, "while": until, "call": call, "dynamic": dynamic, "cut": cut}
