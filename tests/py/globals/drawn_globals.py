"""Drawn programs that load and store globals in loops and branches, some with conditions that the host reads off the device, and what NumPy
computes for them."""

from __future__ import annotations

import random

import numpy as np

T = "tensor<4xi32>"
ARGUMENT = np.array([1, 2, 3, 1], np.int32)


class Drawn:
    """``text`` has a function of one tensor; it returns a tensor and what the globals @g, @h and @s hold."""

    def __init__(self, seed: int) -> None:
        self._draw, self._count, self._lines = random.Random(seed), 0, []
        result, self._steps = self._block(1, "%x", 2, self._draw.randrange(4, 7))
        body = "\n".join(self._lines)
        self.text = f"""util.global private mutable @g = dense<1> : {T}
util.global private mutable @h = dense<2> : {T}
util.global private mutable @s = 0 : i32
func.func @main(%x: {T}) -> ({T}, {T}, {T}, {T}) {{
  %czero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
{body}
  %lg = util.global.load @g : {T}
  %lh = util.global.load @h : {T}
  %ls = util.global.load @s : i32
  %lt = tensor.from_elements %ls, %ls, %ls, %ls : {T}
  return {result}, %lg, %lh, %lt : {T}, {T}, {T}, {T}
}}
"""

    def _new(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _emit(self, depth: int, line: str) -> None:
        self._lines.append("  " * depth + line)

    def _condition(self, depth: int, value: str) -> tuple[str, int]:
        """The maximum of ``value``, read by the host, is less than a number."""
        limit = self._draw.choice([3, 10, 40, 1000])
        empty, zero, most, read, less, bound = (self._new() for _ in range(6))
        for line in (
            f"{empty} = tensor.empty() : tensor<i32>",
            f"{zero} = linalg.fill ins(%czero : i32) outs({empty} : tensor<i32>) -> tensor<i32>",
            f"{most} = linalg.reduce {{arith.maxsi}} ins({value} : {T}) outs({zero} : tensor<i32>) dimensions = [0]",
            f"{read} = tensor.extract {most}[] : tensor<i32>",
            f"{bound} = arith.constant {limit} : i32",
            f"{less} = arith.cmpi slt, {read}, {bound} : i32",
        ):
            self._emit(depth, line)
        return less, limit

    def _block(self, depth: int, value: str, nested: int, count: int) -> tuple[str, list[tuple]]:
        """Writes ``count`` statements; returns the last value, and the statements for `results`."""
        flat = ["load", "store", "add", "constant", "scalar"]
        kinds = ["load", "load", "store", "add", "constant", "scalar", "if", "if", "for", "while"]
        steps = []
        for _ in range(count):
            kind = self._draw.choice(kinds if nested else flat)
            value, step = getattr(self, f"_{kind}")(depth, value, nested - 1, self._draw.choice("gh"))
            steps.append((kind, *step))
        return value, steps

    def _load(self, depth: int, value: str, _nested: int, name: str) -> tuple[str, tuple]:
        held, total = self._new(), self._new()
        self._emit(depth, f"{held} = util.global.load @{name} : {T}")
        self._emit(depth, f"{total} = arith.addi {value}, {held} : {T}")
        return total, (name,)

    def _store(self, depth: int, value: str, _nested: int, name: str) -> tuple[str, tuple]:
        self._emit(depth, f"util.global.store {value}, @{name} : {T}")
        return value, (name,)

    def _constant(self, depth: int, value: str, _nested: int, name: str) -> tuple[str, tuple]:
        number, held = self._draw.randrange(5), self._new()
        self._emit(depth, f"{held} = arith.constant dense<{number}> : {T}")
        self._emit(depth, f"util.global.store {held}, @{name} : {T}")
        return value, (name, number)

    def _add(self, depth: int, value: str, _nested: int, _name: str) -> tuple[str, tuple]:
        total = self._new()
        self._emit(depth, f"{total} = arith.addi {value}, %x : {T}")
        return total, ()

    def _scalar(self, depth: int, value: str, _nested: int, _name: str) -> tuple[str, tuple]:
        held, read, total = self._new(), self._new(), self._new()
        self._emit(depth, f"{held} = util.global.load @s : i32")
        self._emit(depth, f"{read} = tensor.extract {value}[%c0] : {T}")
        self._emit(depth, f"{total} = arith.addi {held}, {read} : i32")
        self._emit(depth, f"util.global.store {total}, @s : i32")
        return value, ()

    def _if(self, depth: int, value: str, nested: int, _name: str) -> tuple[str, tuple]:
        (less, limit), result = self._condition(depth, value), self._new()
        self._emit(depth, f"{result} = scf.if {less} -> {T} {{")
        then, steps = self._block(depth + 1, value, nested, self._draw.randrange(1, 4))
        self._emit(depth + 1, f"scf.yield {then} : {T}")
        self._emit(depth, "} else {")
        other, other_steps = self._block(depth + 1, value, nested, self._draw.randrange(3))
        self._emit(depth + 1, f"scf.yield {other} : {T}")
        self._emit(depth, "}")
        return result, (limit, steps, other_steps)

    def _for(self, depth: int, value: str, nested: int, _name: str) -> tuple[str, tuple]:
        result, argument, number = self._new(), self._new(), self._new()
        carried = f"iter_args({argument} = {value}) -> ({T})"
        self._emit(depth, f"{result} = scf.for {number} = %c0 to %c3 step %c1 {carried} {{")
        end, steps = self._block(depth + 1, argument, nested, self._draw.randrange(1, 4))
        self._emit(depth + 1, f"scf.yield {end} : {T}")
        self._emit(depth, "}")
        return result, (steps,)

    def _while(self, depth: int, value: str, nested: int, _name: str) -> tuple[str, tuple]:
        result, first, second, count, number, more, go, following = (self._new() for _ in range(8))
        types = f"({T}, index) -> ({T}, index)"
        self._emit(depth, f"{result}:2 = scf.while ({first} = {value}, {count} = %c0) : {types} {{")
        tested, before = self._block(depth + 1, first, 0, self._draw.randrange(3))
        less, limit = self._condition(depth + 1, tested)
        self._emit(depth + 1, f"{more} = arith.cmpi ult, {count}, %c3 : index")
        self._emit(depth + 1, f"{go} = arith.andi {less}, {more} : i1")
        self._emit(depth + 1, f"scf.condition({go}) {tested}, {count} : {T}, index")
        self._emit(depth, "} do {")
        self._emit(depth, f"^bb0({second}: {T}, {number}: index):")
        end, steps = self._block(depth + 1, second, nested, self._draw.randrange(1, 4))
        self._emit(depth + 1, f"{following} = arith.addi {number}, %c1 : index")
        self._emit(depth + 1, f"scf.yield {end}, {following} : {T}, index")
        self._emit(depth, "}")
        return f"{result}#0", (limit, before, steps)

    def results(self) -> list[np.ndarray]:
        """What the function returns for ARGUMENT."""
        held = {"g": np.full(4, 1, np.int32), "h": np.full(4, 2, np.int32), "s": np.int32(0)}

        def is_less(value: np.ndarray, limit: int) -> bool:
            return max(0, value.max()) < limit

        def run(steps: list[tuple], value: np.ndarray) -> np.ndarray:
            for kind, *rest in steps:
                match kind:
                    case "load":
                        value = value + held[rest[0]]
                    case "store":
                        held[rest[0]] = value
                    case "constant":
                        held[rest[0]] = np.full(4, rest[1], np.int32)
                    case "add":
                        value = value + ARGUMENT
                    case "scalar":
                        held["s"] = held["s"] + value[0]
                    case "if":
                        value = run(rest[1] if is_less(value, rest[0]) else rest[2], value)
                    case "for":
                        for _ in range(3):
                            value = run(rest[0], value)
                    case "while":
                        count, value = 0, run(rest[1], value)
                        while is_less(value, rest[0]) and count < 3:
                            count, value = count + 1, run(rest[1], run(rest[2], value))
            return value

        result = run(self._steps, ARGUMENT)
        return [result, held["g"], held["h"], np.full(4, held["s"], np.int32)]
