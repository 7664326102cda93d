"""The table of programs, and how one is written. Everything is seeded.

A program is a function of one op or of a few, in TOSA's generic form. What it computes follows the text of TOSA 1.0, in NumPy, and integers have to be
the same to the last bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

ELEMENTS = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
_TABLE: dict[str, tuple[str, list[np.ndarray], list[np.ndarray]]] = {}


def element_of(array: np.ndarray) -> str:
    return next(name for name, dtype in ELEMENTS.items() if array.dtype == dtype)


def drawn(name: str, shape: Sequence[int], element: str, low: float = -8, high: float = 8) -> np.ndarray:
    """Numbers in ``low`` to ``high``, the same for the same ``name``."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    if element == "i1":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if element in FLOATS:
        return generator.uniform(low, high, shape).astype(ELEMENTS[element])
    return generator.integers(int(low), int(high), shape, endpoint=True).astype(ELEMENTS[element])


def full(name: str, shape: Sequence[int], element: str) -> np.ndarray:
    """Integers over the whole range of ``element``, its two ends among them."""
    limits = np.iinfo(ELEMENTS[element])
    values = drawn(name, shape, "i64", limits.min, limits.max)
    values.flat[:2] = limits.min, limits.max
    return values.astype(ELEMENTS[element])


@dataclass
class Program:
    """A function as it grows. ``open_sizes``: the first size of each argument is left to the call."""

    name: str
    open_sizes: bool = False
    lines: list[str] = field(default_factory=list)
    arguments: list[tuple[str, str, np.ndarray]] = field(default_factory=list)
    count: int = 0

    def argument(self, values: np.ndarray) -> tuple[str, str]:
        """A name and a type, which is how a value is handed on."""
        name = f"%arg{len(self.arguments)}"
        type_ = self.type(values.shape, element_of(values))
        self.arguments.append((name, type_, values))
        return name, type_

    def type(self, shape: Sequence[int], element: str) -> str:
        sizes = [str(size) for size in shape]
        if self.open_sizes and sizes:
            sizes[0] = "?"
        return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"

    def constant(self, values: object, element: str, shape: Sequence[int] | None = None) -> tuple[str, str]:
        array = np.asarray(values)
        sizes = array.shape if shape is None else tuple(shape)
        type_ = f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
        return self.add("tosa.const", [], type_, f"values = dense<{_spelled(array, element)}> : {type_}")

    def shape(self, *sizes: int) -> tuple[str, str]:
        held = f"dense<[{', '.join(map(str, sizes))}]> : tensor<{len(sizes)}xindex>"
        return self.add("tosa.const_shape", [], f"!tosa.shape<{len(sizes)}>", f"values = {held}")

    def add(
        self, op: str, operands: Sequence[tuple[str, str]], type_: str, attributes: str = ""
    ) -> tuple[str, str]:
        return self.add_many(op, operands, [type_], attributes)[0]

    def add_many(
        self, op: str, operands: Sequence[tuple[str, str]], types: Sequence[str], attributes: str = ""
    ) -> list[tuple[str, str]]:
        names = [f"%{self.count + number}" for number in range(len(types))]
        self.count += len(types)
        given, taken = (
            ", ".join(name for name, _type in operands),
            ", ".join(type_ for _name, type_ in operands),
        )
        held = f" <{{{attributes}}}>" if attributes else ""
        made = types[0] if len(types) == 1 else f"({', '.join(types)})"
        self.lines.append(f'  {", ".join(names)} = "{op}"({given}){held} : ({taken}) -> {made}')
        return list(zip(names, types, strict=True))

    def ends(self, results: Sequence[tuple[str, str]], values: Sequence[np.ndarray]) -> None:
        """The function returns ``results``, which are ``values``; it goes to the table."""
        heads = ", ".join(f"{name}: {type_}" for name, type_, _values in self.arguments)
        types = ", ".join(type_ for _name, type_ in results)
        ended = f"  return {', '.join(name for name, _type in results)} : {types}"
        text = "\n".join([f"func.func @main({heads}) -> ({types}) {{", *self.lines, ended, "}", ""])
        assert self.name not in _TABLE, self.name
        _TABLE[self.name] = text, [values for _name, _type, values in self.arguments], list(values)


def _spelled(array: np.ndarray, element: str) -> str:
    if array.ndim == 0:
        return _number(array, element)
    return f"[{', '.join(_spelled(one, element) for one in array)}]"


def _number(value: np.ndarray, element: str) -> str:
    if element == "i1":
        return str(bool(value)).lower()
    return repr(float(value)) if element in FLOATS else str(int(value))


def op(
    name: str,
    operands: Sequence[np.ndarray],
    compute: Callable[..., np.ndarray],
    spelled: str,
    attributes: str = "",
    open_sizes: bool = False,
) -> None:
    """A program of the op ``spelled`` alone, of arguments."""
    program = Program(name, open_sizes)
    given = [program.argument(one) for one in operands]
    with np.errstate(all="ignore"):
        values = compute(*operands)
    made = program.add(f"tosa.{spelled}", given, program.type(values.shape, element_of(values)), attributes)
    program.ends([made], [values])


def programs() -> Iterator[tuple[str, str, list[np.ndarray], list[np.ndarray]]]:
    """Name, text, arguments and results."""
    for name, (text, arguments, results) in _TABLE.items():
        yield name, text, arguments, results
