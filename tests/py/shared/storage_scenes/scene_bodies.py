"""Tensors from structured ops: bodies that read at computed places, under branches and loops; gathers, scatters, sorts."""

from __future__ import annotations

import numpy as np
from scene_arrays import given, makes, tree
from scene_integers import Draw, binary, cast, choose, compare, condition, integer
from scene_values import (
    KINDS,
    Env,
    Node,
    Text,
    Undefined,
    array,
    constant,
    dim,
    empty_like,
    filled,
    identity,
    parallel,
    require,
    sizes_of,
    tensor,
)


def inner(kind: str, name: str) -> Node:
    """A value that exists in a body: an argument of its block, or the number of a loop."""

    def missing(_env: Env) -> object:
        raise AssertionError(name)

    return Node(kind, lambda _text: name, missing)


def index_of(loop: int) -> Node:
    made = inner("index", "")
    made.write = lambda text: text.op("l", f"linalg.index {loop} : index")
    return made


def read(table: Node, at: list[Node]) -> Node:
    """tensor.extract, in a body or on the host."""

    def value(env: Env):
        where = tuple(env(i) for i in at)
        require(all(0 <= i < n for i, n in zip(where, env(table).shape, strict=True)))
        found = env(table)[where]
        return found if table.element[0] == "f" else int(found)

    def write(text: Text) -> str:
        return text.op("v", f"tensor.extract {text(table)}[{', '.join(text(i) for i in at)}] : {table.type}")

    return Node(table.element, write, value)


def body_index(d: Draw, leaves: list[Node], tables: list[Node], depth: int = 2) -> Node:
    """An index that a body computes from its loops, its elements, and numbers from outside."""
    choice = d.pick(
        ("leaf", "leaf", "binary", "binary", "clamp", "wrap", "element", "negative") if depth else ("leaf",)
    )
    if choice == "leaf":
        leaf = d.pick(leaves)
        return leaf if leaf.type == "index" else cast(d, leaf, "index")
    base = body_index(d, leaves, tables, depth - 1)
    if choice == "binary":
        name = d.pick(
            (
                "addi",
                "subi",
                "muli",
                "remsi",
                "remui",
                "floordivsi",
                "divui",
                "minsi",
                "maxsi",
                "xori",
                "shrui",
            )
        )
        return binary(name, base, constant(d.number(1, 4)))
    if choice == "clamp":
        top = binary("subi", dim(d.pick(tables), 0), constant(1))
        return binary("maxsi", binary("minsi", base, top), constant(0))
    if choice == "wrap":  # through 32 bits and back
        return cast(d, cast(d, base, "i32"), "index")
    if choice == "negative":  # counted from the end, as front ends write it
        up = binary("addi", base, dim(d.pick(tables), 0))
        return choose(compare("slt", base, constant(0)), up, base)
    table = d.array_argument((None,), d.pick(("i32", "i64")), indices=True)
    tables.append(table)
    return cast(d, read(table, [base]), "index")


class Body:
    """A generic over ``like``'s shape whose body computes each element; ``write`` gets the text inside the block."""

    def __init__(self, d: Draw, like: Node, element: str, ids: Node | None) -> None:
        self.like, self.element, self.ids = like, element, ids
        self.loops = [index_of(i) for i in range(len(like.dims))]
        self.read = None if ids is None else inner(ids.element, "%p")
        self.outside: list[Node] = []

    @property
    def leaves(self) -> list[Node]:
        return [*self.loops, *([self.read, self.read] if self.read else [])]

    def made(self, result: Node, needs: list[Node]) -> Node:
        """The op; ``needs`` are nodes from outside that are written before it."""
        like, rank = self.like, len(self.like.dims)

        def write(text: Text) -> str:
            source = text(self.ids) if self.ids else ""
            for node in needs:
                text(node)
            empty = empty_like(text, like.dims, self.element, sizes_of(like))
            type_ = tensor(like.dims, self.element)
            with text.region() as lines:
                for loop in self.loops:  # linalg.index stands in the body itself
                    text(loop)
                lines.append(f"linalg.yield {text(result)} : {self.element}")
            map_ = identity(rank)
            ins = f"ins({source} : {self.ids.type}) " if self.ids else ""
            block = f"%p: {self.ids.element}, " if self.ids else ""
            maps = ", ".join([map_] * (2 if self.ids else 1))
            inside = "\n".join(lines)
            return text.op(
                "g",
                f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{parallel(rank)}]}} {ins}outs({empty} : {type_}) "
                f"{{\n^bb0({block}%o: {self.element}):\n{inside}\n}} -> {type_}",
            )

        def value(env: Env) -> np.ndarray:
            for node in needs:
                env(node)
            shape = env(like).shape
            made = np.zeros(shape, KINDS[self.element])
            for at in np.ndindex(*shape):
                known: dict[Node, object] = dict(zip(self.loops, at, strict=True))
                if self.read is not None:
                    known[self.read] = int(env(self.ids)[at])
                made[at] = env.inner(known)(result)
            return made

        return array(like.dims, self.element, write, value)


