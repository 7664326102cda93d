"""Dataclasses made by `quick_dataclasses` are those that `dataclasses` makes: every one of fissile's, and what instances do."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import ClassVar

import msgspec
import pytest

import fissile.passes.definition  # noqa: F401  (the module that the samples say they are of)
from fissile.start.quick_dataclasses import _quick

EVERY = """
import dataclasses, importlib, inspect, json, pkgutil, re, sys
if sys.argv[1] == "quick":
    from fissile.start.quick_dataclasses import make_dataclasses_quickly
    make_dataclasses_quickly()
import fissile
seen = {}
def plain(value): return re.sub(r" at 0x[0-9a-f]+|_MADE|<factory>", "", str(value))
for package in ("fissile.passes", "fissile.pipelines.compile", "fissile.pipelines.process", "fissile.rules"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
for name, module in sorted(sys.modules.items()):
    if name.startswith("fissile"):
        for cls in vars(module).values():
            if isinstance(cls, type) and "__dataclass_fields__" in vars(cls) and cls.__module__ == name:
                parameters = cls.__dataclass_params__
                seen[f"{name}.{cls.__qualname__}"] = [
                    [(f.name, plain(f.type), plain(f.default), f.init, f.kw_only) for f in dataclasses.fields(cls)],
                    parameters.frozen, parameters.eq, cls.__hash__ is None, cls.__hash__ is object.__hash__,
                    cls.__eq__ is object.__eq__, cls.__match_args__,
                    [(p.name, str(p.kind), p.default is p.empty) for p in inspect.signature(cls.__init__).parameters.values()],
                ]
print(json.dumps(seen, default=str))
"""


def test_every_class_has_the_same_fields_and_methods():
    both = []
    for how in ("quick", "stock"):
        done = subprocess.run(
            [sys.executable, "-c", EVERY, how], capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        both.append(json.loads(done.stdout))
    assert len(both[0]) > 150 and both[0] == both[1]


def declared(how):
    @how(frozen=True)
    class Point:
        """A point."""

        __module__ = "fissile.passes.definition"
        kind: ClassVar[str] = "point"
        x: int
        y: int = 0
        marks: list[int] = dataclasses.field(default_factory=list, metadata={"doc": "marks"})

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x")

    @how(frozen=True)
    class Named(Point):
        __module__ = "fissile.passes.definition"
        name: str = "n"

    @how
    class Loose:
        __module__ = "fissile.passes.definition"
        a: int = 1

    @how(frozen=True, eq=False)
    class Same:
        __module__ = "fissile.passes.definition"
        a: int = 1

        def __hash__(self) -> int:
            return 7

    @how(frozen=True)
    class Partly:
        __module__ = "fissile.passes.definition"
        a: int
        silent: int = dataclasses.field(default=0, repr=False)
        apart: list[int] = dataclasses.field(default_factory=list, compare=False)

    return Point, Named, Loose, Same, Partly


@pytest.fixture(params=["quick", "stock"])
def classes(request):
    return declared(_quick if request.param == "quick" else dataclasses.dataclass)


def test_what_instances_do(classes):
    point, named, loose, same, partly = classes
    one = point(1, marks=[2])
    assert (one.x, one.y, one.marks, one.kind) == (1, 0, [2], "point")
    assert point(1).marks is not point(1).marks
    assert one == point(1, 0, [2]) != point(1) and one != named(1, 0, [2])
    assert repr(one).endswith("Point(x=1, y=0, marks=[2])")
    assert dataclasses.replace(one, y=5) == point(1, 5, [2]) and dataclasses.asdict(one)["marks"] == [2]
    assert hash(point(1, 2, ())) == hash(point(1, 2, ()))  # of a tuple; a list has none
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(ValueError, match="x"):
        point(-1)
    with pytest.raises(TypeError):
        point()
    for spoil in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x"), lambda: setattr(one, "new", 2)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            spoil()
    two = named(1, 2, name="two")
    assert [f.name for f in dataclasses.fields(two)] == ["x", "y", "marks", "name"] and two.name == "two"
    with pytest.raises(dataclasses.FrozenInstanceError):
        two.name = "three"
    changed = loose()
    changed.a = 3
    assert changed == loose(3) and loose.__hash__ is None
    assert hash(same()) == 7 and same() != same()
    assert repr(partly(1, 2, [3])).endswith("Partly(a=1, apart=[3])")
    assert partly(1, 2, [3]) == partly(1, 2, [4]) != partly(1, 3, [3]) and hash(partly(1)) == hash(
        partly(1, 0, [4])
    )
    match one:
        case point(x, y):
            assert (x, y) == (1, 0)


def test_msgspec_writes_and_reads_them(classes):
    loose = classes[2]
    assert msgspec.json.decode(msgspec.json.encode(loose(4)), type=loose) == loose(4)


def test_a_class_of_somebody_else_is_left_to_dataclasses():
    class Theirs:
        a: int = 1

    made = _quick(Theirs)
    assert made() == made(1) and made.__init__.__module__ != "fissile.passes.definition"
