"""Tensors from control flow on the host, from functions that call each other, and from the flow dialect."""

from __future__ import annotations

import numpy as np
from scene_arrays import cast_to, given, makes, tree, twice, twice_of_size
from scene_bodies import inner, read
from scene_integers import Draw, binary, condition, integer, place
from scene_values import (
    KINDS,
    LARGEST,
    Env,
    Node,
    Text,
    Undefined,
    argument,
    array,
    constant,
    dim,
    regrouped,
    require,
    tensor,
)


def _inside(kind: str, dims, element: str, name: str) -> Node:
    made = argument(name, kind, dims, element)
    return made


@makes
def filled_in_a_loop(d: Draw, rank: int, element: str, depth: int) -> Node:
    """scf.for writes an element, or a part, of the tensor that it carries, at a place computed from its counter."""
    if rank != 1:
        return tree(d, rank, element, depth - 1)
    start, source = tree(d, 1, element, depth - 1), given(d, 1, element)
    top = d.pick((integer(d, "index", 1, [start]), dim(source, 0), dim(start, 0)))
    low, step = d.pick((0, 0, 1)), d.pick((1, 1, 2))
    round_, carried = inner("index", "%r"), _inside(start.type, start.dims, element, "%acc")
    shifts = (
        round_,
        round_,
        binary("addi", round_, constant(d.number(1, 2))),
        binary("remui", round_, constant(d.number(1, 3))),
        binary("subi", binary("subi", dim(start, 0), constant(1)), round_),
        place(d, dim(start, 0), [start], 1),
    )
    to, from_ = d.pick(shifts), d.pick((round_, binary("floordivsi", round_, constant(2))))
    part = d.one_in(3)
    got = read(source, [from_])

    def write(text: Text) -> str:
        text(source)
        for node in (dim(start, 0),):
            text(node)
        first, low_, high, step_ = text(start), text.constant(low), text(top), text.constant(step)
        with text.region() as lines:
            at = text(to)
            if part:
                piece = text.op(
                    "p",
                    f"tensor.extract_slice {text(source)}[{text(from_)}] [1] [1] : {source.type} to tensor<1x{element}>",
                )
                done = text.op(
                    "w",
                    f"tensor.insert_slice {piece} into %acc[{at}] [1] [1] : tensor<1x{element}> into {start.type}",
                )
            else:
                done = text.op("w", f"tensor.insert {text(got)} into %acc[{at}] : {start.type}")
            lines.append(f"scf.yield {done} : {start.type}")
        inside = "\n".join(lines)
        return text.op(
            "f",
            f"scf.for %r = {low_} to {high} step {step_} iter_args(%acc = {first}) -> ({start.type}) {{\n{inside}\n}}",
        )

    def value(env: Env) -> np.ndarray:
        into = env(start).copy()
        env(source)
        if env(top) > 256:  # many rounds: what fails first does not matter
            raise Undefined
        for i in range(low, env(top), step):
            round_env = env.inner({round_: i, carried: into})
            new, at = round_env(got), round_env(to)
            require(0 <= at < len(into))
            into[at] = new
        return into

    return array(start.dims, element, write, value)


@makes
def searched(d: Draw, rank: int, element: str, depth: int) -> Node:
    """scf.while goes along a tensor of integers until one is large; the place is where a slice begins."""
    if rank != 1:
        return tree(d, rank, element, depth - 1)
    whole, table = tree(d, 1, element, depth - 1), d.array_argument((None,), "i32", True)
    guarded = d.number(0, 2) > 0
    top = dim(table, 0) if guarded else integer(d, "index", 1)
    limit = d.number(1, 3)
    at = Node("index", lambda _t: "", lambda _e: 0)

    def write_at(text: Text) -> str:
        source, high, zero, one = text(table), text(top), text.constant(0), text.constant(1)
        cap = text.constant(limit, "i32")
        lines = [
            f"scf.while (%i = {zero}) : (index) -> index {{",
            f"%q = arith.cmpi slt, %i, {high} : index",
            "%go = scf.if %q -> i1 {",
            f"%v = tensor.extract {source}[%i] : {table.type}",
            f"%h = arith.cmpi slt, %v, {cap} : i32",
            "scf.yield %h : i1",
            "} else {",
            "%no = arith.constant false",
            "scf.yield %no : i1",
            "}",
            "scf.condition(%go) %i : index",
            "} do {",
            "^bb0(%i: index):",
            f"%j = arith.addi %i, {one} : index",
            "scf.yield %j : index",
            "}",
        ]
        return text.op("h", "\n".join(lines))

    def value_at(env: Env) -> int:
        i = 0
        while i < env(top):
            require(i < len(env(table)))
            if env(table)[i] >= limit:
                break
            i += 1
        return i

    at.write, at.value = write_at, value_at

    def value(env: Env) -> np.ndarray:
        size = len(env(whole)) - env(at)
        require(size >= 0)
        return env(whole)[env(at) :]

    def write(text: Text) -> str:
        place_, size = text(at), text.op("n", f"arith.subi {text(dim(whole, 0))}, {text(at)} : index")
        return text.op(
            "r",
            f"tensor.extract_slice {text(whole)}[{place_}] [{size}] [1] : {whole.type} to {tensor((None,), element)}",
        )

    return array((None,), element, write, value)