def body_around(d: Draw, rank: int, element: str, depth: int) -> tuple[Body, list[Node]]:
    """A body over a tensor of indices (or over a shape alone), and the tables that it may read."""
    if d.number(0, 2):
        ids = d.array_argument(
            [d.pick((None, d.number(1, 4))) for _ in range(rank)], d.pick(("i32", "i64", "i8")), True
        )
        body = Body(d, ids, element, ids)
    else:
        body = Body(d, given(d, rank, element), element, None)
    return body, [tree(d, d.number(1, 2), element, depth - 1)]


@makes
def looked_up(d: Draw, rank: int, element: str, depth: int) -> Node:
    body, tables = body_around(d, rank, element, depth)
    table = tables[0]
    outside = integer(d, "index", 1)
    leaves = [*body.leaves, outside] if d.one_in(3) else body.leaves
    at = [body_index(d, leaves, tables) for _ in table.dims]
    return body.made(read(table, at), [*tables, outside, *(s for t in tables for s in sizes_of(t))])


@makes
def looked_up_under_if(d: Draw, rank: int, element: str, depth: int) -> Node:
    body, tables = body_around(d, rank, element, depth)
    table = tables[0]
    outside = condition(d, 1)
    here = compare(d.pick(("slt", "ult", "sge", "ne")), d.pick(body.loops), constant(d.number(0, 3)))
    test = d.pick((outside, here, _within(d, body, table)))
    at = [body_index(d, body.leaves, tables, 1) for _ in table.dims]
    taken, other = read(table, at), _number(element)

    def write(text: Text) -> str:
        given_, parts = text(test), []
        for side in (taken, other):
            with text.region() as lines:
                lines.append(f"scf.yield {text(side)} : {element}")
            parts.append("\n".join(lines))
        return text.op("k", f"scf.if {given_} -> ({element}) {{\n{parts[0]}\n}} else {{\n{parts[1]}\n}}")

    result = Node(element, write, lambda env: env(taken) if env(test) else env(other))
    return body.made(result, [*tables, outside, *(s for t in tables for s in sizes_of(t))])


def _within(d: Draw, body: Body, table: Node) -> Node:
    return compare("ult", body_index(d, body.leaves, [table], 0), dim(table, 0))


def _number(element: str) -> Node:
    made = constant(7, element)
    if element[0] == "f":
        made.write = lambda text: text.op("z", f"arith.constant 7.0 : {element}")
    return made


@makes
def summed_in_a_body(d: Draw, rank: int, element: str, depth: int) -> Node:
    """A scf.for in the body reads a table at its counter, or beside it."""
    body, tables = body_around(d, rank, element, depth)
    table = tree(d, 1, element, depth - 1)
    tables.append(table)
    top = d.pick((dim(table, 0), integer(d, "index", 1), constant(d.number(1, 3)), d.pick(body.loops)))
    round_ = inner("index", "%r")
    beside = d.pick(
        (round_, round_, binary("addi", round_, d.pick(body.loops)), binary("muli", round_, constant(2)))
    )
    element_read = read(table, [beside])
    add = "addf" if element[0] == "f" else "addi"

    def write(text: Text) -> str:
        low, high, step = text.constant(0), text(top), text.constant(1)
        zero = text.op("z", f"arith.constant {'0.0' if element[0] == 'f' else '0'} : {element}")
        with text.region() as lines:
            got = text(element_read)
            total = text.op("u", f"arith.{add} %a, {got} : {element}")
            lines.append(f"scf.yield {total} : {element}")
        inside = "\n".join(lines)
        return text.op(
            "w",
            f"scf.for %r = {low} to {high} step {step} iter_args(%a = {zero}) -> ({element}) {{\n{inside}\n}}",
        )

    def value(env: Env):
        total = KINDS[element](0)
        if env(top) > 4096:
            raise Undefined
        with np.errstate(all="ignore"):
            for i in range(env(top)):
                total = KINDS[element](total + KINDS[element](env.inner({round_: i})(element_read)))
        return total if element[0] == "f" else int(total)

    result = Node(element, write, value)
    outside = [top] if top not in body.loops else []
    return body.made(result, [*tables, *outside, *(s for t in tables for s in sizes_of(t))])


