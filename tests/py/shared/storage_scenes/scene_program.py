"""One drawn program: its text, its calls, and what each call gives."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import scene_bodies  # noqa: F401  fills ARRAYS
import scene_control  # noqa: F401
import scene_shapes  # noqa: F401
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scene_arrays import tree
from scene_integers import Draw, integer
from scene_values import KINDS, WIDTH, Env, Illegal, Node, Text, Undefined, dim, signed

EDGES = (-1, -(2**31), 2**31 - 1, 2**32, 2**32 + 1, 2**62, 2**63 - 1, -(2**63), 100_000_000)
TRIED = 60
"""Calls that are drawn for a program; a few of them are made."""


@dataclass
class Call:
    """``expected`` is None where the call must be refused."""

    values: list[object]
    expected: list[object] | None


@dataclass
class Scene:
    name: str
    text: str
    calls: list[Call] = field(default_factory=list)
    can_fail: bool = False
    """Whether one of the calls that were drawn must be refused."""

    def __repr__(self) -> str:
        return self.name


@st.composite
def scenes(draw) -> Scene:
    d = Draw(draw)
    rank, element = d.pick((1, 1, 1, 2, 2, 3)), d.pick(("f32", "i32", "i64", "i8"))
    results = [tree(d, rank, element, d.pick((1, 2, 2, 2, 3)))]
    if d.one_in(4):
        results.append(dim(results[0], 0))
    if d.one_in(8):
        results.append(integer(d, "index", 1, results[:1]))
    text = Text()
    names = [text(r) for r in results]
    types = ", ".join(r.type for r in results)
    arguments = ", ".join(f"{n}: {a.type}" for n, a in zip(d.names, d.arguments, strict=True))
    body = "\n".join(f"  {line}" for line in "\n".join(text.lines).split("\n"))
    whole = (
        f"func.func @PROGRAM({arguments}) -> ({types}) {{\n{body}\n  return {', '.join(names)} : {types}\n}}"
    )
    scene = Scene("", "\n".join([*text.others, whole]))
    scene.calls, scene.can_fail = _calls(d, results, random.Random(draw(st.integers(0, 2**32))))
    return scene


def _calls(d: Draw, results: list[Node], chance: random.Random, most: int = 4) -> tuple[list[Call], bool]:
    legal: list[Call] = []
    illegal: list[Call] = []
    for _ in range(TRIED):
        values = _arguments(d, chance)
        known = dict(
            zip(d.arguments, [np.copy(v) if isinstance(v, np.ndarray) else v for v in values], strict=True)
        )
        env = Env(known)
        try:
            with np.errstate(all="ignore"):
                expected = [env(r) for r in results]
        except Illegal:
            illegal.append(Call(values, None))
        except Undefined:
            continue
        else:
            legal.append(Call(values, expected))
    return [*legal[:most], *illegal[:most]], bool(illegal)


def _arguments(d: Draw, chance: random.Random) -> list[object]:
    """Numbers that mostly agree with each other, so that many calls are legal; some at the ends of their type."""
    size, calm = chance.randint(1, 6), chance.random()
    values: list[object] = []
    for node in d.arguments:
        if node.dims is None:
            number = chance.choice(
                (size, size, chance.randint(0, 3), chance.randint(0, 6), chance.randint(-3, 9))
            )
            if calm > 0.85 and chance.random() < 0.3:
                number = chance.choice(EDGES)
            values.append(signed(number, WIDTH[node.type]))
            continue
        shape = tuple(
            n if n is not None else (size if chance.random() < 0.8 else chance.randint(0, 7))
            for n in node.dims
        )
        count = int(np.prod(shape))
        if node.element == "i1":
            values.append(np.array([chance.random() < 0.6 for _ in range(count)], bool).reshape(shape))
        elif node in d.index_arrays:
            low, high = (0, chance.choice((0, 1, 2, size - 1))) if calm < 0.6 else (-3, 8)
            drawn = [chance.randint(low, high) for _ in range(count)]
            if calm < 0.4 and count <= size:
                drawn = chance.sample(range(size), count)
            if count and calm > 0.9:
                drawn[chance.randrange(count)] = signed(chance.choice(EDGES), WIDTH[node.element])
            values.append(
                np.array([signed(v, WIDTH[node.element]) for v in drawn], KINDS[node.element]).reshape(shape)
            )
        else:
            values.append((np.arange(count) % 50 + 1).astype(KINDS[node.element]).reshape(shape))
    return values


def drawn_scenes(first: int, count: int, strategy=None) -> list[Scene]:
    """The scenes that seed ``first`` draws, named s<first> and on."""
    found: list[Scene] = []

    @settings(
        max_examples=2 * count + 2,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @seed(first)
    @given(scenes() if strategy is None else strategy)
    def draw_all(scene: Scene) -> None:
        found.append(scene)

    draw_all()
    unlike = list({scene.text: scene for scene in found[1:]}.values())[:count]
    for number, scene in enumerate(unlike, first):
        scene.name = f"s{number}"
        scene.text = scene.text.replace("@PROGRAM", f"@{scene.name}")
    return unlike
