"""Fourier transforms of StableHLO over several dimensions, or of lengths that are no power of two: equal to NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile

NUMPY = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}


def shapes(kind, lengths):
    """Of the operand and the result along the dimensions that are transformed."""
    half = [*lengths[:-1], lengths[-1] // 2 + 1]
    return half if kind == "IRFFT" else lengths, half if kind == "RFFT" else lengths


def program(kind, lengths, batch=2) -> str:
    """With real and imaginary parts apart, where there are two."""
    given, made = ("x".join(map(str, [batch, *shape])) for shape in shapes(kind, lengths))
    x = f"tensor<{given}x{'f32' if kind == 'RFFT' else 'complex<f32>'}>"
    y = f"tensor<{made}x{'f32' if kind == 'IRFFT' else 'complex<f32>'}>"
    inputs, joined = f"%x: {x}", ""
    if kind != "RFFT":
        inputs = f"%re: tensor<{given}xf32>, %im: tensor<{given}xf32>"
        joined = f"%x = stablehlo.complex %re, %im : {x}"
    parts, results, types = "", "%y", y
    if kind != "IRFFT":
        parts = f"%real = stablehlo.real %y : ({y}) -> tensor<{made}xf32>\n  %imag = stablehlo.imag %y : ({y}) -> tensor<{made}xf32>"
        results, types = "%real, %imag", f"tensor<{made}xf32>, tensor<{made}xf32>"
    return f"""
func.func @main({inputs}) -> ({types}) {{
  {joined}
  %y = stablehlo.fft %x, type = {kind}, length = {list(lengths)} : ({x}) -> {y}
  {parts}
  return {results} : {types}
}}
"""


@given(
    st.sampled_from(sorted(NUMPY)),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=examples(6, 40), deadline=None)
def test_any_transform(tmp_path_factory, kind, lengths, seed):
    folder = tmp_path_factory.mktemp("fft")
    (folder / "in.mlir").write_text(program(kind, lengths))
    fissile.compile(folder / "in.mlir", folder / "out.vmfb", CPU)
    shape, rng = [2, *shapes(kind, lengths)[0]], np.random.default_rng(seed)
    parts = [rng.standard_normal(shape).astype(np.float32) for _ in range(1 if kind == "RFFT" else 2)]
    value = parts[0] if kind == "RFFT" else parts[0] + 1j * parts[1]
    sizes = {"s": lengths} if kind == "IRFFT" else {}
    wanted = NUMPY[kind](value, axes=range(1, 1 + len(lengths)), **sizes)
    found = run(folder / "out.vmfb", parts)
    for part, one in zip([wanted] if kind == "IRFFT" else [wanted.real, wanted.imag], found, strict=True):
        np.testing.assert_allclose(one, part, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("lengths", "codes"), [((30,), ["FIS421"]), ((32,), []), ((1025,), ["FIS407"])])
def test_what_iree_lowers_stays_and_long_tables_are_reported(tmp_path, lengths, codes):
    (tmp_path / "in.mlir").write_text(program("RFFT", lengths))
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", CPU, check=False)
    assert [f.code for f in report.findings] == codes