@makes
def branched(d: Draw, rank: int, element: str, depth: int) -> Node:
    """scf.if between tensors, each made in its own branch."""
    sides = [tree(d, rank, element, depth - 1), twice(tree(d, rank, element, depth - 1))]
    dims = tuple(a if a == b else None for a, b in zip(*(s.dims for s in sides), strict=True))
    # IREE makes room for the first side alone: both are cut to one size that both have.
    test = condition(d)
    sides = [cast_to(s, dims) for s in sides]

    def write(text: Text) -> str:
        given_, parts, type_ = text(test), [], tensor(dims, element)
        for side in sides:
            with text.region() as lines:
                lines.append(f"scf.yield {text(side)} : {type_}")
            parts.append("\n".join(lines))
        return text.op("k", f"scf.if {given_} -> ({type_}) {{\n{parts[0]}\n}} else {{\n{parts[1]}\n}}")

    return array(dims, element, write, lambda env: env(sides[0] if env(test) else sides[1]))


@makes
def called(d: Draw, rank: int, element: str, depth: int) -> Node:
    """A private function gets tensors and sizes, and gives a part and its size back."""
    whole = tree(d, rank, element, depth - 1)
    number = integer(d, "index", 1, [whole])
    dims = (None,) * rank
    inlined = d.pick(("func.func private", "func.func private", "util.func private"))
    here, many = argument("%w", tensor(dims, element), dims, element), argument("%k", "index")
    body, outer = Draw(d.draw), cast_to(whole, dims)
    body.arguments, body.names = [many], ["%k"]
    at = place(body, dim(here, 0), [here], 1)
    size = d.pick((many, binary("subi", dim(here, 0), at), binary("minsi", many, dim(here, 0))))
    extra = body.arguments[1:]
    passed = [constant(d.number(0, 3), a.type) if a.dims is None else a for a in extra]
    tables = [a for a in extra if a.dims is not None]
    for table in tables:
        d.arguments.append(_renamed(table, f"%x{len(d.arguments)}"))
        d.names.append(f"%x{len(d.names)}")
        d.index_arrays.add(d.arguments[-1])
        passed[extra.index(table)] = d.arguments[-1]
    result_dims = (None, *dims[1:])

    def inside(env: Env) -> Env:
        known = {here: env(outer), many: env(number)}
        known.update({a: env(p) for a, p in zip(extra, passed, strict=True)})
        return Env(known)

    def value(env: Env) -> np.ndarray:
        there = inside(env)
        begin, length = there(at), there(size)
        require(length >= 0)
        shape = env(outer).shape
        if length and 0 not in shape[1:]:
            require(begin >= 0 and begin + length <= shape[0])
        if length > LARGEST:
            raise Undefined
        if 0 in (
            length,
            *shape[1:],
        ):  # NumPy would cut what lies outside off, and this may: it has no element
            return np.zeros((length, *shape[1:]), KINDS[element])
        return env(outer)[begin : begin + length]

    def write(text: Text) -> str:
        name = f"@PROGRAM_part{len(text.others)}"
        part = Text()
        part.others = text.others
        for node in (here, many, *extra):
            part(node)
        first, count = part(at), part(size)
        rest = [part(dim(here, i)) for i in range(1, rank)]
        zeros = ", ".join(["0"] * (rank - 1))
        ones = ", ".join(["1"] * rank)
        sliced = part.op(
            "r",
            f"tensor.extract_slice {part(here)}[{', '.join([first, *([zeros] if zeros else [])])}] [{', '.join([count, *rest])}] "
            f"[{ones}] : {here.type} to {tensor(result_dims, element)}",
        )
        ret = "util.return" if inlined.startswith("util") else "return"
        typed = ", ".join(
            f"{n}: {a.type}" for n, a in zip(["%w", "%k", *body.names[1:]], [here, many, *extra], strict=True)
        )
        text.others.append(
            f"{inlined} {name}({typed}) -> ({tensor(result_dims, element)}, index) {{\n"
            + "\n".join(part.lines)
            + f"\n{ret} {sliced}, {count} : {tensor(result_dims, element)}, index\n}}"
        )
        given_ = ", ".join(text(v) for v in (outer, number, *passed))
        types = ", ".join(v.type for v in (outer, number, *passed))
        call = "util.call" if inlined.startswith("util") else "func.call"
        both = text.fresh("m")
        text.lines.append(
            f"{both}:2 = {call} {name}({given_}) : ({types}) -> ({tensor(result_dims, element)}, index)"
        )
        return f"{both}#0"

    return array(result_dims, element, write, value)


