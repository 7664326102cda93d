"""Losses between tensors, of a batch whose size the call decides: written out, they are what NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
RANDOM = np.random.default_rng(5)
X, Y, Z = (2 * RANDOM.standard_normal((5, 7)).astype(np.float32) for _ in range(3))
SIGN = np.sign(RANDOM.standard_normal((5, 7))).astype(np.float32)
CHANCE = np.array([[0.0, 1.0, 0.5, 0.25, 0.9, 0.1, 1e-20]] * 5, np.float32)
COUNTS = np.array([[0, 1, 2, 3, 4, 7, 20]] * 5, np.float32)
ONES = (X > 0).astype(np.float32)
B, R, N = "!torch.vtensor<[?,7],f32>", "!torch.vtensor<[?],f32>", "!torch.vtensor<[],f32>"


def _number(text: str) -> tuple[str, str]:
    kind = {"t": "bool", "f": "bool"}.get(text[0], "float" if "." in text else "int")
    value = {"t": "true", "f": "false"}.get(text[0], text)
    return f"torch.constant.{kind} {value}", f"!torch.{kind}"


def program(name: str, count: int, numbers: str, made: str, rows: int = 0) -> str:
    """A function that calls aten.``name`` on ``count`` tensors and ``numbers``; the last ``rows`` tensors have one number per row."""
    types = [B] * (count - rows) + [R] * rows
    lines, words, listed = [], [f"%x{n}" for n in range(count)], list(types)
    for n, text in enumerate(numbers.split()):
        op, type_ = ("torch.constant.none", "!torch.none") if text == "none" else _number(text)
        lines.append(f"  %n{n} = {op}")
        words.append(f"%n{n}")
        listed.append(type_)
    arguments = ", ".join(f"%x{n}: {type_}" for n, type_ in enumerate(types))
    body = "\n".join(lines)
    called = f'torch.operator "torch.aten.{name}"({", ".join(words)}) : ({", ".join(listed)}) -> {made}'
    if name in ("binary_cross_entropy", "cosine_embedding_loss", "poisson_nll_loss"):
        called = f"torch.aten.{name} {', '.join(words)} : {', '.join(listed)} -> {made}"
    return f"func.func @main({arguments}) -> {made} {{\n{body}\n  %r = {called}\n  return %r : {made}\n}}\n"


def huber(x, y, delta=0.5):
    far = np.abs(x - y)
    return np.where(far < delta, 0.5 * far**2, delta * (far - 0.5 * delta))


def binary(p, y):
    with np.errstate(divide="ignore"):
        return -(y * np.maximum(np.log(p), -100) + (1 - y) * np.maximum(np.log1p(-p), -100))


def poisson(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        stirling = y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y)
    return np.exp(x) - y * x + np.where(y > 1, stirling, 0)


def triplet(a, p, n):
    near, far, other = (np.sqrt(((one + 1e-6) ** 2).sum(1)) for one in (a - p, a - n, p - n))
    return np.maximum(near - np.minimum(far, other) + 0.5, 0)


def cosine(x, y, sign):
    found = (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))
    return np.where(sign == 1, 1 - found, np.maximum(found - 0.25, 0))


LOSSES = {
    "huber": (program("huber_loss", 2, "1 0.5", N), [X, Y], huber(X, Y).mean()),
    "smooth": (program("smooth_l1_loss", 2, "2 0.5", N), [X, Y], (huber(X, Y) / 0.5).sum()),
    "binary": (program("binary_cross_entropy", 2, "none 0", B), [CHANCE, ONES], binary(CHANCE, ONES)),
    "ranking": (program("margin_ranking_loss", 3, "0.5 0", B), [X, Y, SIGN], np.maximum(-SIGN * (X - Y) + 0.5, 0)),
    "triplet": (program("triplet_margin_loss", 3, "0.5 2.0 1.0e-6 true 0", R), [X, Y, Z], triplet(X, Y, Z)),
    "hinge": (program("hinge_embedding_loss", 2, "0.5 1", N), [X, SIGN], np.where(SIGN == 1, X, np.maximum(0.5 - X, 0)).mean()),
    "soft": (program("soft_margin_loss", 2, "1", N), [X, SIGN], np.log1p(np.exp(-SIGN * X)).mean()),
    "poisson": (program("poisson_nll_loss", 2, "true true 1.0e-8 1", N), [X, COUNTS], poisson(X, COUNTS).mean()),
    "weighted": (program("binary_cross_entropy", 3, "1", N).replace("%x2: !torch.vtensor<[?,7],f32>", "%x2: !torch.vtensor<[7],f32>").replace("vtensor<[?,7],f32>, !torch.int", "vtensor<[7],f32>, !torch.int"), [CHANCE, ONES, CHANCE[0]], (binary(CHANCE, ONES) * CHANCE[0]).mean()),
    "scalar": (program("hinge_embedding_loss", 2, "0.5 1", N).replace(B, N), [np.float32(0.2), np.float32(-1)], np.float32(0.3)),
    "cosine": (program("cosine_embedding_loss", 3, "0.25 1", N, rows=1), [X, Y, SIGN[:, 0]], cosine(X, Y, SIGN[:, 0]).mean()),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_what_numpy_computes(tmp_path, name):
    text, inputs, expected = LOSSES[name]
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, vmfb, CPU)
    assert ("FIS421", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    np.testing.assert_allclose(answer[0], expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["huber", "poisson", "weighted", "scalar"])
def test_stock_rejects_one(tmp_path, name):
    source = tmp_path / "in.mlir"
    source.write_text(LOSSES[name][0])
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is not None
