"""Random programs that allocate and never release: branches, loops, views, calls, blocks, several uses of one buffer.

Each is a module of MLIR text with a function `main(%c: i1, %d: i1, %n: index) -> f32` (with more results where a buffer is
returned) that reads everything it computes. Equal seeds give equal programs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .callees import HELPERS

KIND = "memref<8xf32>"
VIEW = "memref<4xf32, strided<[1], offset: 2>>"


@dataclass(frozen=True)
class Program:
    """``text`` of a module; ``straight``: without any control flow or call."""

    seed: int
    text: str
    straight: bool


@dataclass
class _Scope:
    """What may be used at this point, innermost names last."""

    buffers: list[str]
    numbers: list[str]
    depth: int
    lines: list[str] = field(default_factory=list)

    def inner(self) -> _Scope:
        return _Scope(list(self.buffers), list(self.numbers), self.depth + 1)


class _Writer:
    def __init__(self, seed: int, straight: bool, dynamic: bool) -> None:
        self.random = random.Random(seed)
        self.straight = straight
        self.dynamic = dynamic
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"%{letter}{self.count}"

    def run(self) -> tuple[str, str]:
        """The body of main, and what it returns besides the number."""
        scope = _Scope([], ["%f1", "%f2"], 0)
        self.alloc(scope)
        for _ in range(self.random.randint(4, 9)):
            self.statement(scope)
        kept = ""
        if not self.straight and self.random.random() < 0.25:
            kept = self.own(scope)
        self.load(scope, scope.buffers[-1])
        total = scope.numbers[-1]
        if not self.straight and self.random.random() < 0.25 and not kept:
            ending = self.random.choice((self.blocks, self.blocks, self.one_block_for_many))
            scope.lines += ending(scope, total)
        else:
            end = f", {kept} : f32, {KIND}" if kept else " : f32"
            scope.lines.append(f"return {total}{end}")
        return "\n".join("  " + line for line in scope.lines), kept

    def statement(self, scope: _Scope) -> None:
        plain = [
            self.alloc,
            self.alloc,
            self.copy,
            self.copy,
            self.any_load,
            self.store,
            self.view,
            self.generic,
        ]
        rich = [
            self.select,
            self.if_,
            self.if_,
            self.if_result,
            self.if_result,
            self.for_,
            self.for_carried,
            self.for_carried,
            self.while_,
            self.call,
            self.call,
        ]
        chosen = plain if self.straight or scope.depth > 2 else plain + rich
        self.random.choice(chosen)(scope)

    # Straight-line ops

    def alloc(self, scope: _Scope) -> None:
        scope.buffers.append(self.own(scope))

    def own(self, scope: _Scope) -> str:
        """A new buffer with content."""
        name = self.fresh("m")
        scope.lines.append(f"{name} = memref.alloc() : {KIND}")
        number = self.random.choice(scope.numbers)
        scope.lines.append(f"linalg.fill ins({number} : f32) outs({name} : {KIND})")
        return name

    def buffer(self, scope: _Scope) -> str:
        return self.random.choice(scope.buffers)

    def copy(self, scope: _Scope) -> None:
        scope.lines.append(f"memref.copy {self.buffer(scope)}, {self.buffer(scope)} : {KIND} to {KIND}")

    def any_load(self, scope: _Scope) -> None:
        self.load(scope, self.buffer(scope))

    def load(self, scope: _Scope, buffer: str, kind: str = KIND) -> None:
        one, total = self.fresh("l"), self.fresh("s")
        scope.lines.append(f"{one} = memref.load {buffer}[%c{self.random.randint(0, 3)}] : {kind}")
        scope.lines.append(f"{total} = arith.addf {scope.numbers[-1]}, {one} : f32")
        scope.numbers.append(total)

    def store(self, scope: _Scope) -> None:
        number = self.random.choice(scope.numbers)
        scope.lines.append(
            f"memref.store {number}, {self.buffer(scope)}[%c{self.random.randint(0, 3)}] : {KIND}"
        )

    def view(self, scope: _Scope) -> None:
        name = self.fresh("v")
        scope.lines.append(f"{name} = memref.subview {self.buffer(scope)}[2] [4] [1] : {KIND} to {VIEW}")
        if self.random.random() < 0.5:
            self.copy(scope)
        self.load(scope, name, VIEW)

    def generic(self, scope: _Scope) -> None:
        lines = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins({self.buffer(scope)} : {KIND}) outs({self.buffer(scope)} : {KIND}) {{
^bb0(%x: f32, %y: f32):
  %z = arith.addf %x, %y : f32
  linalg.yield %z : f32
}}"""
        scope.lines += lines.split("\n")

    # Control flow and calls

    def select(self, scope: _Scope) -> None:
        name = self.fresh("p")
        scope.lines.append(
            f"{name} = arith.select {self.condition()}, {self.buffer(scope)}, {self.buffer(scope)} : {KIND}"
        )
        scope.buffers.append(name)

    def condition(self) -> str:
        return self.random.choice(("%c", "%d"))

    def nested(self, scope: _Scope, least: int = 0) -> _Scope:
        inner = scope.inner()
        for _ in range(self.random.randint(least, 3)):
            self.statement(inner)
        return inner

    def block(self, inner: _Scope, last: str = "") -> list[str]:
        return ["  " + line for line in (*inner.lines, *([last] if last else []))]

    def if_(self, scope: _Scope) -> None:
        scope.lines.append(f"scf.if {self.condition()} {{")
        scope.lines += self.block(self.nested(scope, 1))
        if self.random.random() < 0.5:
            scope.lines.append("} else {")
            scope.lines += self.block(self.nested(scope))
        scope.lines.append("}")

    def given(self, inner: _Scope, outer: _Scope) -> str:
        """What a region yields: something new, or something from outside."""
        if self.dynamic and self.random.random() < 0.4:
            return self.buffer(outer)
        if len(inner.buffers) > len(outer.buffers) and self.random.random() < 0.3:
            made = [b for b in inner.buffers if b not in outer.buffers and b.startswith("%m")]
            if made:
                return made[-1]
        return self.own(inner)

    def if_result(self, scope: _Scope) -> None:
        name = self.fresh("r")
        scope.lines.append(f"{name} = scf.if {self.condition()} -> {KIND} {{")
        for part in range(2):
            inner = self.nested(scope)
            if self.random.random() < 0.3:
                value = self.buffer(scope)  # from outside: the other branch decides whether it is given away
            else:
                value = self.given(inner, scope)
            scope.lines += self.block(inner, f"scf.yield {value} : {KIND}")
            scope.lines.append("}" if part else "} else {")
        scope.buffers.append(name)

    def bounds(self) -> str:
        return self.random.choice(("%c0 to %n step %c1", "%c0 to %n step %c1", "%c0 to %c2 step %c1"))

    def for_(self, scope: _Scope) -> None:
        scope.lines.append(f"scf.for {self.fresh('i')} = {self.bounds()} {{")
        scope.lines += self.block(self.nested(scope, 1))
        scope.lines.append("}")

    def for_carried(self, scope: _Scope) -> None:
        name, one, two = self.fresh("w"), self.fresh("q"), self.fresh("q")
        first, second = self.own(scope), self.own(scope)
        kinds = f"({KIND}, {KIND})"
        scope.lines.append(
            f"{name}:2 = scf.for {self.fresh('i')} = {self.bounds()} iter_args({one} = {first}, {two} = {second}) -> {kinds} {{"
        )
        inner = scope.inner()
        inner.buffers += [one, two]
        for _ in range(self.random.randint(1, 3)):
            self.statement(inner)
        way = self.random.randint(0, 3)
        if way == 0:
            values = (two, one)
        elif way == 1:
            values = (one, two)
        elif way == 2:
            values = (self.own(inner), one)
        else:
            values = (self.own(inner), self.own(inner))
        scope.lines += self.block(inner, f"scf.yield {values[0]}, {values[1]} : {KIND}, {KIND}")
        scope.lines.append("}")
        scope.buffers += [f"{name}#0", f"{name}#1"]

    def while_(self, scope: _Scope) -> None:
        name, i, j, k, q = (self.fresh(x) for x in "wijkq")
        first = self.own(scope)
        kinds = f"(index, {KIND})"
        scope.lines.append(f"{name}:2 = scf.while ({i} = %c0, {q} = {first}) : {kinds} -> {kinds} {{")
        inner = scope.inner()
        inner.buffers.append(q)
        if self.random.random() < 0.5:
            self.statement(inner)
        test = self.fresh("t")
        inner.lines.append(f"{test} = arith.cmpi slt, {i}, %n : index")
        scope.lines += self.block(inner, f"scf.condition({test}) {i}, {q} : index, {KIND}")
        b = self.fresh("q")
        scope.lines += ["} do {", f"^bb0({j}: index, {b}: {KIND}):"]
        inner = scope.inner()
        inner.buffers.append(b)
        self.statement(inner)
        value = b if self.random.random() < 0.4 else self.own(inner)
        inner.lines.append(f"{k} = arith.addi {j}, %c1 : index")
        scope.lines += self.block(inner, f"scf.yield {k}, {value} : index, {KIND}")
        scope.lines.append("}")
        scope.buffers.append(f"{name}#1")

    def call(self, scope: _Scope) -> None:
        which = self.random.randint(0, 6)
        name = self.fresh("h")
        number = self.random.choice(scope.numbers)
        if which == 0:
            scope.lines.append(f"{name} = func.call @fresh({number}) : (f32) -> {KIND}")
        elif which == 1:
            scope.lines.append(f"{name} = func.call @same({self.buffer(scope)}) : ({KIND}) -> {KIND}")
        elif which == 2:
            scope.lines.append(
                f"{name} = func.call @pick({self.condition()}, {number}) : (i1, f32) -> {KIND}"
            )
        elif which == 3:
            both = f"{self.buffer(scope)}, {self.buffer(scope)}"
            scope.lines.append(
                f"{name} = func.call @either({self.condition()}, {both}) : (i1, {KIND}, {KIND}) -> {KIND}"
            )
        elif which in (4, 5):
            of, first = ("twice", KIND) if which == 4 else ("parts", VIEW)
            scope.lines.append(f"{name}:2 = func.call @{of}({number}) : (f32) -> ({first}, {KIND})")
            load = self.fresh("l")
            scope.lines.append(f"{load} = memref.load {name}#0[%c1] : {first}")
            scope.numbers.append(load)
            name = self.random.choice((f"{name}#0", f"{name}#1")) if which == 4 else f"{name}#1"
        else:
            scope.lines.append(f"{name} = func.call @first({self.buffer(scope)}) : ({KIND}) -> f32")
            scope.numbers.append(name)
            return
        scope.buffers.append(name)

    def blocks(self, scope: _Scope, total: str) -> list[str]:
        """An ending with blocks: a diamond that hands a buffer on, a loop of blocks, and an early exit."""
        a, b, r, early = self.own(scope), self.fresh("b"), self.fresh("x"), self.buffer(scope)
        x = [self.fresh("x") for _ in range(6)]
        new = self.random.random() < 0.5
        loop = self.random.random() < 0.5
        lines = [
            f"cf.cond_br {self.condition()}, ^left({a} : {KIND}), ^right",
            f"^left({b}: {KIND}):",
            f"  {x[0]} = memref.load {b}[%c0] : {KIND}",
            f"  {x[1]} = arith.addf {total}, {x[0]} : f32",
            f"  cf.cond_br {self.condition()}, ^out({x[1]} : f32), ^meet({b}, {x[1]} : {KIND}, f32)",
            "^right:",
        ]
        other = a
        if new:
            other = self.fresh("m")
            lines += [
                f"  {other} = memref.alloc() : {KIND}",
                f"  memref.copy {early}, {other} : {KIND} to {KIND}",
            ]
        lines += [f"  cf.br ^meet({other}, {total} : {KIND}, f32)", f"^meet({r}: {KIND}, {x[2]}: f32):"]
        if loop:
            i, k, t, o = self.fresh("i"), self.fresh("k"), self.fresh("t"), self.fresh("m")
            y, z = self.fresh("x"), self.fresh("x")
            lines += [
                f"  cf.br ^head(%c0, {r}, {x[2]} : index, {KIND}, f32)",
                f"^head({i}: index, {y}: {KIND}, {z}: f32):",
                f"  {t} = arith.cmpi slt, {i}, %n : index",
                f"  cf.cond_br {t}, ^body, ^done",
                "^body:",
                f"  {o} = memref.alloc() : {KIND}",
                f"  memref.copy {y}, {o} : {KIND} to {KIND}",
                f"  {k} = arith.addi {i}, %c1 : index",
                f"  cf.br ^head({k}, {o}, {z} : index, {KIND}, f32)",
                "^done:",
            ]
            r, x[2] = y, z
        lines += [
            f"  {x[3]} = memref.load {r}[%c1] : {KIND}",
            f"  {x[4]} = arith.addf {x[2]}, {x[3]} : f32",
            f"  cf.br ^out({x[4]} : f32)",
            f"^out({x[5]}: f32):",
            f"  return {x[5]} : f32",
        ]
        return lines

    def one_block_for_many(self, scope: _Scope, total: str) -> list[str]:
        """An ending where several edges of one branch go to the same block: with other buffers, and with none."""
        a, b, r = self.own(scope), self.own(scope), self.fresh("b")
        x = [self.fresh("x") for _ in range(3)]
        if self.random.random() < 0.5:
            branch = f"cf.cond_br {self.condition()}, ^meet({a} : {KIND}), ^meet({b} : {KIND})"
            none: list[str] = []
        else:
            branch = f"cf.switch {x[2]} : i32, [default: ^none, 0: ^meet({a} : {KIND}), 1: ^meet({b} : {KIND}), 2: ^none]"
            none = ["^none:", f"  return {total} : f32"]
            scope.lines.append(f"{x[2]} = arith.index_cast %n : index to i32")
        return [
            branch,
            f"^meet({r}: {KIND}):",
            f"  {x[0]} = memref.load {r}[%c0] : {KIND}",
            f"  {x[1]} = arith.addf {total}, {x[0]} : f32",
            f"  return {x[1]} : f32",
            *none,
        ]


def _helpers() -> dict[str, str]:
    """The functions that main may call, by name."""
    texts = ["func.func" + text for text in HELPERS.split("func.func") if text]
    return {text.split("@")[1].split("(")[0]: text for text in texts}


def program(seed: int, straight: bool = False, dynamic: bool = False) -> Program:
    """The program of a seed. ``dynamic``: whether a path decides who owns a buffer, in places."""
    writer = _Writer(seed, straight, dynamic)
    body, kept = writer.run()
    results = f"(f32, {KIND})" if kept else "f32"
    constants = "\n".join(f"  %c{i} = arith.constant {i} : index" for i in range(4))
    numbers = "  %f1 = arith.constant 1.5 : f32\n  %f2 = arith.constant -0.25 : f32"
    helpers, called = "", body
    for name, helper in reversed(_helpers().items()):
        if f"call @{name}(" in called:
            helpers, called = helper + helpers, called + helper
    text = f"{helpers}func.func @main(%c: i1, %d: i1, %n: index) -> {results} {{\n{constants}\n{numbers}\n{body}\n}}\n"
    return Program(seed, text, straight)
