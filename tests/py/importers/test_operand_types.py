"""Ops of PyTorch on element types that IREE rejects or compares in another type: integers of 8 bits, operands that are promoted, f64 and complex numbers."""

from __future__ import annotations

import itertools

import built
import numpy as np
import pytest
from entered_programs import all_computed, compiled, entered

import fissile
from fissile.pipelines.compile.hooks import front_end
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.session import Session

DRAWN = np.random.default_rng(11)
ELEMENTS = {"ui8": np.uint8, "si8": np.int8, "si16": np.int16, "si32": np.int32, "si64": np.int64, "f32": np.float32, "f64": np.float64, "i1": np.bool_}  # fmt: skip
INFINITY, NAN = np.inf, np.nan


def tensor(sizes, element):
    return f"!torch.vtensor<[{sizes}],{element}>"


def program(name, operands, made, operator=False):
    """An op on ``operands``: types of tensors, None, numbers; ``made`` is the type of the result."""
    arguments, lines, values, types = [], [], [], []
    for place, one in enumerate(operands):
        if isinstance(one, str):
            arguments.append(f"%a{place}: {one}")
            values.append(f"%a{place}")
            types.append(one)
            continue
        kind = "none" if one is None else "float" if isinstance(one, float) else "int"
        spelled = "" if one is None else f" {one:e}" if kind == "float" else f" {one}"
        lines.append(f"  %c{place} = torch.constant.{kind}{spelled}")
        values.append(f"%c{place}")
        types.append(f"!torch.{kind}")
    if operator:
        op = f'torch.operator "{name}"({", ".join(values)}) : ({", ".join(types)}) -> {made}'
    else:
        op = f"torch.{name} {', '.join(values)} : {', '.join(types)} -> {made}"
    opset = ", torch.onnx_meta.opset_version = 19 : si64" if operator else ""
    strict = f"attributes {{torch.assume_strict_symbolic_shapes{opset}}}"
    head = f"func.func @main({', '.join(arguments)}) -> {made} {strict} {{"
    return "\n".join([head, *lines, f"  %r = {op}", f"  return %r : {made}", "}", ""])


def bytes_of(*shape, element):
    bounds = np.iinfo(ELEMENTS[element])
    return DRAWN.integers(bounds.min, bounds.max + 1, shape).astype(ELEMENTS[element])


def same_bits(got, wanted):
    """IREE's integers have no sign."""
    assert got.shape == wanted.shape
    assert np.array_equal(got.view(wanted.dtype), wanted)


PRODUCTS = {
    "aten.mm": ((3, 5), (5, 4)), "aten.bmm": ((2, 3, 5), (2, 5, 4)), "aten.matmul": ((2, 3, 5), (5, 4)), "aten.mv": ((3, 5), (5,)), "aten.dot": ((5,), (5,)),
    "onnx.MatMul": ((2, 3, 5), (5, 4)),
}  # fmt: skip


@pytest.mark.parametrize(("name", "element"), itertools.product(PRODUCTS, ("si8", "ui8")))
def test_products_of_bytes_wrap(tmp_path, name, element):
    left, right = PRODUCTS[name]
    a, b = (bytes_of(*shape, element=element) for shape in (left, right))
    wanted = np.matmul(a.astype(np.int64), b.astype(np.int64)).astype(a.dtype)
    types = [tensor(",".join("?" * len(shape)), element) for shape in (left, right, wanted.shape)]
    text = program(name, types[:2], types[2], operator=name.startswith("onnx"))
    entered(tmp_path, text, name, "fissile-multiply-bytes")
    same_bits(all_computed(tmp_path, a, b)[0], wanted)


@pytest.mark.parametrize("element", ["si8", "ui8", "si16", "si32", "si64"])
def test_scaled_sums_of_products(tmp_path, element):
    bias, a, b = (bytes_of(*shape, element=element) for shape in ((4,), (3, 5), (5, 4)))
    types = [tensor(sizes, element) for sizes in ("4", "3,5", "5,4")]
    entered(tmp_path, program("aten.addmm", [*types, 3, -2], tensor("3,4", element)), "aten.addmm", "fissile-multiply-bytes")  # fmt: skip
    wide = [one.astype(np.int64) for one in (bias, a, b)]
    with np.errstate(over="ignore"):
        same_bits(
            all_computed(tmp_path, bias, a, b)[0], (3 * wide[0] - 2 * (wide[1] @ wide[2])).astype(a.dtype)
        )


