"""Random programs that hold a value in a global, choose one of three, or exchange two in a loop."""

from __future__ import annotations

from .program import Program, Value, first_result, unnamed_argument


def held(p: Program, v: Value) -> Value | None:
    """A global that the program writes and reads, or one that an initialiser computes."""
    name, add = f"@{p.name}_g{len(p.functions)}", "arith.addf" if v.is_float else "arith.addi"
    if v.element == "i1" or -1 in v.shape:
        return None
    number = "1.5" if v.is_float else "1"
    if p.draw.random() < 0.5:
        p.functions.append(
            f"util.global private mutable {name} = dense<{number}> : {v.type}\nfunc.func @{name[1:]}_next() -> {v.type} {{\n"
            f"  %x = util.global.load {name} : {v.type}\n  %y = {add} %x, %x : {v.type}\n  util.global.store %y, {name} : {v.type}\n  return %y : {v.type}\n}}\n"
        )
        before = p.hidden(f"util.global.load {name} : {v.type}", v.shape, v.element)
        total = p.op(f"{add} {before.name}, {v.name} : {v.type}", v.shape, v.element)
        p.lines.append(f"  util.global.store {total.name}, {name} : {v.type}")
        return total
    p.functions.append(
        f"util.global private {name} : {v.type}\nutil.initializer {{\n  %x = arith.constant dense<{number}> : {v.type}\n"
        f"  %y = {add} %x, %x : {v.type}\n  util.global.store %y, {name} : {v.type}\n  util.return\n}}\n"
    )
    loaded = p.hidden(f"util.global.load {name} : {v.type}", v.shape, v.element)
    return p.op(f"{add} {loaded.name}, {v.name} : {v.type}", v.shape, v.element)


def choice(p: Program, v: Value) -> Value | None:
    """One of three values by a number, or two values that a loop exchanges."""
    add = "arith.addf" if v.is_float else "arith.xori" if v.element == "i1" else "arith.addi"
    if p.draw.random() < 0.5:
        given = unnamed_argument(p, (), "i32")
        number = p.hidden(f"tensor.extract {given.name}[] : {given.type}", (), "i32")
        index = p.hidden(f"arith.index_cast {number.name} : i32 to index", (), "index")
        return p.op(f"scf.index_switch {index.name} -> {v.type}\n  case 1 {{\n    %t = {add} {v.name}, {v.name} : {v.type}\n    scf.yield %t : {v.type}\n  }}\n"
                    f"  case 4 {{\n    %s = {add} {v.name}, {p.like(v).name} : {v.type}\n    scf.yield %s : {v.type}\n  }}\n  default {{\n    scf.yield {v.name} : {v.type}\n  }}",
                    v.shape, v.element)  # fmt: skip
    other = p.like(v)
    bounds = [p.hidden(f"arith.constant {n} : index", (), "index") for n in (0, p.draw.choice((0, 1, 4)), 1)]
    return first_result(p, f"scf.for %i = {bounds[0].name} to {bounds[1].name} step {bounds[2].name} iter_args(%x = {v.name}, %y = {other.name}) -> ({v.type}, {v.type}) {{\n"
                  f"    %n = {add} %x, %y : {v.type}\n    scf.yield %y, %n : {v.type}, {v.type}\n  }}", v)  # fmt: skip
