"""torch.fft, arithmetic on complex tensors, window functions and paddings that repeat: refused by stock, and equal to NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import built
import numpy as np
import pytest

import fissile
from fissile.pipelines.compile.hooks import front_end
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.session import Session

DRAWN = np.random.default_rng(11)
REGISTERED = ("fft_fft", "fft_ifft", "fft_rfft", "abs", "exp", "log", "neg", "reciprocal", "pad", "div.Tensor",
              "add.Tensor", "sub.Tensor", "mul.Scalar", "sum.dim_IntList", "mean.dim")  # fmt: skip
"""Ops that the dialect has a name for; an importer writes the others as torch.operator."""


@dataclass(frozen=True)
class Case:
    """``op`` of the first ``inputs`` arrays, complex ones as pairs of floats, and of ``more``, spelled as torch constants."""

    op: str
    shapes: tuple[tuple[int, ...], ...]
    more: tuple[object, ...]
    expected: Callable[..., np.ndarray]
    complexes: tuple[bool, ...] = (False,)

    def arrays(self, seed: int = 0) -> list[np.ndarray]:
        drawn = np.random.default_rng(seed)
        return [drawn.normal(size=shape).astype(np.float32) for shape in self.shapes]

    def values(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        wide = [a.astype(np.float64) for a in arrays]
        is_complex = self.complexes + (False,) * len(wide)
        return [a[..., 0] + 1j * a[..., 1] if z else a for a, z in zip(wide, is_complex, strict=False)]


def fft(name, shape, n=None, dim=-1, norm=None, is_complex=False):
    """An op of one dimension."""
    return Case(
        f"fft_{name}",
        (shape,),
        (n, dim, norm),
        lambda x: getattr(np.fft, name)(x, n, dim, norm),
        (is_complex,),
    )


def ffts(name, shape, s=None, dims=None, norm=None, is_complex=False):
    """An op of several dimensions."""
    axes = dims
    if dims is None and name.endswith("2"):
        axes = (-2, -1)
    elif dims is None and s is not None:
        axes = tuple(range(-len(s), 0))
    written = list(axes) if axes is not None and (dims is not None or name.endswith("2")) else None
    listed = None if s is None else list(s)
    return Case(
        f"fft_{name}", (shape,), (listed, written, norm), lambda x: getattr(np.fft, name)(x, s, axes, norm), (is_complex,)
    )  # fmt: skip


CASES = {
    "fft": fft("fft", (2, 3, 8)),
    "fft_of_complex_numbers": fft("fft", (3, 6, 2), is_complex=True),
    "fft_cut_off": fft("fft", (6, 3), 5, 0, "ortho"),
    "fft_filled_up": fft("fft", (6, 3, 2), 9, 0, "forward", is_complex=True),
    "fft_in_two_steps": fft("fft", (2, 96)),
    "fft_in_three_steps": fft("fft", (1000,)),
    "fft_of_prime_length": fft("fft", (2, 67)),
    "fft_of_one": fft("fft", (3, 1)),
    "ifft": fft("ifft", (5, 4, 2), is_complex=True),
    "rfft_filled_up": fft("rfft", (2, 7), 10, -1, "forward"),
    "irfft": fft("irfft", (2, 5, 2), is_complex=True),
    "irfft_odd": fft("irfft", (2, 5, 2), 9, is_complex=True),
    "irfft_in_two_steps": fft("irfft", (2, 65, 2), is_complex=True),
    "irfft_odd_in_two_steps": fft("irfft", (49, 2), 95, is_complex=True),
    "irfft_of_one": fft("irfft", (2, 3, 2), 1, is_complex=True),
    "hfft": fft("hfft", (2, 5, 2), is_complex=True),
    "ihfft": fft("ihfft", (2, 6)),
    "fft2": ffts("fft2", (2, 4, 6)),
    "ifft2": ffts("ifft2", (4, 6, 2), norm="ortho", is_complex=True),
    "rfft2": ffts("rfft2", (2, 4, 6)),
    "irfft2": ffts("irfft2", (4, 4, 2), (5, 6), is_complex=True),
    "fftn": ffts("fftn", (2, 3, 4)),
    "fftn_of_some": ffts("fftn", (2, 3, 4), None, (0, 2)),
    "rfftn": ffts("rfftn", (2, 6, 8), (4, 10), None, "ortho"),
    "irfftn": ffts("irfftn", (2, 6, 5, 2), (4, 9), (0, 2), is_complex=True),
    "core_real": Case("_fft_r2c", ((2, 8),), ([1], 0, True), lambda x: np.fft.rfft(x)),
    "core_whole": Case("_fft_r2c", ((2, 8),), ([1], 2, False), lambda x: np.fft.fft(x) / 8),
    "core_complex": Case("_fft_c2c", ((4, 6, 2),), ([0, 1], 1, False), lambda x: np.fft.ifft2(x, norm="ortho"), (True,)),
    "core_half": Case("_fft_c2r", ((2, 5, 2),), ([1], 2, 9), lambda x: np.fft.irfft(x, 9), (True,)),
    "shift": Case("fft_fftshift", ((4, 5),), (None,), np.fft.fftshift),
    "shift_back": Case("fft_ifftshift", ((4, 5),), ([1],), lambda x: np.fft.ifftshift(x, [1])),
    "abs": Case("abs", ((2, 3, 2),), (), np.abs, (True,)),
    "angle": Case("angle", ((2, 3, 2),), (), np.angle, (True,)),
    "conj": Case("_conj", ((2, 3, 2),), (), np.conj, (True,)),
    "exp": Case("exp", ((2, 3, 2),), (), np.exp, (True,)),
    "log": Case("log", ((2, 3, 2),), (), np.log, (True,)),
    "neg": Case("neg", ((2, 3, 2),), (), np.negative, (True,)),
    "reciprocal": Case("reciprocal", ((2, 3, 2),), (), np.reciprocal, (True,)),
    "quotient": Case("div.Tensor", ((2, 3, 2), (3, 2)), (), np.divide, (True, True)),
    "quotient_by_real": Case("div.Tensor", ((2, 3, 2), (3,)), (), np.divide, (True, False)),
    "real_by_complex": Case("div.Tensor", ((2, 3), (2, 3, 2)), (), np.divide, (False, True)),
    "sum_of_two": Case("add.Tensor", ((2, 3, 2), (3, 2)), (2,), lambda x, y: x + 2 * y, (True, True)),
    "difference_from_real": Case("sub.Tensor", ((2, 3), (2, 3, 2)), (1,), lambda x, y: x - y, (False, True)),
    "scaled": Case("mul.Scalar", ((2, 3, 2),), (3,), lambda x: 3 * x, (True,)),
    "sum": Case("sum.dim_IntList", ((2, 3, 2),), ([1], False, None), lambda x: x.sum(1), (True,)),
    "mean": Case("mean.dim", ((2, 3, 2),), ([0], True, None), lambda x: x.mean(0, keepdims=True), (True,)),
    "hann": Case("hann_window", (), (9, None, None, None, None), lambda: np.hanning(10)[:-1]),
    "hamming": Case("hamming_window.periodic", (), (9, False, None, None, None, None), lambda: np.hamming(9)),
    "blackman": Case("blackman_window", (), (8, None, None, None, None), lambda: np.blackman(9)[:-1]),
    "bartlett": Case("bartlett_window", (), (8, None, None, None, None), lambda: np.bartlett(9)[:-1]),
    "circular": Case("pad", ((2, 4, 5),), ([2, 3, 0, 4], "circular", None), lambda x: np.pad(x, ((0, 0), (0, 4), (2, 3)), "wrap")),
    "reflected": Case("pad", ((1, 2, 4, 5, 6),), ([1, 2, 1, 1, 2, 0], "reflect", None),
                      lambda x: np.pad(x, ((0, 0), (0, 0), (2, 0), (1, 1), (1, 2)), "reflect")),
}  # fmt: skip


def tensor(shape, element="f32"):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"


def constant(name, value):
    """The lines that make it, and its type."""
    if value is None:
        return [f"%{name} = torch.constant.none"], "!torch.none"
    if isinstance(value, list):
        lines = [f"%{name}_{i} = torch.constant.int {v}" for i, v in enumerate(value)]
        names, types = (
            ", ".join(f"%{name}_{i}" for i in range(len(value))),
            ", ".join(["!torch.int"] * len(value)),
        )
        return [
            *lines,
            f"%{name} = torch.prim.ListConstruct {names} : ({types}) -> !torch.list<int>",
        ], "!torch.list<int>"
    kind = {bool: "bool", int: "int", str: "str"}[type(value)]
    spelled = {bool: str(value).lower(), int: str(value), str: f'"{value}"'}[type(value)]
    return [f"%{name} = torch.constant.{kind} {spelled}"], f"!torch.{kind}"


def function(name, case):
    lines, operands, types = [], [], []
    for i, (shape, is_complex) in enumerate(zip(case.shapes, case.complexes, strict=False)):
        operands.append(f"%z{i}" if is_complex else f"%a{i}")
        types.append(tensor(shape[:-1], "complex<f32>") if is_complex else tensor(shape))
        if is_complex:
            lines.append(f"%z{i} = torch.aten.view_as_complex %a{i} : {tensor(shape)} -> {types[-1]}")
    for i, value in enumerate(case.more):
        made, kind = constant(f"c{i}", value)
        lines += made
        operands.append(f"%c{i}")
        types.append(kind)
    expected = case.expected(*case.values(case.arrays()))
    shape, is_complex = expected.shape, np.iscomplexobj(expected)
    made = tensor(shape, "complex<f32>" if is_complex else "f32")
    signature = f"({', '.join(types)}) -> {made}"
    if case.op in REGISTERED:
        text = f"torch.aten.{case.op} {', '.join(operands)} : {', '.join(types)} -> {made}"
    else:
        text = f'torch.operator "torch.aten.{case.op}"({", ".join(operands)}) : {signature}'
    lines.append(f"%r = {text}")
    result, kind = "%r", made
    if is_complex:
        result, kind = "%p", tensor((*shape, 2))
        lines.append(f"%p = torch.aten.view_as_real %r : {made} -> {kind}")
    arguments = ", ".join(f"%a{i}: {tensor(shape)}" for i, shape in enumerate(case.shapes))
    body = "\n  ".join(lines)
    return f"func.func @{name}({arguments}) -> {kind} {{\n  {body}\n  return {result} : {kind}\n}}\n"


class Computed:
    """Compiles the function of a case when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        [self.runtime] = runtimes.named(["local-task"])
        self.module = functools.cache(self._module)

    def _module(self, name: str):
        """The compiled file, the signature of ``name``, and the report."""
        source, output = self.folder / f"{name}.mlir", self.folder / f"{name}.vmfb"
        source.write_text(function(name, CASES[name]))
        report = fissile.compile(source, output, [*built.CPU], check=False)
        assert report.exit_code == 0, report.findings
        return output, signatures_of_source(source)[name], report

    def __call__(self, name: str, arrays: list[np.ndarray]) -> np.ndarray:
        output, signature, _report = self.module(name)
        [found] = runtimes.run(output, signature, arrays, self.runtime)
        return (
            found[..., 0] + 1j * found[..., 1]
            if np.iscomplexobj(CASES[name].expected(*CASES[name].values(arrays)))
            else found
        )


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    return Computed(tmp_path_factory.mktemp("fourier"))


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_numpy_computes(computed, name):
    case = CASES[name]
    arrays = case.arrays(7)
    expected = case.expected(*case.values(arrays))
    found = computed(name, arrays)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())
    _output, _signature, report = computed.module(name)
    repaired = {f.subject for f in report.findings if f.code == "FIS421" and f.severity.value == "repaired"}
    assert repaired == {f"aten.{case.op}"}