def _renamed(node: Node, name: str) -> Node:
    return argument(name, node.type, node.dims, node.element)


def _listed(node: Node, text: Text) -> str:
    sizes = [text(dim(node, i)) for i, n in enumerate(node.dims) if n is None]
    return f"{{{', '.join(sizes)}}}" if sizes else ""


@makes
def flow_sliced(d: Draw, rank: int, element: str, depth: int) -> Node:
    """flow.tensor.slice, or a flow.tensor.update of it into another; offsets may not pass the end, also of nothing."""
    whole = tree(d, rank, element, depth - 1)
    starts = [place(d, dim(whole, i), [whole], 1) for i in range(rank)]
    sizes = [d.pick((constant(d.number(1, 3)), integer(d, "index", 1, [whole]))) for _ in range(rank)]
    update = d.one_in(2)
    source = twice_of_size(d, (None,) * rank, sizes, element) if update else None

    def value(env: Env) -> np.ndarray:
        begin, count, shape = [env(s) for s in starts], [env(s) for s in sizes], env(whole).shape
        for b, c, n in zip(begin, count, shape, strict=True):
            require(c >= 0 and b >= 0 and b + c <= n)
        where = tuple(slice(b, b + c) for b, c in zip(begin, count, strict=True))
        if source is None:
            return env(whole)[where]
        into = env(whole).copy()
        into[where] = env(source)
        return into

    def write(text: Text) -> str:
        begin, count = ", ".join(text(s) for s in starts), ", ".join(text(s) for s in sizes)
        if source is not None:
            part, into = text(source), text(whole)
            return text.op(
                "r",
                f"flow.tensor.update {part}, {into}[{begin}] : {source.type}{{{count}}} -> {whole.type}{_listed(whole, text)}",
            )
        result = tensor((None,) * rank, element)
        return text.op(
            "r",
            f"flow.tensor.slice {text(whole)}[{begin} for {count}] : {whole.type}{_listed(whole, text)} -> {result}{{{count}}}",
        )

    return array(whole.dims if update else (None,) * rank, element, write, value)


@makes
def flow_reshaped(d: Draw, rank: int, element: str, depth: int) -> Node:
    """flow.tensor.reshape, with the right sizes of its source or with others; a load or a store of one element at times."""
    whole = tree(d, d.number(1, 2), element, depth - 1)
    right = d.number(0, 3) > 0
    given_ = [
        dim(whole, i) if right else integer(d, "index", 1, [whole])
        for i, n in enumerate(whole.dims)
        if n is None
    ]
    sizes = [d.pick((dim(whole, 0), integer(d, "index", 1, [whole]))) for _ in range(rank)]

    def value(env: Env) -> np.ndarray:
        listed, have = [env(s) for s in given_], env(whole)
        require(listed == [n for n, s in zip(have.shape, whole.dims, strict=True) if s is None])
        return regrouped(have, [env(s) for s in sizes])

    def write(text: Text) -> str:
        listed, wanted = ", ".join(text(s) for s in given_), ", ".join(text(s) for s in sizes)
        of = text(whole)
        return text.op(
            "r",
            f"flow.tensor.reshape {of} : {whole.type}{f'{{{listed}}}' if listed else ''} -> "
            f"{tensor((None,) * rank, element)}{{{wanted}}}",
        )

    return array((None,) * rank, element, write, value)


@makes
def flow_stored(d: Draw, rank: int, element: str, depth: int) -> Node:
    """flow.tensor.load of one element, flow.tensor.store of it somewhere else."""
    whole = tree(d, rank, element, depth - 1)
    from_ = [place(d, dim(whole, i), [whole], 1) for i in range(rank)]
    to = [place(d, dim(whole, i), [whole], 1) for i in range(rank)]

    def value(env: Env) -> np.ndarray:
        into = env(whole).copy()
        for at in (from_, to):
            require(all(0 <= env(i) < n for i, n in zip(at, into.shape, strict=True)))
        into[tuple(env(i) for i in to)] = into[tuple(env(i) for i in from_)]
        return into

    def write(text: Text) -> str:
        of, listed = text(whole), _listed(whole, text)
        got = text.op(
            "v", f"flow.tensor.load {of}[{', '.join(text(i) for i in from_)}] : {whole.type}{listed}"
        )
        return text.op(
            "r", f"flow.tensor.store {got}, {of}[{', '.join(text(i) for i in to)}] : {whole.type}{listed}"
        )

    return array(whole.dims, element, write, value)