def index_tensor(d: Draw, dims, element: str) -> Node:
    """Indices that the caller passes, or that ops compute of those: a choice, a cast, a slice, a concatenation."""
    given_ = d.array_argument(dims, element, True)
    how = d.pick(("given", "given", "given", "from end", "clamped", "iota"))
    if how == "given":
        return given_
    body = Body(d, given_, element, given_)
    k = d.number(1, 4)
    if how == "from end":
        result = choose(
            compare("slt", body.read, constant(0, element)),
            binary("addi", body.read, constant(k, element)),
            body.read,
        )
    elif how == "clamped":
        result = binary("maxsi", binary("minsi", body.read, constant(k, element)), constant(0, element))
    else:
        result = cast(d, binary("muli", body.loops[0], constant(d.pick((1, 1, 2)))), element)
    return body.made(result, [])


@makes
def gathered(d: Draw, rank: int, element: str, depth: int) -> Node:
    """iree_linalg_ext.gather of rows or elements, by one index or two, with and without a mask."""
    deep = d.pick((1, 1, 2))
    whole = (
        tree(d, rank - 1 + deep, element, depth - 1)
        if rank - 1 + deep <= 3
        else tree(d, rank, element, depth - 1)
    )
    deep = len(whole.dims) - rank + 1
    count = d.pick((None, d.number(1, 4)))
    ids = index_tensor(d, (count,) if deep == 1 and d.one_in(2) else (count, deep), d.pick(("i32", "i64")))
    masked = d.one_in(3)
    mask = d.array_argument((count,), "i1") if masked else None
    dims = (count, *whole.dims[deep:])
    sizes = ([dim(ids, 0)] if count is None else []) + [
        dim(whole, i) for i in range(deep, len(whole.dims)) if whole.dims[i] is None
    ]

    def value(env: Env) -> np.ndarray:
        at, source = env(ids).reshape(len(env(ids)), deep), env(whole)
        kept = env(mask).astype(bool) if mask else np.ones(len(at), bool)
        require(len(kept) == len(at))
        for i in range(deep):
            require(bool(np.all((at[kept, i] >= 0) & (at[kept, i] < source.shape[i]))))
        made = np.full((len(at), *source.shape[deep:]), 3, KINDS[element])
        for i in np.flatnonzero(kept):
            made[i] = source[tuple(int(v) for v in at[i][:deep])]
        return made

    def write(text: Text) -> str:
        out = filled(text, dims, element, sizes, 3)
        names, types = [text(whole), text(ids)], [whole.type, ids.type]
        if mask:
            names, types = [*names, text(mask)], [*types, mask.type]
        return text.op(
            "r",
            f"iree_linalg_ext.gather dimension_map = {list(range(deep))} ins({', '.join(names)} : {', '.join(types)}) "
            f"outs({out} : {tensor(dims, element)}) -> {tensor(dims, element)}",
        )

    return array(dims, element, write, value)


@makes
def scattered(d: Draw, rank: int, element: str, depth: int) -> Node:
    """iree_linalg_ext.scatter: replaces, or adds up."""
    whole = tree(d, rank, element, depth - 1)
    deep = d.number(1, min(rank, 2))
    count = d.pick((None, d.number(1, 3)))
    ids = index_tensor(d, (count, deep), d.pick(("i32", "i64")))
    update = d.array_argument((count, *whole.dims[deep:]), element)
    add = d.one_in(2)

    def value(env: Env) -> np.ndarray:
        at, given_, into = env(ids), env(update), env(whole).copy()
        require(len(at) == len(given_))
        require(all(a <= b for a, b in zip(given_.shape[1:], into.shape[deep:], strict=True)))
        for i in range(deep):
            require(bool(np.all((at[:, i] >= 0) & (at[:, i] < into.shape[i]))))
        if len({tuple(row) for row in at.tolist()}) < len(at):
            raise Undefined
        for row, new in zip(at.tolist(), given_, strict=True):
            where = (*row, *(slice(0, s) for s in new.shape))
            into[where] = into[where] + new if add else new
        return into

    def write(text: Text) -> str:
        op = "addf" if element[0] == "f" else "addi"
        inside = f"%s = arith.{op} %a, %b : {element}\niree_linalg_ext.yield %s : {element}"
        if not add:
            inside = f"iree_linalg_ext.yield %a : {element}"
        return text.op(
            "r",
            f"iree_linalg_ext.scatter dimension_map = {list(range(deep))} unique_indices(true) "
            f"ins({text(update)}, {text(ids)} : {update.type}, {ids.type}) outs({text(whole)} : {whole.type}) {{\n"
            f"^bb0(%a: {element}, %b: {element}):\n{inside}\n}} -> {whole.type}",
        )

    return array(whole.dims, element, write, value)
