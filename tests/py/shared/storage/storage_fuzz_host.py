"""Steps whose places the host computes: reads, branches, loops, calls, choices and buffer views."""

from __future__ import annotations

import numpy as np
from storage_fuzz_programs import KINDS, Values, Writer, taken
from storage_fuzz_steps import element, step
from storage_oracle import require


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
                value = element(have, i)
        elif how != "branch" or v[n.name] < v[m.name]:
            value = element(have, v[n.name])
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
    w.line(
        f"{made.name} = tensor.extract_slice {back.name}[0] [{size.name}] [1] : {back.type} to {made.type}"
    )


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
        return np.full(2, element(v[x.name], where), KINDS[x.kind])

    made = w.made("r", (2,), x.kind, run)
    empty = w.fresh("e")
    w.line(f"{empty} = tensor.empty() : {made.type}")
    w.line(f"{made.name} = linalg.fill ins({got} : {x.kind}) outs({empty} : {made.type}) -> {made.type}")


@step
def exported(w: Writer) -> None:
    """A tensor becomes a buffer view of a listed size, and a tensor again."""
    x, n = w.array(1, w.pick(("f32", "i32"))), w.number()
    given, view = w.fresh("g"), w.fresh("h")
    w.line(f"{given} = tensor.cast {x.name} : {x.type} to tensor<?x{x.kind}>")
    w.line(f"{view} = hal.tensor.export {given} : tensor<?x{x.kind}>{{{n.name}}} -> !hal.buffer_view")

    def run(v: Values) -> np.ndarray:
        require(v[n.name] == len(v[x.name]))
        return v[x.name].copy()

    made = w.made("r", (None,), x.kind, run)
    w.line(f"{made.name} = hal.tensor.import {view} : !hal.buffer_view -> tensor<?x{x.kind}>{{{n.name}}}")