@pytest.mark.parametrize(
    "name",
    ["fft", "irfft", "fftn", "shift", "abs", "conj", "sum", "quotient", "hann", "circular", "reflected"],
)
def test_stock_refuses_it(tmp_path, name):
    source = tmp_path / "main.mlir"
    source.write_text(function(name, CASES[name]))
    assert compile_stock(source, tmp_path / "out.vmfb", [*built.CPU], timeout=300.0) is not None


def test_the_spectrum_of_real_numbers_is_real_where_it_must_be(computed):
    """At 0 and at half of the length: the angle there is 0 or pi, and its sign must not be chance."""
    x = np.arange(1, 49, dtype=np.float32).reshape(2, 3, 8)
    found = computed("fft", [x])
    assert not found[..., [0, 4]].imag.any()


def test_what_only_counts_as_real_is_not_read(computed):
    """The imaginary parts at both ends of a half spectrum: PyTorch ignores them, whatever they are."""
    for name, ends in (("irfft", [0, 4]), ("irfft_odd", [0]), ("irfft_in_two_steps", [0, 64])):
        [x] = CASES[name].arrays(3)
        other = x.copy()
        other[:, ends, 1] = 1e6
        np.testing.assert_array_equal(computed(name, [x]), computed(name, [other]))


def test_a_quotient_of_large_numbers_does_not_overflow(computed):
    x = np.full((2, 3, 2), 3e30, np.float32)
    np.testing.assert_allclose(computed("quotient", [x, x[0]]), np.ones((2, 3)), rtol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        # A length that is not known, one whose table would be large, and numbers of 64 bits.
        function("main", fft("fft", (2, 8))).replace("[2,8]", "[2,?]"),
        function("main", fft("fft", (2, 2053))),
        function("main", CASES["circular"]).replace("2,4,5", "2,4,?").replace("2,8,10", "2,8,?"),
    ],
    ids=["a dynamic length", "a large prime", "a dynamic padding"],
)
def test_the_others_are_refused(tmp_path, text):
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, [*built.CPU], check=False)
    assert report.exit_code == 1 and not output.exists()


@pytest.mark.parametrize(
    "op",
    ["fft_fftn", "fft_fftshift", "hann_window", "hamming_window.periodic", "angle", "_conj", "div.Tensor"],
)
def test_an_op_without_operands_is_left_to_iree(op):
    """No remedy throws on it; IREE refuses the program."""
    kind = tensor((4,))
    text = f'func.func @main() -> {kind} {{\n  %r = torch.operator "torch.aten.{op}"() : () -> {kind}\n  return %r : {kind}\n}}\n'
    with Session(built.CPU) as session:
        assert not front_end.rewritten(session.parse_text(text), "")
