"""Random programs of ordinary quantised and 16-bit patterns: producers -> root -> epilogue, in sizes that people use.

    python -m bench.programs.patterns FOLDER [--count 150] [--seed 0] [--most 2e8]

Then `bench.corpus_numerics FOLDER`, or `fissile compile` on each. The file's name says what is in it:
``017_matmul_group4-ext_bias_f16.mlir``. ``--most`` bounds the root's loop iterations. The same seed writes the
same programs.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from bench.programs.pattern_epilogues import EPILOGUES
from bench.programs.pattern_producers import HALVES, PRODUCERS
from bench.programs.pattern_roots import ROOTS, Root
from bench.programs.text.program_text import Program, Value


def program(r: random.Random, most: float, together: int = 1) -> tuple[str, str]:
    """(name, text) of one random program: ``together`` patterns side by side, some of them of the same root and size."""
    p, names, results = Program(), [], []
    drawn: list[tuple[str, Root]] = []
    for _ in range(together):
        if drawn and r.random() < 0.5:
            drawn.append(drawn[-1])
        else:
            drawn.append(_root(r, most))
    for kind, root in drawn:
        name, values = _pattern(r, p, kind, root)
        names.append(name)
        results += values
    return "+".join(names), p.text(results)


def _root(r: random.Random, most: float) -> tuple[str, Root]:
    while True:
        kind = r.choices(list(ROOTS), [weight for weight, _ in ROOTS.values()])[0]
        root = ROOTS[kind][1](r)
        if root.work <= most:
            return kind, root


def _pattern(r: random.Random, p: Program, kind: str, root: Root) -> tuple[str, list[Value]]:
    dynamic = root.dynamic and r.random() < 0.2
    names = [r.choice(list(PRODUCERS)) for _ in root.operands]
    if any(name in HALVES for name in names) and len(names) > 1:  # both operands of one type
        names = [name if name in HALVES else r.choice(HALVES) for name in names]
    values = [
        PRODUCERS[name](p, shape, dynamic and i == 0)
        for i, (name, shape) in enumerate(zip(names, root.operands, strict=True))
    ]
    element = r.choice(("f32", "f32", "f16")) if values[0].element == "f16" else "f32"
    result = root.build(p, values, element)
    ending = r.choice(list(EPILOGUES))
    name = f"{kind}_{'-'.join(names)}_{ending}{'_acc16' if element == 'f16' else ''}{'_dynamic' if dynamic else ''}"
    return name, EPILOGUES[ending](p, result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=2e8, help="loop iterations of a pattern")
    parser.add_argument(
        "--together", type=int, default=1, help="patterns in one program, side by side (default 1)"
    )
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    r = random.Random(arguments.seed)
    for number in range(arguments.count):
        name, text = program(r, arguments.most, arguments.together)
        (arguments.folder / f"{number:03d}_{name}.mlir").write_text(text)
    print(f"{arguments.count} programs in {arguments.folder}")


if __name__ == "__main__":
    main()
