"""A random program as it grows: its values, ops and functions, and the small texts that ops are made of."""

from __future__ import annotations

import random
from dataclasses import dataclass

from bench.programs.text.spelling import spelled

FLOATS, INTEGERS = ("f32", "f32", "f16", "bf16", "f64"), ("i8", "i16", "i32", "i64", "i1")
BITS_FIRST = ("i1", "i8", "i16", "i32", "i64")
"""The integers in the order that `families` draws in: a seed keeps its program."""
SMALL = ("i4", "i2", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")
SIZES = (1, 2, 3, 4, 7, 8, 16, 17, 32)
DYNAMIC = -1
"""A size that is known at run time."""


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        sizes = "".join("?x" if n < 0 else f"{n}x" for n in self.shape)
        return f"tensor<{sizes}{self.element}>"

    @property
    def is_float(self) -> bool:
        return "f" in self.element


class Program:
    """A function that grows op by op. Every op returns a new value."""

    def __init__(self, draw: random.Random, name: str = "main") -> None:
        self.draw = draw
        self.name = name
        self.lines: list[str] = []
        self.arguments: list[Value] = []
        self.values: list[Value] = []
        self.kinds: list[str] = []
        self.functions: list[str] = []
        self.results: list[Value] = []
        self._count = 0

    def text(self) -> str:
        results = self.values[-1:] + (
            [v]
            if self.draw.random() < 0.3 and (v := self.draw.choice(self.values)) not in self.arguments
            else []
        )
        results = list(dict.fromkeys([*results, *self.results[:1]]))
        types = ", ".join(v.type for v in results)
        head = f"func.func @{self.name}({', '.join(f'{v.name}: {v.type}' for v in self.arguments)}) -> ({types}) {{"
        ended = f"  return {', '.join(v.name for v in results)} : {types}"
        return spelled("\n".join([*self.functions, head, *self.lines, ended, "}", ""]))

    def argument(self, shape: tuple[int, ...], element: str) -> Value:
        value = Value(f"%a{len(self.arguments)}", shape, element)
        self.arguments.append(value)
        self.values.append(value)
        return value

    def op(self, text: str, shape: tuple[int, ...], element: str) -> Value:
        """Adds ``%v = text`` and returns its value."""
        value = self._named(shape, element)
        self.lines.append(f"  {value.name} = {text}")
        self.values.append(value)
        return value

    def hidden(self, text: str, shape: tuple[int, ...], element: str) -> Value:
        """An op whose result no later op picks by chance."""
        value = self.op(text, shape, element)
        self.values.pop()
        return value

    def filled(self, shape: tuple[int, ...], element: str, number: str = "") -> Value:
        scalar = self._named((), element)
        self.lines.append(f"  {scalar.name} = arith.constant {zero_of(element, number)}")
        empty = self.hidden(f"tensor.empty() : {Value('', shape, element).type}", shape, element)
        return self.hidden(
            f"linalg.fill ins({scalar.name} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}",
            shape,
            element,
        )

    def like(self, value: Value) -> Value:
        """A value of the same type: an old one, or a new argument."""
        same = [v for v in self.values if v.type == value.type]
        return (
            self.draw.choice(same) if self.draw.random() < 0.6 else self.argument(value.shape, value.element)
        )

    def _named(self, shape: tuple[int, ...], element: str) -> Value:
        self._count += 1
        return Value(f"%v{self._count}", shape, element)


def zero_of(element: str, number: str = "") -> str:
    """Zero, or ``number``, as `arith.constant` takes it."""
    return "false" if element == "i1" else f"{number or ('0.0' if 'f' in element else '0')} : {element}"


def sum_op(v: Value) -> str:
    return "arith.addf" if v.is_float else "arith.xori" if v.element == "i1" else "arith.addi"


def dims(v: Value) -> str:
    return ", ".join(f"d{n}" for n in range(len(v.shape)))


def tensor_type(v: Value, shape: tuple[int, ...], element: str) -> str:
    return type(v)("", shape, element).type


def unnamed_argument(p: Program, shape: tuple[int, ...], element: str) -> Value:
    """A new argument that no later op picks by chance."""
    value = p.argument(shape, element)
    p.values.remove(value)
    return value


def empty(p: Program, v: Value, shape: tuple[int, ...], element: str) -> Value:
    """An empty tensor."""
    return p.hidden(f"tensor.empty() : {type(v)('', shape, element).type}", shape, element)


def generic(maps: list[str], iterators: list[str], inputs: list[Value], out: Value, body: str) -> str:
    """A `linalg.generic` of one result."""
    spelled = ", ".join(f"affine_map<{m}>" for m in maps)
    kinds = ", ".join(f'"{i}"' for i in iterators)
    return (f"linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{kinds}]}} "
            f"ins({', '.join(v.name for v in inputs)} : {', '.join(v.type for v in inputs)}) outs({out.name} : {out.type}) {{\n{body}  }} -> {out.type}")  # fmt: skip


def first_result(p: Program, text: str, like: Value) -> Value:
    """The op ``text`` of two results, the first of which is like ``like``; the other is a result of the program sometimes."""
    pair = p.hidden(text, like.shape, like.element)
    p.lines[-1] = p.lines[-1].replace(f"{pair.name} = ", f"{pair.name}:2 = ", 1)
    result = type(like)(f"{pair.name}#0", like.shape, like.element)
    p.values.append(result)
    return result
