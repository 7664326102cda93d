"""FIS421: PyTorch's stacks, splits, shifts, selections and copies, which move elements and compute nothing with them."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled

_HEAD = """
  %none = torch.constant.none
  %minus = torch.constant.int -1
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %nine = torch.constant.int 9
"""
_LIST = "!torch.list<vtensor>"
_INTS = "!torch.list<int>"
_ELEMENTS = {"f32": np.float32, "f16": np.float16, "si32": np.int32, "i1": np.bool_}


def _type(shape, element="f32"):
    return f"!torch.vtensor<[{shape}],{element}>"


def _called(name, operands, types, made):
    return f'%r = torch.operator "torch.aten.{name}"({operands}) : ({types}) -> {made}'


def _of_both(name, x, y, made):
    """The op of a list of %x and %y."""
    return (
        f"%l = torch.prim.ListConstruct %x, %y : ({x}, {y}) -> {_LIST}\n  {_called(name, '%l', _LIST, made)}"
    )


def _ints(name, *values):
    words = ", ".join(f"%{one}" for one in values)
    return f"%{name} = torch.prim.ListConstruct {words} : ({', '.join(['!torch.int'] * len(values))}) -> {_INTS}\n  "


def _unpacked(made):
    return f"\n  %p:{len(made)} = torch.prim.ListUnpack %r : {_LIST} -> {', '.join(made)}"


_X, _I = _type("4,6"), _type("2,3", "si64")
_INDICES = np.array([[0, -1, 5], [-24, 23, 7]])
_ALONG = np.array([[0, -1, 5]])

# What it is called with, beside %x: [4,6] or as is written; the op; the types of the results; numpy's answer.
_CASES = {
    "mT of unknown sizes": (
        "f32", _type("4,?"), "", _called("mT", "%x", _type("4,?"), _type("?,4")), [_type("?,4")], lambda x: [x.T]),
    "movedim": (
        "f32", _type("2,3,4"), "", _ints("a", "zero", "minus") + _ints("b", "minus", "one")
        + _called("movedim.intlist", "%x, %a, %b", f"{_type('2,3,4')}, {_INTS}, {_INTS}", _type("3,4,2")), [_type("3,4,2")],
        lambda x: [np.moveaxis(x, (0, -1), (-1, 1))]),
    "dstack": (
        "si32", _type("6", "si32"), _type("6", "si32"), _of_both("dstack", _type("6", "si32"), _type("6", "si32"), _type("1,6,2", "si32")),
        [_type("1,6,2", "si32")], lambda x, y: [np.dstack([x, y])]),
    "block_diag": (
        "i1", _type("4,6", "i1"), _type("", "i1"), _of_both("block_diag", _type("4,6", "i1"), _type("", "i1"), _type("5,7", "i1")),
        [_type("5,7", "i1")], lambda x, y: [np.block([[x, np.zeros((4, 1), bool)], [np.zeros((1, 6), bool), y.reshape(1, 1)]])]),
    "cartesian_prod": (
        "f16", _type("4", "f16"), _type("3", "f16"), _of_both("cartesian_prod", _type("4", "f16"), _type("3", "f16"), _type("12,2", "f16")),
        [_type("12,2", "f16")], lambda x, y: [np.stack([np.repeat(x, 3), np.tile(y, 4)], 1)]),
    "ifftshift": (
        "f32", _type("5,?"), "", _called("fft_ifftshift", "%x, %none", f"{_type('5,?')}, !torch.none", _type("5,?")), [_type("5,?")],
        lambda x: [np.fft.ifftshift(x)]),
    "take": ("f32", _X, _I, _called("take", "%x, %y", f"{_X}, {_I}", _type("2,3")), [_type("2,3")], lambda x, i: [x.ravel()[i]]),
    "take_along_dim": (
        "f32", _X, _type("1,3", "si64"), _called("take_along_dim", "%x, %y, %minus", f"{_X}, {_type('1,3', 'si64')}, !torch.int", _type("4,3")),
        [_type("4,3")], lambda x, i: [x[:, i[0]]]),
    "tensor_split": (
        "f32", _X, "", _ints("a", "two", "one", "nine") + _called("tensor_split.indices", "%x, %a, %one", f"{_X}, {_INTS}, !torch.int", _LIST)
        + _unpacked(parts := [_type("4,2"), _type("4,0"), _type("4,5"), _type("4,0")]), parts,
        lambda x: [x[:, :2], x[:, 2:1], x[:, 1:], x[:, 6:]]),
    "vsplit": (
        "f32", _X, "", _called("vsplit.int", "%x, %two", f"{_X}, !torch.int", _LIST) + _unpacked(parts := [_type("2,6")] * 2), parts,
        lambda x: [x[:2], x[2:]]),
    "sum_to_size": (
        "f32", _type("3,4,6"), "", _ints("a", "one", "six") + _called("sum_to_size", "%x, %a", f"{_type('3,4,6')}, {_INTS}", _type("1,6")),
        [_type("1,6")], lambda x: [x.sum((0, 1), keepdims=True)[0]]),
    "diagflat": (
        "f32", _type("2,2"), "", _called("diagflat", "%x, %minus", f"{_type('2,2')}, !torch.int", _type("5,5")), [_type("5,5")],
        lambda x: [np.diagflat(x, -1)]),
    "repeat_interleave": (
        "f32", _type("3,6"), _type("3", "si64"),
        _called("repeat_interleave.self_Tensor", "%x, %y, %zero, %nine", f"{_type('3,6')}, {_type('3', 'si64')}, !torch.int, !torch.int", _type("9,6")),
        [_type("9,6")], lambda x, n: [np.repeat(x, n, 0)]),
    "unbind_copy": (
        "f32", _type("2,6"), "", f"%r = torch.aten.unbind_copy.int %x, %zero : {_type('2,6')}, !torch.int -> {_LIST}"
        + _unpacked(parts := [_type("6")] * 2), parts, lambda x: [x[0], x[1]]),
}  # fmt: skip
_INDEX_OF = {"take": _INDICES, "take_along_dim": _ALONG, "repeat_interleave": np.array([2, 0, 7])}


def _drawn(type_, element):
    shape = [7 if one == "?" else int(one) for one in type_.split("[")[1].split("]")[0].split(",") if one]
    random = np.random.default_rng(3)
    return np.asarray(random.integers(-9, 9, shape) > 0 if element == "i1" else random.integers(-9, 9, shape))


@pytest.mark.parametrize("name", _CASES)
def test_the_elements_move_as_in_pytorch(tmp_path, name):
    element, x, y, op, made, meant = _CASES[name]
    names = [f"%p#{at}" for at in range(len(made))] if "ListUnpack" in op else ["%r"]
    given = f"%x: {x}" + (f", %y: {y}" if y else "")
    text = "\n".join(
        [
            f"func.func @main({given}) -> ({', '.join(made)}) {{", _HEAD, "  %six = torch.constant.int 6",
            f"  {op}", f"  return {', '.join(names)} : {', '.join(made)}", "}", "",
        ]
    )  # fmt: skip
    status, findings = compiled(tmp_path, text)
    assert status == 0, findings
    assert ("FIS421", "repaired") in [(one["code"], one["severity"]) for one in findings]
    (tmp_path / "entered.mlir").write_text(text)  # `all_computed` reads its signature
    type_of = _ELEMENTS[element]
    values = [_drawn(x, element).astype(type_of)]
    if y:
        index = _INDEX_OF.get(name)
        values.append(_drawn(y, element).astype(type_of) if index is None else index)
    for answer, wanted in zip(all_computed(tmp_path, *values), meant(*values), strict=True):
        np.testing.assert_array_equal(answer, wanted)
