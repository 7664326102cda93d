"""Integers of all widths: arithmetic that wraps, casts between widths, choices, sizes, elements of tensors."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from scene_values import WIDTH, Env, Illegal, Node, Text, Undefined, argument, constant, dim, signed, tensor


class Draw:
    """What one program draws from: its arguments so far, and choices."""

    def __init__(self, draw: Callable) -> None:
        self.draw = draw
        self.arguments: list[Node] = []
        self.names: list[str] = []
        self.index_arrays: set[Node] = set()
        self.ints: list[Node] = []

    def pick(self, choices):
        return self.draw(st.sampled_from(list(choices)))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def one_in(self, n: int) -> bool:
        return self.number(1, n) == n

    def _add(self, node: Node, name: str) -> Node:
        self.arguments.append(node)
        self.names.append(name)
        return node

    def int_argument(self, kind: str) -> Node:
        have = [a for a in self.arguments if a.dims is None and a.type == kind]
        if have and (len(have) > 2 or self.one_in(2)):
            return self.pick(have)
        name = f"%n{len(self.arguments)}"
        return self._add(argument(name, kind), name)

    def array_argument(self, dims, element: str, indices: bool = False) -> Node:
        name = f"%{'t' if indices else 'x'}{len(self.arguments)}"
        made = self._add(argument(name, tensor(dims, element), tuple(dims), element), name)
        if indices:
            self.index_arrays.add(made)
        return made


def unsigned(value: int, bits: int) -> int:
    return value % (1 << bits)


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise Undefined
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shift(compute: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, bits: int) -> int:
        if not 0 <= b < bits:
            raise Undefined
        return compute(a, b)

    return run


def _u(compute: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, bits: int) -> int:
        return compute(unsigned(a, bits), unsigned(b, bits))

    return run


def _s(compute: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    return lambda a, b, _bits: compute(a, b)


def _nonzero(compute):
    def run(a: int, b: int, bits: int) -> int:
        if unsigned(b, bits) == 0 or (b == -1 and a == -(1 << (bits - 1))):
            raise Undefined
        return compute(a, b, bits)

    return run


BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addi": _s(lambda a, b: a + b),
    "subi": _s(lambda a, b: a - b),
    "muli": _s(lambda a, b: a * b),
    "minsi": _s(min),
    "maxsi": _s(max),
    "minui": _u(min),
    "maxui": _u(max),
    "andi": _s(lambda a, b: a & b),
    "ori": _s(lambda a, b: a | b),
    "xori": _s(lambda a, b: a ^ b),
    "divsi": _nonzero(_s(_quotient)),
    "divui": _nonzero(_u(lambda a, b: a // b)),
    "remsi": _nonzero(_s(lambda a, b: a - b * _quotient(a, b))),
    "remui": _nonzero(_u(lambda a, b: a % b)),
    "floordivsi": _nonzero(_s(lambda a, b: a // b)),
    "ceildivsi": _nonzero(_s(lambda a, b: -(-a // b))),
    "ceildivui": _nonzero(_u(lambda a, b: -(-a // b))),
    "shli": _shift(lambda a, b: a << b),
    "shrsi": _shift(lambda a, b: a >> b),
    "shrui": lambda a, b, bits: _shift(lambda x, y: unsigned(x, bits) >> y)(a, b, bits),
}
TAME = ("addi", "subi", "minsi", "maxsi", "minui", "andi", "divui", "remui", "floordivsi", "remsi")
PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}


def compared(predicate: str, a: int, b: int, bits: int) -> bool:
    if predicate[0] == "u":
        a, b, predicate = unsigned(a, bits), unsigned(b, bits), "s" + predicate[1:]
    return PREDICATES[predicate](a, b)


def binary(name: str, a: Node, b: Node) -> Node:
    bits = WIDTH[a.type]
    return Node(
        a.type,
        lambda text: text.op("e", f"arith.{name} {text(a)}, {text(b)} : {a.type}"),
        lambda env: signed(BINARY[name](env(a), env(b), bits), bits),
    )


def compare(predicate: str, a: Node, b: Node) -> Node:
    return Node(
        "i1",
        lambda text: text.op("b", f"arith.cmpi {predicate}, {text(a)}, {text(b)} : {a.type}"),
        lambda env: int(compared(predicate, env(a), env(b), WIDTH[a.type])),
    )


def choose(condition: Node, a: Node, b: Node) -> Node:
    return Node(
        a.type,
        lambda text: text.op("s", f"arith.select {text(condition)}, {text(a)}, {text(b)} : {a.type}"),
        lambda env: env(a) if env(condition) else env(b),
    )


def cast(d: Draw, of: Node, kind: str) -> Node:
    """``of`` as another type, by any op that does so."""
    if of.type == kind:
        return of
    have, want = WIDTH[of.type], WIDTH[kind]
    if "index" in (of.type, kind):
        name = d.pick(("index_cast", "index_cast", "index_castui"))
    else:
        name = "trunci" if want < have else d.pick(("extsi", "extui"))
        if want == have:
            return of
    zero = name in ("index_castui", "extui")
    return Node(
        kind,
        lambda text: text.op("i", f"arith.{name} {text(of)} : {of.type} to {kind}"),
        lambda env: signed(unsigned(env(of), have) if zero else env(of), want),
    )


def affine(d: Draw, a: Node, b: Node) -> Node:
    """affine.apply, affine.min or affine.max of two numbers; ``b`` as a symbol."""
    k, c = d.number(1, 4), d.number(-2, 3)
    forms = {
        f"d0 * {k} + s0": lambda x, y: x * k + y,
        f"(d0 + {c + 2}) floordiv {k} + s0": lambda x, y: (x + c + 2) // k + y,
        f"(d0 + {c + 2}) ceildiv {k}": lambda x, y: -(-(x + c + 2) // k),
        f"d0 mod {k} + s0": lambda x, y: x % k + y,
        f"s0 - d0 + {c}" if c >= 0 else f"s0 - d0 - {-c}": lambda x, y: y - x + c,
    }
    form = d.pick(sorted(forms))
    which = d.pick(("apply", "min", "max"))
    if which == "apply":
        results, run = form, forms[form]
    else:
        least = d.number(0, 4)
        results = f"{form}, {least}"
        run = lambda x, y: (min if which == "min" else max)(forms[form](x, y), least)  # noqa: E731
    return Node(
        "index",
        lambda text: text.op(
            "a", f"affine.{which} affine_map<(d0)[s0] -> ({results})>({text(a)})[{text(b)}]"
        ),
        lambda env: _exact(run, env(a), env(b)),
    )


def _exact(run: Callable[[int, int], int], a: int, b: int) -> int:
    if max(abs(a), abs(b)) > 1 << 56:  # what an affine op gives where it wraps is not defined
        raise Undefined
    return run(a, b)


def element_of(d: Draw, kind: str, place: Node | None = None) -> Node:
    """An element of a tensor that the caller passes, read on the host."""
    dims = (d.pick((None, 2, 3)),)
    table = d.array_argument(dims, kind, indices=True)
    at = place or constant(d.number(0, 1))

    def value(env: Env) -> int:
        if not 0 <= env(at) < len(env(table)):
            raise Illegal
        return int(env(table)[env(at)])

    return Node(
        kind, lambda text: text.op("v", f"tensor.extract {text(table)}[{text(at)}] : {table.type}"), value
    )


def condition(d: Draw, depth: int = 1, leaf: Callable[[str], Node] | None = None) -> Node:
    kind = d.pick(("index", "i32", "i64")) if leaf is None else d.pick(("index", "i32"))
    make = leaf or (lambda k: integer(d, k, depth - 1))
    predicate = d.pick(("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"))
    return compare(predicate, make(kind), make(kind) if d.one_in(3) else constant(d.number(0, 4), kind))


def integer(d: Draw, kind: str = "index", depth: int = 2, arrays: list[Node] = ()) -> Node:
    """Any integer of type ``kind``."""
    choices = ["argument", "argument", "constant"]
    if arrays and kind == "index":
        choices += ["dim", "dim"]
    if depth > 0:
        choices += ["binary", "binary", "binary", "cast", "select", "if"]
        if kind == "index":
            choices += ["affine"]
        if kind in ("i32", "i64") and d.one_in(2):
            choices += ["element"]
    choice = d.pick(choices)
    if choice == "constant":
        return constant(d.number(0, 5), kind)
    if choice == "dim":
        of = d.pick(arrays)
        return dim(of, d.number(0, len(of.dims) - 1)) if of.dims else constant(1)
    if choice == "binary":
        name = d.pick(TAME if d.number(0, 2) else sorted(BINARY))
        a = integer(d, kind, depth - 1, arrays)
        k = d.number(1, 7) if name not in ("shli", "shrsi", "shrui") else d.number(0, 3)
        return binary(name, a, integer(d, kind, depth - 1, arrays) if d.one_in(3) else constant(k, kind))
    if choice == "cast":
        source = d.pick([k for k in ("index", "i64", "i32", "i16", "i8") if k != kind])
        return cast(d, integer(d, source, depth - 1, arrays), kind)
    if choice == "select":
        return choose(condition(d, depth), *(integer(d, kind, depth - 1, arrays) for _ in range(2)))
    if choice == "if":
        return branch_of_ints(d, kind, depth, arrays)
    if choice == "affine":
        return affine(d, integer(d, kind, depth - 1, arrays), integer(d, kind, depth - 1, arrays))
    if choice == "element":
        return element_of(d, kind)
    return d.int_argument(kind) if kind in ("index", "i64", "i32") else cast(d, d.int_argument("i32"), kind)


def branch_of_ints(d: Draw, kind: str, depth: int, arrays) -> Node:
    test = condition(d, depth)
    sides = [integer(d, kind, depth - 1, arrays) for _ in range(2)]

    def write(text: Text) -> str:
        given, parts = text(test), []
        for side in sides:
            with text.region() as lines:
                lines.append(f"scf.yield {text(side)} : {kind}")
            parts.append("\n".join(lines))
        return text.op("k", f"scf.if {given} -> ({kind}) {{\n{parts[0]}\n}} else {{\n{parts[1]}\n}}")

    return Node(kind, write, lambda env: env(sides[0] if env(test) else sides[1]))


def place(d: Draw, capacity: Node, arrays: list[Node] = (), depth: int = 2) -> Node:
    """An index for a dimension of ``capacity`` places: any, or one that was made to fit by arithmetic."""
    how = d.pick(("any", "any", "any", "clamped", "rest", "less", "masked", "constant"))
    if how == "constant":
        return constant(d.number(0, 3))
    base = integer(d, "index", depth, arrays)
    if how == "clamped":
        top = binary("subi", capacity, constant(d.number(1, 2)))
        return binary("maxsi", binary("minsi", base, top), constant(0))
    if how == "rest":
        return binary("remui", base, binary("maxui", capacity, constant(1)))
    if how == "less":
        return choose(compare(d.pick(("ult", "slt")), base, capacity), base, constant(0))
    if how == "masked":
        return binary("andi", base, constant(d.pick((1, 3))))
    return base
