"""Programs that only move elements below a byte: stock has no code for rows that fill no bytes, and no op of theirs is a structured one."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.finding import Severity
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

RNG = np.random.default_rng(4)
DRIVERS = {"llvm-cpu": "local-task", "vulkan": "vulkan"}


def in_bytes(values: np.ndarray) -> np.ndarray:
    """Integers of 4 bits as IREE stores them: the first in the low bits of its byte."""
    pairs = (values.reshape(-1, 2) & 15) << np.array([0, 4])
    return pairs.sum(1).astype(np.uint8).view(np.int8)


def program(arguments: dict[str, np.ndarray], body: str, result: tuple[int, ...], more: str = "") -> str:
    """``body`` makes %r of arguments that are bitcasts of bytes: NumPy has no type for the elements."""
    names = ", ".join(f"%{name}_bytes: tensor<{one.size // 2}xi8>" for name, one in arguments.items())
    given = "\n".join(
        f"  %{name} = flow.tensor.bitcast %{name}_bytes : tensor<{one.size // 2}xi8> -> {typed(one.shape)}"
        for name, one in arguments.items()
    )
    count = int(np.prod(result)) // 2
    return (
        f"func.func @main({names}{more}) -> tensor<{count}xi8> {{\n{given}\n{body}\n"
        f"  %o = flow.tensor.bitcast %r : {typed(result)} -> tensor<{count}xi8>\n  return %o : tensor<{count}xi8>\n}}\n"
    )


def typed(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xi4>"


def concat():
    x, y = RNG.integers(-8, 8, (4, 3)), RNG.integers(-8, 8, (4, 5))
    body = f"  %r = tensor.concat dim(1) %x, %y : ({typed(x.shape)}, {typed(y.shape)}) -> {typed((4, 8))}"
    return program({"x": x, "y": y}, body, (4, 8)), [in_bytes(x), in_bytes(y)], np.concatenate([x, y], 1)


def inserted():
    c, u, at = RNG.integers(-8, 8, (8, 5)), RNG.integers(-8, 8, (2, 5)), 3
    body = (
        "  %n = tensor.extract %p[] : tensor<i32>\n  %i = arith.index_cast %n : i32 to index\n"
        f"  %r = tensor.insert_slice %u into %c[%i, 0] [2, 5] [1, 1] : {typed(u.shape)} into {typed(c.shape)}"
    )
    right = c.copy()
    right[at : at + 2] = u
    text = program({"c": c, "u": u}, body, (8, 5), ", %p: tensor<i32>")
    return text, [in_bytes(c), in_bytes(u), np.array(at, np.int32)], right


@pytest.mark.parametrize("backend", DRIVERS)
@pytest.mark.parametrize("make", (concat, inserted))
def test_stock_refuses_them_and_the_numbers_are_right(tmp_path, make, backend):
    text, arguments, right = make()
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    flags = flags_for(find_target(backend))
    stock = fissile.compile(source, vmfb, flags, repair="off", allow_wrong=True, check=False)
    assert not stock.output or backend == "vulkan"
    report = fissile.compile(source, vmfb, flags, check=False)
    assert report.output and Severity.REPAIRED in [f.severity for f in report.findings]
    np.testing.assert_array_equal(run(vmfb, arguments, DRIVERS[backend])[0], in_bytes(right))
