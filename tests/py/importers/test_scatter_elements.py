"""Scatters along a dimension that is counted from the end, of one element, and with a reduction by its old name: stock crashes on them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import compiled, computed, entered, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(5)
# Found beside: sizes and indices at run time, a result of f64, and extremes of unsigned bytes.
BESIDE = ("FIS161", "FIS165", "FIS202", "FIS220")
ELEMENTS = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "si8": np.int8,
    "ui8": np.uint8,
    "si16": np.int16,
    "si32": np.int32,
    "si64": np.int64,
}


def vtensor(shape, element: str) -> str:
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"


def program(
    name: str, more: str, shape, index, element: str = "f32", dim: int = -1, source: str = "%s"
) -> str:
    value, at = vtensor(shape, element), vtensor(index, "si64")
    given = {
        "%s": vtensor(index, element),
        "%v": "!torch.float" if element.endswith("f32") else "!torch.int",
    }[source]
    constants = (
        f"  %d = torch.constant.int {dim}\n  %v = torch.constant.{'float 2.5' if element == 'f32' else 'int 2'}\n"
        '  %sum = torch.constant.str "sum"\n  %prod = torch.constant.str "prod"\n  %amax = torch.constant.str "amax"\n'
        '  %mean = torch.constant.str "mean"\n  %add = torch.constant.str "add"\n  %multiply = torch.constant.str "multiply"\n'
        "  %yes = torch.constant.bool true\n  %no = torch.constant.bool false\n"
    )
    kinds = {"%yes": "!torch.bool", "%no": "!torch.bool"}
    types = ", ".join(
        [value, "!torch.int", at, given, *(kinds.get(one, "!torch.str") for one in more.split())]
    )
    operands = ", ".join(["%x", "%d", "%i", source, *more.split()])
    # The torch dialect has no op of this name.
    call = (
        f"torch.aten.{name} {operands}"
        if name != "scatter.value_reduce"
        else f'torch.operator "torch.aten.{name}"({operands})'
    )
    kinds_of = types if name != "scatter.value_reduce" else f"({types})"
    return (
        f"func.func @main(%x: {value}, %i: {at}, %s: {vtensor(index, element)}) -> {value} {{\n{constants}"
        f"  %r = {call} : {kinds_of} -> {value}\n  return %r : {value}\n}}\n"
    )


def expected(x, index, source, dim: int, combine, start=None):
    """What NumPy makes of it, an element after the other; ``start``: what an element that is named has before."""
    right = (
        x.astype(np.float64) if x.dtype.kind == "f" or x.dtype == ml_dtypes.bfloat16 else x.astype(np.int64)
    )
    seen = set()
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = int(index[at])
        place = tuple(to)
        if start is not None and place not in seen:
            right[place] = start
        seen.add(place)
        right[place] = combine(
            right[place], source[at].astype(np.float64) if hasattr(source[at], "astype") else source[at]
        )
    return right.astype(x.dtype)


FORMS = {
    "scatter.src": ("", lambda a, b: b, None),
    "scatter_add": ("", lambda a, b: a + b, None),
    "scatter_reduce.two prod": ("%prod %yes", lambda a, b: a * b, None),
    "scatter_reduce.two amax": ("%amax %yes", max, None),
    "scatter_reduce.two sum": ("%sum %no", lambda a, b: a + b, 0),
    "scatter.reduce add": ("%add", lambda a, b: a + b, None),
    "scatter.reduce multiply": ("%multiply", lambda a, b: a * b, None),
}


def drawn(element: str, shape, index, dim: int):
    kind = ELEMENTS[element]
    low, high = (0, 256) if element == "ui8" else (-4, 5)
    whole = RNG.integers(low, high, shape).astype(kind), RNG.integers(low, high, index).astype(kind)
    # No element twice: what a plain scatter leaves there is not said.
    order = np.argsort(
        RNG.random([*index[:dim], shape[dim], *index[dim + 1 :]] if dim >= 0 else [*index[:-1], shape[-1]]),
        dim,
    )
    return whole[0], np.take(order, range(index[dim]), dim).astype(np.int64), whole[1]


@pytest.mark.parametrize(
    ("form", "element"),
    [(form, element) for form in FORMS for element in ELEMENTS],
)
def test_the_last_dimension(tmp_path, form, element):
    name, (more, combine, start) = form.split()[0], FORMS[form]
    x, index, source = drawn(element, (3, 6), (3, 4), -1)
    text = program(name, more, x.shape, index.shape, element)
    entered(tmp_path, text, f"aten.{name}", "fissile-scatter-elements", beside=BESIDE)
    got = computed(tmp_path, x, index, source)
    np.testing.assert_array_equal(
        got.astype(np.float64), expected(x, index, source, -1, combine, start).astype(np.float64)
    )


@pytest.mark.parametrize("form", ("scatter.src", "scatter_add"))
def test_a_dimension_in_the_middle_and_elements_twice(tmp_path, form):
    x = RNG.standard_normal((2, 5, 3), dtype=np.float32)
    index = RNG.integers(0, 5, (2, 4, 3))
    source = RNG.integers(-4, 5, index.shape).astype(np.float32)
    if form == "scatter.src":
        index = np.argsort(RNG.random((2, 5, 3)), 1)[:, :4]
    entered(
        tmp_path,
        program(form, "", x.shape, index.shape, dim=-2),
        f"aten.{form}",
        "fissile-scatter-elements",
        beside=BESIDE,
    )
    combine = (lambda a, b: b) if form == "scatter.src" else (lambda a, b: a + b)
    np.testing.assert_allclose(
        computed(tmp_path, x, index, source), expected(x, index, source, 1, combine), rtol=1e-6
    )


@pytest.mark.parametrize("kind", ("amax", "amin"))
def test_the_extremes_of_unsigned_bytes(tmp_path, kind):
    """Stock builds it, and compares 200 as -56."""
    x, index, source = drawn("ui8", (3, 6), (3, 4), 1)
    text = program("scatter_reduce.two", "%amax %yes", x.shape, index.shape, "ui8", dim=1)
    text = text.replace('torch.constant.str "amax"', f'torch.constant.str "{kind}"')
    status, findings = compiled(tmp_path, text)
    repaired = [one for one in findings if one["severity"] == "repaired"]
    assert status == 0 and [one["code"] for one in repaired] == ["FIS165"], findings
    (tmp_path / "entered.mlir").write_text(text)
    got = computed(tmp_path, x, index, source)
    np.testing.assert_array_equal(
        got.view(np.uint8), expected(x, index, source, 1, max if kind == "amax" else min)
    )


@pytest.mark.parametrize(
    ("name", "more"),
    (("scatter.value", ""), ("scatter.value_reduce", "%add"), ("scatter.value_reduce", "%multiply")),
)
@pytest.mark.parametrize("element", ("f32", "si32"))
def test_one_number_for_all(tmp_path, name, more, element):
    x, index, source = drawn(element, (3, 6), (3, 4), -1)
    text = program(name, more, x.shape, index.shape, element, source="%v")
    entered(tmp_path, text, f"aten.{name}", "fissile-scatter-elements", beside=BESIDE)
    number = 2.5 if element == "f32" else 2
    combine = {
        "": lambda a, b: number,
        "%add": lambda a, b: a + number,
        "%multiply": lambda a, b: a * number,
    }[more]
    np.testing.assert_array_equal(
        computed(tmp_path, x, index, source), expected(x, index, source, -1, combine)
    )


@pytest.mark.parametrize(
    ("name", "more", "right"),
    (("scatter.src", "", 7), ("scatter_add", "", 10), ("scatter_reduce.two", "%amax %no", 7)),
)
def test_a_single_element(tmp_path, name, more, right):
    text = program(name, more, (), (), dim=0)
    entered(tmp_path, text, f"aten.{name}", "fissile-scatter-elements", beside=BESIDE)
    got = computed(tmp_path, np.float32(3).reshape(()), np.int64(0).reshape(()), np.float32(7).reshape(()))
    assert got.shape == () and float(got) == right


def test_sizes_that_the_call_decides(tmp_path):
    x, index, source = drawn("f32", (3, 6), (3, 4), -1)
    text = program("scatter_add", "", ("?", 6), ("?", 4))
    entered(
        tmp_path, text, "aten.scatter_add", "fissile-scatter-elements", beside=("FIS202", "FIS201", "FIS220")
    )
    np.testing.assert_array_equal(
        computed(tmp_path, x, index, source), expected(x, index, source, 1, lambda a, b: a + b)
    )


@pytest.mark.parametrize(("name", "more", "dim"), (("scatter_add", "", -1), ("scatter.reduce", "%add", 1)))
def test_stock_builds_none(tmp_path, name, more, dim):
    written(tmp_path, program(name, more, (3, 6), (3, 4), dim=dim))
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is not None


def test_a_dimension_from_the_front_stays(tmp_path):
    written(tmp_path, program("scatter_add", "", (3, 6), (3, 4), dim=1))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS421" not in [f.code for f in report.findings]