def test_a_linear_layer_of_bytes(tmp_path):
    """As `torch.nn.functional.linear`: with a bias, and no columns to add up."""
    x, weight, bias = (bytes_of(*shape, element="si8") for shape in ((3, 0), (4, 0), (4,)))
    types = [tensor(sizes, "si8") for sizes in ("3,?", "4,?", "4")]
    entered(
        tmp_path, program("aten.linear", types, tensor("3,4", "si8")), "aten.linear", "fissile-multiply-bytes"
    )
    same_bits(all_computed(tmp_path, x, weight, bias)[0], np.tile(bias, (3, 1)))


def raised(base: int, exponent: int, element: str) -> int:
    """The power that PyTorch defines, modulo the width of the type."""
    if exponent < 0:
        exact = {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
    else:
        exact = base**exponent
    return int(np.array(exact % (1 << 64), np.uint64).astype(ELEMENTS[element]))


BASES = {"si8": [0, 1, -1, 2, -3, 7, -128, 127], "ui8": [0, 1, 2, 3, 7, 16, 128, 255]}
EXPONENTS = {"si8": [0, 1, 5, 6, 7, 64, 127, -1, -2, -128], "ui8": [0, 1, 2, 3, 5, 7, 8, 127, 128, 255]}


@pytest.mark.parametrize(
    ("element", "size"), itertools.product(("si8", "ui8", "si16", "si32", "si64"), ("8", "?"))
)
def test_integer_powers(tmp_path, element, size):
    least = np.iinfo(ELEMENTS[element]).min
    bases = [*BASES["ui8" if element == "ui8" else "si8"][:-2], least, least + 1]
    exponents = EXPONENTS["ui8" if element == "ui8" else "si8"]
    base = np.array(bases, ELEMENTS[element]).reshape(8, 1)
    exponent = np.array(exponents, ELEMENTS[element])
    types = [tensor(f"{size},1", element), tensor("10", element)]
    made = tensor(f"{size},10", element)
    text = program("aten.pow.Tensor_Tensor", types, made)
    entered(tmp_path, text, "aten.pow.Tensor_Tensor", "fissile-raise-by-squaring")
    wanted = [[raised(int(one), by, element) for by in exponents] for one in base[:, 0]]
    same_bits(all_computed(tmp_path, base, exponent)[0], np.array(wanted, ELEMENTS[element]))


@pytest.mark.parametrize(("name", "number"), [("aten.pow.Tensor_Scalar", 0), ("aten.pow.Tensor_Scalar", 13), ("aten.pow.Scalar", -1), ("aten.pow.Scalar", 3)])  # fmt: skip
def test_powers_with_a_number(tmp_path, name, number):
    x = np.array([0, 1, -1, 2, -3, 40], np.int32)
    is_base = name == "aten.pow.Scalar"
    operands = [number, tensor("?", "si32")] if is_base else [tensor("?", "si32"), number]
    entered(tmp_path, program(name, operands, tensor("?", "si32")), name, "fissile-raise-by-squaring")
    wanted = [raised(number, int(one), "si32") if is_base else raised(int(one), number, "si32") for one in x]
    same_bits(all_computed(tmp_path, x)[0], np.array(wanted, np.int32))


WHOLE = np.array([[0, 1, -1, 5], [-7, 100, 16777217, -(1 << 30)]], np.int64)
PROMOTED = {
    "aten.clamp": ((-2.5, 2.5), lambda x: np.clip(x, -2.5, 2.5)),
    "aten.clamp_min": ((0.5,), lambda x: np.maximum(x, 0.5)),
    "aten.clamp_max": ((0.5,), lambda x: np.minimum(x, 0.5)),
    "aten.fmod.Scalar": ((1.5,), lambda x: np.fmod(x, 1.5)),
    "aten.pow.Tensor_Scalar": ((2.0,), lambda x: np.power(x, 2.0)),
}


@pytest.mark.parametrize(("name", "element"), itertools.product(PROMOTED, ("si64", "si32")))
def test_integers_become_floats_first(tmp_path, name, element):
    numbers, computed = PROMOTED[name]
    text = program(name, [tensor("?,?", element), *numbers], tensor("?,?", "f32"))
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    assert [
        one["subject"] for one in findings if one["helps"][0].get("remedy") == "fissile-promote-operands"
    ] == [name]
    source_of(tmp_path, text)
    x = (WHOLE[:1] if name == "aten.fmod.Scalar" else WHOLE).astype(ELEMENTS[element])
    np.testing.assert_allclose(all_computed(tmp_path, x)[0], computed(x.astype(np.float32)), rtol=1e-6)


def source_of(tmp_path, text):
    """Writes ``text`` as it enters, for `all_computed`."""
    module = Session(built.CPU).parse_text(text)
    front_end.rewritten(module, "")
    (tmp_path / "entered.mlir").write_text(module.text())


@pytest.mark.parametrize(
    ("first", "second"), [("si64", "si64"), ("f32", "si64"), ("si32", "f32"), ("ui8", "f32")]
)
def test_two_operands_of_other_types(tmp_path, first, second):
    """xlogy is 0 where its first operand is, and a NaN where the second is one."""
    x = np.array([0, 1, 3, 200, 7, 2], ELEMENTS[first])
    y = np.array([0, 2, 3, 5, 1, NAN] if second == "f32" else [0, 2, 3, 5, 1, 9], ELEMENTS[second])
    text = program("aten.xlogy.Tensor", [tensor("?", first), tensor("?", second)], tensor("?", "f32"))
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    source_of(tmp_path, text)
    with np.errstate(all="ignore"):
        wanted = np.where(
            np.isnan(y), NAN, np.where(x == 0, 0, x.astype(np.float64) * np.log(y.astype(np.float64)))
        )
    np.testing.assert_allclose(all_computed(tmp_path, x, y)[0], wanted, rtol=1e-5)


DOUBLES = np.array([[3.5, -INFINITY, 0.25, NAN], [1.5, 7.0, -2.0, 0.5]])


def kth(number):
    types = f"{tensor('?,4', 'f64')}, !torch.int, !torch.int, !torch.bool -> {tensor('?', 'f64')}, {tensor('?', 'si64')}"
    return f"""
func.func @main(%x: {tensor("?,4", "f64")}) -> ({tensor("?", "f64")}, {tensor("?", "si64")}) attributes {{torch.assume_strict_symbolic_shapes}} {{
  %k = torch.constant.int {number}
  %dim = torch.constant.int 1
  %no = torch.constant.bool false
  %v, %i = torch.aten.kthvalue %x, %k, %dim, %no : {types}
  return %v, %i : {tensor("?", "f64")}, {tensor("?", "si64")}
}}
"""


def test_doubles_are_selected_as_floats(tmp_path):
    """IREE computes f64 in f32 by default. With the flag that it shall not, the op stays rejected."""
    status, findings = compiled(tmp_path, kth(3), "--guard=off")
    remedies = {way["remedy"] for one in findings if one["code"] == "FIS421" for way in one["helps"]}
    assert status == 0 and remedies == {"fissile-narrow-doubles", "fissile-select-ordered"}, findings
    source_of(tmp_path, kth(3))
    values, places = all_computed(tmp_path, DOUBLES)
    assert values.dtype == np.float64 and np.array_equal(values, [3.5, 1.5]) and list(places) == [0, 0]
    status, _findings = compiled(tmp_path, kth(3), "--guard=off", "--iree-input-demote-f64-to-f32=false")
    assert status != 0


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_complex_numbers_of_unknown_sizes(tmp_path, element):
    text = program("aten.view_as_complex", [tensor("?,?", element)], tensor("?", f"complex<{element}>"))
    status, findings = compiled(tmp_path, text, "--guard=off")
    remedies = {one["helps"][0]["remedy"] for one in findings if one["code"] == "FIS421"}
    assert status == 0 and remedies == {"fissile-join-parts"}, findings
    source_of(tmp_path, text)
    x = np.array([[1.5, -2.0], [INFINITY, 0.0], [-0.0, 3.0]], ELEMENTS[element])
    [got] = all_computed(tmp_path, x)
    assert np.array_equal(np.stack([got.real, got.imag], axis=-1), x)


def thresholded(size):
    """Gradients of another type than the operand, and one of the same."""
    n = size
    return f"""
func.func @main(%g: {tensor(n, "si64")}, %x: {tensor(n, "f32")}, %h: {tensor(n, "f16")}, %u: {tensor(n, "si64")}) -> ({tensor(n, "si64")}, {tensor(n, "f16")}, {tensor(n, "si64")}) attributes {{torch.assume_strict_symbolic_shapes}} {{
  %half = torch.constant.float 5.000000e-01
  %less = torch.constant.float -5.000000e-01
  %a = torch.aten.threshold_backward %g, %x, %half : {tensor(n, "si64")}, {tensor(n, "f32")}, !torch.float -> {tensor(n, "si64")}
  %b = torch.aten.threshold_backward %h, %x, %half : {tensor(n, "f16")}, {tensor(n, "f32")}, !torch.float -> {tensor(n, "f16")}
  %c = torch.aten.threshold_backward %g, %u, %less : {tensor(n, "si64")}, {tensor(n, "si64")}, !torch.float -> {tensor(n, "si64")}
  return %a, %b, %c : {tensor(n, "si64")}, {tensor(n, "f16")}, {tensor(n, "si64")}
}}
"""


@pytest.mark.parametrize("size", ["8", "?"])
def test_a_threshold_is_compared_in_the_type_of_its_operand(tmp_path, size):
    g = np.array([4, -19, 1 << 40, 7, 3, 8, 6, 5])
    x = np.array([0.9, 0.25, 0.5, 1.5, np.nextafter(np.float32(0.5), np.float32(1)), -INFINITY, NAN, INFINITY], np.float32)  # fmt: skip
    h, u = np.arange(1, 9).astype(np.float16), np.array([0, -1, 1, 2, -5, 0, 3, -2])
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(thresholded(size))
    report = fissile.compile(source, output, built.CPU, check=False)
    assert [one.severity.value for one in report.findings if one.code == "FIS218"] == ["repaired"] * 3
    wanted = [np.where(x <= 0.5, 0, g), np.where(x <= 0.5, 0, h), np.where(u <= -0.5, 0, g)]
    for got, one in zip(called(output, source, [g, x, h, u]), wanted, strict=True):
        np.testing.assert_array_equal(got, one)


def test_stock_compares_it_in_another(tmp_path):
    """Where stock is right, IREE has changed, and FIS218 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(thresholded("8"))
    assert compile_stock(source, output, [*built.CPU], timeout=300.0) is None
    ones, near = np.ones(8, np.int64), np.full(8, np.nextafter(np.float32(0.5), np.float32(1)))
    found = called(output, source, [ones, near, ones.astype(np.float16), 0 * ones])
    assert not any(one.any() for one in found)


def called(vmfb, source, inputs):
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return answer


AS_FLOATS = {
    "aten.clamp": ("x", -2.5, 2.5), "aten.clamp_max": ("x", 1.5), "aten.clamp_min": ("x", 0.5), "aten.clamp_min.Tensor": ("x", "y"),
    "aten.logit": ("x", 0.01), "aten.copysign.Scalar": ("x", -1.0), "aten.copysign.Tensor": ("x", "y"), "aten.fmod.Scalar": ("x", 1.5),
    "aten.fmod.Tensor": ("x", "y"), "aten.hypot": ("x", "y"), "aten.log10": ("x",), "aten.pow.Tensor_Scalar": ("x", 1.5),
    "aten.pow.Tensor_Tensor": ("x", "y"), "aten.remainder.Tensor": ("x", "y"), "aten.sinc": ("x",), "aten.special_entr": ("x",), "aten.xlogy.Tensor": ("x", "y"),
    "aten.i0": ("x",), "aten.special_ndtr": ("x",),
}  # fmt: skip
"""Op -> its operands: x is of integers, y of floats."""


def test_promoted_operands_compute_what_floats_do(tmp_path):
    """Each op of integers, beside the same op of the floats that they are, in one program."""
    integers, floats = tensor(6, "si32"), tensor(6, "f32")
    lines, results = [], []
    for number, (name, operands) in enumerate(AS_FLOATS.items()):
        for form, of_x in (("i", integers), ("f", floats)):
            values, types = [], []
            for place, one in enumerate(operands):
                if isinstance(one, float):
                    lines.append(f"  %c{form}{number}_{place} = torch.constant.float {one:e}")
                values.append(
                    {"x": f"%{form}", "y": "%y"}.get(one, f"%c{form}{number}_{place}")
                    if isinstance(one, str)
                    else f"%c{form}{number}_{place}"
                )
                types.append({"x": of_x, "y": floats}[one] if isinstance(one, str) else "!torch.float")
            known = f"torch.{name}"
            lines.append(_op(f"%r{form}{number}", known, values, types, floats))
            results.append(f"%r{form}{number}")
    made = ", ".join([floats] * len(results))
    text = (
        f"func.func @main(%i: {integers}, %f: {floats}, %y: {floats}) -> ({made}) attributes {{torch.assume_strict_symbolic_shapes}} {{\n"
        + "\n".join(lines)
        + f"\n  return {', '.join(results)} : {made}\n}}\n"
    )
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    (tmp_path / "entered.mlir").write_text(text)
    x = np.array([1, 2, 3, 7, 40, 1000], np.int32)
    y = np.array([0.5, 1.5, -2.5, 3, 0.25, 2], np.float32)
    answers = all_computed(tmp_path, x, x.astype(np.float32), y)
    for name, of_integers, of_floats in zip(AS_FLOATS, answers[::2], answers[1::2], strict=True):
        np.testing.assert_array_equal(of_integers, of_floats, err_msg=name)


def test_a_fourier_transform_of_integers_is_that_of_the_floats(tmp_path):
    given, made, none = "!torch.vtensor<[4,5],si32>", "!torch.vtensor<[4,8],f32>", ", !torch.none" * 3
    text = (
        f"func.func @main(%x: {given}) -> {made} {{\n  %none = torch.constant.none\n"
        f'  %r = torch.operator "torch.aten.fft_irfftn"(%x, %none, %none, %none) : ({given}{none}) -> {made}\n  return %r : {made}\n}}\n'
    )
    status, findings = compiled(tmp_path, text)
    assert status == 0, findings
    (tmp_path / "entered.mlir").write_text(text)
    x = np.arange(20, dtype=np.int32).reshape(4, 5) - 7
    np.testing.assert_allclose(all_computed(tmp_path, x)[0], np.fft.irfftn(x), rtol=1e-5, atol=1e-5)


_IN_DIALECT = Session(built.CPU).context


def _op(result, name, values, types, made):
    known = _IN_DIALECT.is_registered_operation(name)
    if known:
        return f"  {result} = {name} {', '.join(values)} : {', '.join(types)} -> {made}"
    return f'  {result} = torch.operator "{name}"({", ".join(values)}) : ({", ".join(types)}) -> {made}'


COMPARED = [f"aten.{name}.Tensor" for name in ("eq", "ge", "gt", "le", "lt", "ne")]
OF_BYTES = {
    **{name: ("si32", "i1") for name in COMPARED}, **{f"aten.bitwise_{name}.Tensor": ("si32", "si32") for name in ("and", "or", "xor")},
    "aten.fmax": ("f32", "f32"), "aten.fmin": ("f32", "f32"), "aten.maximum": ("f32", "f32"), "aten.clamp_min.Tensor": ("ui8", "ui8"), "aten.fmod.Tensor": ("ui8", "ui8"),
    "aten.copysign.Tensor": ("f32", "f32"), "aten.pow.Tensor_Tensor": ("f32", "f32"), "aten.neg": (None, "ui8"), "aten.reciprocal": (None, "f32"),
}  # fmt: skip
"""Op of a tensor of unsigned bytes -> the types of its other operand and of its result."""


def test_ops_of_unsigned_bytes_compute_what_wider_integers_do(tmp_path):
    """Each op of bytes above 127, beside the same op of the 32-bit integers that they are, in one program."""
    lines, results, made = [], [], []
    given = {one: tensor(6, one) for one in ("ui8", "si32", "f32")}
    for number, (name, (other, result)) in enumerate(OF_BYTES.items()):
        for form in ("ui8", "si32"):
            types = (
                [given[form]] if other is None else [given[form], given[form if other == "ui8" else other]]
            )
            second = {"ui8": f"%y_{form}", "si32": "%y_si32", "f32": "%y_f32"}.get(other or "", "")
            values = [f"%x_{form}"] if other is None else [f"%x_{form}", second]
            of_result = tensor(6, form if result == "ui8" else result)
            lines.append(_op(f"%r{form}{number}", f"torch.{name}", values, types, of_result))
            results.append(f"%r{form}{number}")
            made.append(of_result)
    heads = ", ".join(f"%{name}_{one}: {given[one]}" for name in "xy" for one in given)
    text = (
        f"func.func @main({heads}) -> ({', '.join(made)}) attributes {{torch.assume_strict_symbolic_shapes}} {{\n"
        + "\n".join(lines)
        + f"\n  return {', '.join(results)} : {', '.join(made)}\n}}\n"
    )
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    assert {"FIS165"} <= {one["code"] for one in findings}
    (tmp_path / "entered.mlir").write_text(text)
    x = np.array([200, 255, 3, 128, 127, 10], np.uint8)
    y = np.array([100, 255, 130, 7, 200, 3], np.uint8)
    answers = all_computed(tmp_path, *(one.astype(ELEMENTS[kind]) for one in (x, y) for kind in given))
    for name, of_bytes, of_integers in zip(OF_BYTES, answers[::2], answers[1::2], strict=True):
        wanted = (
            of_integers.astype(np.uint8)
            if of_bytes.dtype.itemsize < of_integers.dtype.itemsize
            else of_integers
        )
        np.testing.assert_array_equal(of_bytes.view(wanted.dtype), wanted, err_msg=name)
