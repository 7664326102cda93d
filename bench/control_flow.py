"""Drawn programs with loops and branches through stock IREE and through fissile, run, and compared with NumPy.

    python -m bench.control_flow [--count 200] [--first 0] [--target llvm-cpu --target vulkan]

Each is one function of two tensors of 4 integers: scf.for, scf.while and scf.if, nested up to two deep, that carry one to four
tensors, hand them on in any order, test elements of them and insert elements into them. Prints a line for each program that
one of the compilers does not build or that computes other numbers than NumPy, and a table. Exit status 1 where fissile is worse than
stock or wrong.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.process.child import run_child

TYPE = "tensor<4xi32>"
FLAGS = {
    "llvm-cpu": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=generic"),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}  # fmt: skip
RUNTIMES = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
ARGUMENTS = (np.array([1, 2, 3, 4], np.int32), np.array([10, 20, 30, 40], np.int32))
COUNT, LIMIT = 2, 50
"""The argument `n`, and what an element is compared with."""
SECONDS = 120.0
RIGHT, REFUSED, FAILED, WRONG = "right", "not built", "run fails", "wrong"

Values = dict[str, np.ndarray]
Step = Callable[[Values], None]


class Program:
    """``text`` in MLIR, and ``results()`` as NumPy computes them."""

    def __init__(self, seed: int) -> None:
        self._draw, self._names = random.Random(seed), 0
        constants = {
            f"k{n}": [self._draw.randrange(9) for _ in range(4)] for n in range(self._draw.randint(0, 2))
        }
        lines, steps, _known, made = self._block(["x0", "x1", *constants], 2, self._draw.randint(2, 4), "  ")
        kept = [name for name in made if self._draw.random() < 0.6][-4:] or made[-1:]
        types = ", ".join([TYPE] * len(kept))
        self.text = "\n".join(
            (
                f"func.func @main(%x0: {TYPE}, %x1: {TYPE}, %n: index) -> ({types}) {{",
                *(f"  %c{n} = arith.constant {n} : index" for n in range(4)),
                f"  %limit = arith.constant {LIMIT} : i32",
                *(
                    f"  %{name} = arith.constant dense<{values}> : {TYPE}"
                    for name, values in constants.items()
                ),
                *lines,
                f"  return {', '.join(f'%{name}' for name in kept)} : {types}",
                "}\n",
            )
        )
        self._constants, self._steps, self._kept = constants, steps, kept

    def results(self) -> list[np.ndarray]:
        values = dict(zip(("x0", "x1"), ARGUMENTS, strict=True))
        values |= {name: np.array(numbers, np.int32) for name, numbers in self._constants.items()}
        with np.errstate(over="ignore"):
            for step in self._steps:
                step(values)
        return [values[name] for name in self._kept]

    def _name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def _block(self, known: list[str], depth: int, length: int, indent: str):
        """Lines, steps, all names that are known behind it, and those that it makes."""
        lines, steps, known, made = [], [], list(known), []
        for _ in range(length):
            kind = self._draw.random()
            draw = self._elementwise
            if depth and kind < 0.65:
                draw = self._for if kind < 0.28 else self._while if kind < 0.45 else self._if
            elif kind < 0.7:
                draw = self._insert
            more, step, new = draw(known, depth, indent)
            lines, known, made = lines + more, known + new, made + new
            steps.append(step)
        return lines, steps, known, made

    def _elementwise(self, known: list[str], _depth: int, indent: str):
        name = self._draw.choice(("addi", "subi", "muli", "maxsi"))
        a, b, new = self._draw.choice(known), self._draw.choice(known), self._name("v")
        compute = {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "maxsi": np.maximum}[name]

        def step(values: Values) -> None:
            values[new] = compute(values[a], values[b])

        return [f"{indent}%{new} = arith.{name} %{a}, %{b} : {TYPE}"], step, [new]

    def _insert(self, known: list[str], _depth: int, indent: str):
        source, target, new, element = *self._draw.choices(known, k=2), self._name("v"), self._name("q")
        start, end = self._draw.randrange(4), self._draw.randrange(4)

        def step(values: Values) -> None:
            values[new] = values[target].copy()
            values[new][end] = values[source][start]

        lines = [
            f"{indent}%{element} = tensor.extract %{source}[%c{start}] : {TYPE}",
            f"{indent}%{new} = tensor.insert %{element} into %{target}[%c{end}] : {TYPE}",
        ]
        return lines, step, [new]

    def _carried(self, known: list[str]) -> tuple[list[str], list[str]]:
        """What a loop starts with, and its names in the body."""
        count = self._draw.randint(1, 4)
        return self._draw.choices(known, k=count), [self._name("a") for _ in range(count)]

    def _ends(self, known: list[str], own: list[str], count: int) -> list[str]:
        return [self._draw.choice(own if own and self._draw.random() < 0.75 else known) for _ in range(count)]

    def _for(self, known: list[str], depth: int, indent: str):
        starts, names = self._carried(known)
        loop, count = self._name("r"), len(names)
        body, steps, inside, made = self._block(
            known + names, depth - 1, self._draw.randint(0, 2), indent + "  "
        )
        ends = self._ends(inside, made + names, count)
        times, end = self._draw.choice(((3, "%c3"), (COUNT, "%n"), (2, "%c2"), (0, "%c0")))
        types = ", ".join([TYPE] * count)
        carried = ", ".join(f"%{name} = %{start}" for name, start in zip(names, starts, strict=True))
        lines = [
            f"{indent}%{loop}:{count} = scf.for %i{loop} = %c0 to {end} step %c1 iter_args({carried}) -> ({types}) {{",
            *body,
            f"{indent}  scf.yield {', '.join(f'%{name}' for name in ends)} : {types}",
            indent + "}",
        ]
        new = [f"{loop}#{n}" for n in range(count)]

        def step(values: Values) -> None:
            state = [values[start] for start in starts]
            for _ in range(times):
                state = _after(values, names, state, steps, ends)
            values.update(zip(new, state, strict=True))

        return lines, step, new

    def _while(self, known: list[str], depth: int, indent: str):
        starts, names = self._carried(known)
        loop, count = self._name("w"), len(names)
        body, steps, inside, made = self._block(
            known + names, depth - 1, self._draw.randint(0, 2), indent + "  "
        )
        ends = self._ends(inside, made + names, count)
        most, tested = self._draw.randint(1, 3), self._draw.choice([*range(count), None, None])
        types = ", ".join([TYPE] * count)
        carried = ", ".join(f"%{name}c = %{start}" for name, start in zip(names, starts, strict=True))
        test = [f"{indent}  %more{loop} = arith.cmpi ult, %i{loop}, %c{most} : index"]
        go = f"more{loop}"
        if tested is not None:
            go = f"go{loop}"
            test += [
                f"{indent}  %e{loop} = tensor.extract %{names[tested]}c[%c0] : {TYPE}",
                f"{indent}  %less{loop} = arith.cmpi slt, %e{loop}, %limit : i32",
                f"{indent}  %go{loop} = arith.andi %less{loop}, %more{loop} : i1",
            ]
        lines = [
            f"{indent}%{loop}:{count + 1} = scf.while (%i{loop} = %c0, {carried}) : (index, {types}) -> (index, {types}) {{",
            *test,
            f"{indent}  scf.condition(%{go}) %i{loop}, {', '.join(f'%{name}c' for name in names)} : index, {types}",
            indent + "} do {",
            f"{indent}^bb0(%i{loop}: index, {', '.join(f'%{name}: {TYPE}' for name in names)}):",
            *body,
            f"{indent}  %next{loop} = arith.addi %i{loop}, %c1 : index",
            f"{indent}  scf.yield %next{loop}, {', '.join(f'%{name}' for name in ends)} : index, {types}",
            indent + "}",
        ]
        new = [f"{loop}#{n + 1}" for n in range(count)]

        def step(values: Values) -> None:
            state = [values[start] for start in starts]
            for _ in range(most):
                if tested is not None and state[tested][0] >= LIMIT:
                    break
                state = _after(values, names, state, steps, ends)
            values.update(zip(new, state, strict=True))

        return lines, step, new

    def _if(self, known: list[str], depth: int, indent: str):
        branch, count = self._name("f"), self._draw.randint(1, 3)
        tested = self._draw.choice(known) if self._draw.random() < 0.6 else None
        types = ", ".join([TYPE] * count)
        lines = [f"{indent}%p{branch} = arith.cmpi eq, %n, %c{COUNT} : index"]
        if tested is not None:
            lines = [
                f"{indent}%e{branch} = tensor.extract %{tested}[%c1] : {TYPE}",
                f"{indent}%p{branch} = arith.cmpi slt, %e{branch}, %limit : i32",
            ]
        lines.append(f"{indent}%{branch}:{count} = scf.if %p{branch} -> ({types}) {{")
        ways = []
        for number in range(2):
            body, steps, inside, made = self._block(known, depth - 1, self._draw.randint(0, 2), indent + "  ")
            ends = self._ends(inside, made, count)
            lines += [*body, f"{indent}  scf.yield {', '.join(f'%{name}' for name in ends)} : {types}"]
            lines.append(indent + ("} else {" if number == 0 else "}"))
            ways.append((steps, ends))
        new = [f"{branch}#{n}" for n in range(count)]

        def step(values: Values) -> None:
            steps, ends = ways[0 if tested is None or values[tested][1] < LIMIT else 1]
            values.update(zip(new, _after(values, [], [], steps, ends), strict=True))

        return lines, step, new


def _after(
    values: Values, names: list[str], state: list[np.ndarray], steps: list[Step], ends: list[str]
) -> list[np.ndarray]:
    """``ends`` behind ``steps``, in which ``names`` stand for ``state``."""
    inside = {**values, **dict(zip(names, state, strict=True))}
    for step in steps:
        step(inside)
    return [inside[end] for end in ends]


def judged(words: list[str], program: Program, folder: Path, target: str) -> tuple[str, list[str]]:
    """What a compiler comes to, and the codes of its findings."""
    source, output = folder / "main.mlir", folder / "main.vmfb"
    source.write_text(program.text)
    output.unlink(missing_ok=True)
    ended = run_child([*words, *FLAGS[target], str(source), "-o", str(output)], SECONDS)
    codes = sorted(set(re.findall(r"^\w+\[(FIS\d+)\]", ended.err, re.MULTILINE)))
    if ended.status != 0 or not output.exists():
        return REFUSED, codes
    [device] = runtimes.named([RUNTIMES[target]])
    signature = signatures_of_vmfb(output)["main"]
    answer = runtimes.run(output, signature, [*ARGUMENTS, np.array(COUNT, np.int64)], device)
    if not isinstance(answer, list):
        return FAILED, codes
    same = all(np.array_equal(got, wanted) for got, wanted in zip(answer, program.results(), strict=True))
    return RIGHT if same else WRONG, codes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="programs (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed (default 0)")
    parser.add_argument("--target", action="append", choices=FLAGS, help="default: both")
    chosen = parser.parse_args()
    beside = Path(sys.executable).parent
    compilers = {
        "stock": [str(beside / "iree-compile")],
        "fissile": [str(beside / "fissile"), "compile", "--no-cache"],
    }
    good = True
    tables: dict[str, dict[str, Counter[str]]] = {}
    with tempfile.TemporaryDirectory(prefix="fissile-control-flow-") as folder:
        for target in chosen.target or FLAGS:
            table = tables[target] = {name: Counter() for name in compilers}
            for seed in range(chosen.first, chosen.first + chosen.count):
                program, answers = Program(seed), {}
                for name, words in compilers.items():
                    answers[name], codes = judged(words, program, Path(folder), target)
                    table[name][answers[name]] += 1
                if set(answers.values()) != {RIGHT}:
                    print(
                        f"{seed:6}  {target:9} stock: {answers['stock']:10} fissile: {answers['fissile']:10} {' '.join(codes)}",
                        flush=True,
                    )
                good &= answers["fissile"] == RIGHT or answers["fissile"] == answers["stock"] == REFUSED
    print(
        "| target | programs | compiler | right | not built | run fails | wrong |\n|---|---|---|---|---|---|---|"
    )
    for target, table in tables.items():
        for name, counts in table.items():
            row = " | ".join(str(counts[answer]) for answer in (RIGHT, REFUSED, FAILED, WRONG))
            print(f"| {target} | {counts.total()} | {name} | {row} |")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
