"""How a function of linalg ops on tensors is written as MLIR text, op by op; at most one dynamic size, the rows of
the first argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Dims = tuple[int | None, ...]


@dataclass(frozen=True)
class Value:
    name: str
    dims: Dims
    element: str

    @property
    def type(self) -> str:
        return "tensor<" + "".join(f"{'?' if d is None else d}x" for d in self.dims) + f"{self.element}>"


class Function:
    """Each method appends ops and returns their result."""

    def __init__(self, name: str, arguments: Sequence[tuple[str, Dims, str]]) -> None:
        self.name = name
        self.values = [Value(f"%{called}", dims, element) for called, dims, element in arguments]
        self._lines: list[str] = []
        self._count = 0
        if None in self.values[0].dims:
            self._lines += [
                "%first = arith.constant 0 : index",
                f"%rows = tensor.dim {self.values[0].name}, %first : {self.values[0].type}",
            ]

    def returning(self, value: Value) -> str:
        """The whole module."""
        given = ", ".join(f"{v.name}: {v.type}" for v in self.values)
        body = "\n".join(f"  {line}" for line in self._lines)
        return f"func.func @{self.name}({given}) -> {value.type} {{\n{body}\n  return {value.name} : {value.type}\n}}\n"

    def pointwise(self, op: str, values: Sequence[Value], per_row: bool = False) -> Value:
        """A binary op; a second value of one dimension has one number per column, or one ``per_row``."""
        first = values[0]
        names = ", ".join(f"%in{i}" for i in range(len(values)))
        return self._generic(
            values, first.dims, first.element, [f"%r = {op} {names} : {first.element}"], per_row
        )

    def scaled(self, x: Value, factor: float) -> Value:
        """f32 of an i32 or f32 value, times a constant."""
        body = ["%f = arith.sitofp %in0 : i32 to f32"] if x.element == "i32" else []
        taken = "%f" if body else "%in0"
        return self._generic(
            [x],
            x.dims,
            "f32",
            [*body, f"%c = arith.constant {factor:.9e} : f32", f"%r = arith.mulf {taken}, %c : f32"],
        )

    def quantise(self, x: Value, scale: float, zero: int = 0) -> Value:
        """int8: rounded to even, ``zero`` added, clipped."""
        return self._generic(
            [x],
            x.dims,
            "i8",
            [
                f"%s = arith.constant {scale:.9e} : f32",
                f"%z = arith.constant {float(zero):.1f} : f32",
                "%low = arith.constant -128.0 : f32",
                "%high = arith.constant 127.0 : f32",
                "%d = arith.divf %in0, %s : f32",
                "%n = math.roundeven %d : f32",
                "%p = arith.addf %n, %z : f32",
                "%l = arith.maximumf %p, %low : f32",
                "%h = arith.minimumf %l, %high : f32",
                "%r = arith.fptosi %h : f32 to i8",
            ],
        )

    def dequantise(self, x: Value, scale: float, zero: int = 0) -> Value:
        return self._generic(
            [x],
            x.dims,
            "f32",
            [
                f"%s = arith.constant {scale:.9e} : f32",
                f"%z = arith.constant {float(zero):.1f} : f32",
                "%f = arith.sitofp %in0 : i8 to f32",
                "%o = arith.subf %f, %z : f32",
                "%r = arith.mulf %o, %s : f32",
            ],
        )

    def gelu(self, x: Value) -> Value:
        return self._generic(
            [x],
            x.dims,
            "f32",
            [
                "%half = arith.constant 0.5 : f32",
                "%one = arith.constant 1.0 : f32",
                "%root = arith.constant 0.707106781 : f32",
                "%t = arith.mulf %in0, %root : f32",
                "%e = math.erf %t : f32",
                "%u = arith.addf %e, %one : f32",
                "%v = arith.mulf %in0, %u : f32",
                "%r = arith.mulf %v, %half : f32",
            ],
        )

    def divided_by_root(self, x: Value, spread: Value, epsilon: float) -> Value:
        """x [rows, columns] / sqrt(spread [rows] + epsilon)."""
        return self._generic(
            [x, spread],
            x.dims,
            "f32",
            [
                f"%c = arith.constant {epsilon:.9e} : f32",
                "%t = arith.addf %in1, %c : f32",
                "%q = math.rsqrt %t : f32",
                "%r = arith.mulf %in0, %q : f32",
            ],
            per_row=True,
        )

    def row_sum(self, x: Value) -> Value:
        """[rows] from [rows, columns]."""
        start = self._filled((x.dims[0],), x.element)
        return self._op(
            "linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], "
            'iterator_types = ["parallel", "reduction"]}',
            [x],
            start,
            f" {{\n  ^bb0(%i: {x.element}, %o: {x.element}):\n    %r = arith.addf %i, %o : {x.element}\n"
            f"    linalg.yield %r : {x.element}\n  }}",
        )

    def softmax(self, x: Value) -> Value:
        """Over the last dimension."""
        return self._op(f"linalg.softmax dimension({len(x.dims) - 1})", [x], self._empty(x.dims, x.element))

    def matmul(self, a: Value, b: Value, element: str) -> Value:
        """[rows, inner] x [inner, columns], or the same with a batch in front."""
        op = "linalg.batch_matmul" if len(a.dims) == 3 else "linalg.matmul"
        return self._op(op, [a, b], self._filled((*a.dims[:-1], b.dims[-1]), element))

    def quantised_matmul(self, a: Value, b: Value, zero: int) -> Value:
        """Batched, i8 into i32; ``zero`` is taken off ``a``."""
        zeros = []
        for number in (zero, 0):
            zeros.append(Value(self._name(), (), "i32"))
            self._lines.append(f"{zeros[-1].name} = arith.constant {number} : i32")
        out = self._filled((*a.dims[:-1], b.dims[-1]), "i32")
        given = ", ".join(v.name for v in (a, b, *zeros))
        types = f"{a.type}, {b.type}, i32, i32"
        result = Value(self._name(), out.dims, out.element)
        self._lines.append(
            f"{result.name} = linalg.quantized_batch_matmul ins({given} : {types}) "
            f"outs({out.name} : {out.type}) -> {out.type}"
        )
        return result

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        empty = self._empty(tuple(x.dims[i] for i in order), x.element)
        result = Value(self._name(), empty.dims, empty.element)
        self._lines.append(
            f"{result.name} = linalg.transpose ins({x.name} : {x.type}) outs({empty.name} : {empty.type}) "
            f"permutation = {list(order)}"
        )
        return result

    def split_heads(self, x: Value, heads: int) -> Value:
        """[rows, heads, depth] from [rows, heads * depth]."""
        result = Value(self._name(), (x.dims[0], heads, x.dims[1] // heads), x.element)
        shape = ", ".join("%rows" if d is None else str(d) for d in result.dims)
        self._lines.append(
            f"{result.name} = tensor.expand_shape {x.name} [[0], [1, 2]] output_shape [{shape}] : "
            f"{x.type} into {result.type}"
        )
        return result

    def merge_heads(self, x: Value) -> Value:
        result = Value(self._name(), (x.dims[0], x.dims[1] * x.dims[2]), x.element)
        self._lines.append(
            f"{result.name} = tensor.collapse_shape {x.name} [[0], [1, 2]] : {x.type} into {result.type}"
        )
        return result

    def _name(self) -> str:
        self._count += 1
        return f"%{self._count - 1}"

    def _empty(self, dims: Dims, element: str) -> Value:
        value = Value(self._name(), dims, element)
        sizes = ", ".join("%rows" for d in dims if d is None)
        self._lines.append(f"{value.name} = tensor.empty({sizes}) : {value.type}")
        return value

    def _filled(self, dims: Dims, element: str) -> Value:
        zero = self._name()
        self._lines.append(f"{zero} = arith.constant {'0.0' if element[0] == 'f' else '0'} : {element}")
        empty = self._empty(dims, element)
        value = Value(self._name(), dims, element)
        self._lines.append(
            f"{value.name} = linalg.fill ins({zero} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}"
        )
        return value

    def _op(self, op: str, values: Sequence[Value], out: Value, body: str = "") -> Value:
        result = Value(self._name(), out.dims, out.element)
        given, types = ", ".join(v.name for v in values), ", ".join(v.type for v in values)
        self._lines.append(
            f"{result.name} = {op} ins({given} : {types}) outs({out.name} : {out.type}){body} -> {out.type}"
        )
        return result

    def _generic(
        self, values: Sequence[Value], dims: Dims, element: str, body: Sequence[str], per_row: bool = False
    ) -> Value:
        letters = "abc"[: len(dims)]
        whole = ", ".join(letters)
        maps = []
        for value in values:
            axes = whole if len(value.dims) == len(dims) else letters[0] if per_row else letters[-1]
            maps.append(f"affine_map<({whole}) -> ({axes})>")
        maps.append(f"affine_map<({whole}) -> ({whole})>")
        kinds = ", ".join('"parallel"' for _ in dims)
        taken = ", ".join(f"%in{i}: {value.element}" for i, value in enumerate(values))
        inner = "\n".join(f"    {line}" for line in body)
        block = f" {{\n  ^bb0({taken}, %out: {element}):\n{inner}\n    linalg.yield %r : {element}\n  }}"
        return self._op(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}",
            values,
            self._empty(dims, element),
            block,
        )
