"""A function of tensor and linalg ops as MLIR text, op by op: several results, any maps, an unknown first dimension.

`linalg_text.py` writes transformer blocks, by the layer; this writes single patterns, by the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    name: str
    shape: Shape
    element: str
    dynamic: bool = False
    """Whether the first dimension is written ``?``."""

    @property
    def type(self) -> str:
        dims = ["?" if self.dynamic and i == 0 else str(d) for i, d in enumerate(self.shape)]
        return "tensor<" + "".join(f"{d}x" for d in dims) + f"{self.element}>"


class Program:
    """A function under construction: each method appends ops."""

    def __init__(self) -> None:
        self.arguments: list[Value] = []
        self.lines: list[str] = []

    def fresh(self, shape: Sequence[int], element: str, dynamic: bool = False) -> Value:
        return Value(f"%v{len(self.lines)}", tuple(shape), element, dynamic)

    def argument(self, shape: Sequence[int], element: str, dynamic: bool = False) -> Value:
        value = Value(f"%a{len(self.arguments)}", tuple(shape), element, dynamic)
        self.arguments.append(value)
        return value

    def constant(self, number: float, element: str) -> str:
        name = f"%c{len(self.lines)}"
        text = f"{number:.6e}" if element[0] in "bf" else str(int(number))
        self.lines.append(f"{name} = arith.constant {text} : {element}")
        return name

    def empty(self, shape: Sequence[int], element: str, like: Value | None = None) -> Value:
        size = ""
        if like is not None and like.dynamic:
            zero, count = f"%z{len(self.lines)}", f"%d{len(self.lines)}"
            self.lines += [
                f"{zero} = arith.constant 0 : index",
                f"{count} = tensor.dim {like.name}, {zero} : {like.type}",
            ]
            size = count
        value = self.fresh(shape, element, bool(size))
        self.lines.append(f"{value.name} = tensor.empty({size}) : {value.type}")
        return value

    def filled(
        self, shape: Sequence[int], element: str, number: float = 0.0, like: Value | None = None
    ) -> Value:
        start = self.constant(number, element)
        out = self.empty(shape, element, like)
        value = self.fresh(shape, element, out.dynamic)
        self.lines.append(
            f"{value.name} = linalg.fill ins({start} : {element}) outs({out.name} : {out.type}) -> {out.type}"
        )
        return value

    def named(self, op: str, values: Sequence[Value], out: Value, attributes: str = "") -> Value:
        result = self.fresh(out.shape, out.element, out.dynamic)
        given, types = ", ".join(v.name for v in values), ", ".join(v.type for v in values)
        self.lines.append(
            f"{result.name} = {op} {attributes} ins({given} : {types}) outs({out.name} : {out.type}) -> {out.type}"
        )
        return result

    def generic(
        self,
        values: Sequence[tuple[Value, Sequence[int]]],
        outs: Sequence[tuple[Value, Sequence[int]]],
        loops: int,
        body: Sequence[str],
        yielded: Sequence[str],
    ) -> list[Value]:
        """Each operand with the loops that index it; loops of no output are reductions. Block names: %i0…, %o0…"""
        letters = [f"d{i}" for i in range(loops)]
        maps = [
            f"affine_map<({', '.join(letters)}) -> ({', '.join(letters[a] for a in axes)})>"
            for _, axes in [*values, *outs]
        ]
        kept = {a for _, axes in outs for a in axes}
        kinds = ", ".join('"parallel"' if i in kept else '"reduction"' for i in range(loops))
        block = ", ".join(
            [f"%i{n}: {v.element}" for n, (v, _) in enumerate(values)]
            + [f"%o{n}: {v.element}" for n, (v, _) in enumerate(outs)]
        )
        results = [self.fresh(v.shape, v.element, v.dynamic) for v, _ in outs]
        name = results[0].name
        if len(results) > 1:
            results = [Value(f"{name}#{n}", r.shape, r.element, r.dynamic) for n, r in enumerate(results)]
        types = ", ".join(r.type for r in results)
        ins = (
            f"ins({', '.join(v.name for v, _ in values)} : {', '.join(v.type for v, _ in values)}) "
            if values
            else ""
        )
        self.lines.append(
            f"{name}{f':{len(results)}' if len(results) > 1 else ''} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{kinds}]}} {ins}"
            f"outs({', '.join(v.name for v, _ in outs)} : {', '.join(v.type for v, _ in outs)}) {{\n  ^bb0({block}):\n"
            + "".join(f"    {line}\n" for line in body)
            + f"    linalg.yield {', '.join(yielded)} : {', '.join(v.element for v, _ in outs)}\n"
            + f"  }} -> {types if len(results) == 1 else f'({types})'}"
        )
        return results

    def pointwise(
        self,
        values: Sequence[tuple[Value, Sequence[int]]],
        shape: Sequence[int],
        element: str,
        body: Sequence[str],
    ) -> Value:
        """One value per element; the body ends in %r."""
        whole = list(range(len(shape)))
        like = next((v for v, axes in values if v.dynamic), None)
        out = self.empty(shape, element, like)
        return self.generic(values, [(out, whole)], len(shape), body, ["%r"])[0]

    def text(self, results: Sequence[Value]) -> str:
        given = ", ".join(f"{v.name}: {v.type}" for v in self.arguments)
        types = ", ".join(v.type for v in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        return (
            f"func.func @main({given}) -> ({types}) {{\n{body}"
            f"  return {', '.join(v.name for v in results)} : {types}\n}}\n"
        )
