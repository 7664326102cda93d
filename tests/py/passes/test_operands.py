"""Operands by name: the table against IREE's Python classes, and against ops that IREE parses."""

from __future__ import annotations

import importlib
import keyword

import pytest
from iree.compiler import ir

from bench.programs.text.spelling import spelled
from fissile.dialect import operands as named
from fissile.dialect.operands import init_of, inits, knows_operands, operand, operands_named

PROGRAM = """
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @f(%a: tensor<?x?xf32>, %d: tensor<?x?x?x?xf32>, %t: index, %p: f32, %s: tensor<4x8xf32>, %i: tensor<3xi32>,
             %u: tensor<3x8xf32>, %m: tensor<3xi1>, %r: tensor<4xf32>, %q: tensor<2x3x4xf32>, %k: tensor<2x3xf32>,
             %b: tensor<2x3x3xi1>) {
  %pack = linalg.pack %a inner_dims_pos=[0, 1] inner_tiles=[%t, %t] into %d : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %padded = linalg.pack %a padding_value(%p : f32) inner_dims_pos=[0, 1] inner_tiles=[%t, %t] into %d
      : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %unpack = linalg.unpack %d inner_dims_pos=[0, 1] inner_tiles=[%t, %t] into %a : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  %scatter = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%u, %i : tensor<3x8xf32>, tensor<3xi32>) outs(%s : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32):
      iree_linalg_ext.yield %x : f32
    } -> tensor<4x8xf32>
  %masked = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%u, %i, %m : tensor<3x8xf32>, tensor<3xi32>, tensor<3xi1>) outs(%s : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32):
      iree_linalg_ext.yield %x : f32
    } -> tensor<4x8xf32>
  %gather = iree_linalg_ext.gather dimension_map = [0]
      ins(%s, %i, %m : tensor<4x8xf32>, tensor<3xi32>, tensor<3xi1>) outs(%u : tensor<3x8xf32>) -> tensor<3x8xf32>
  %two:2 = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<4x8xf32>) outs(%s, %r : tensor<4x8xf32>, tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      linalg.yield %x, %z : f32, f32
    } -> (tensor<4x8xf32>, tensor<4xf32>)
  %reduced = linalg.reduce {arith.addf} ins(%s : tensor<4x8xf32>) outs(%r : tensor<4xf32>) dimensions = [1]
  %scale = arith.constant 1.0 : f32
  %online:3 = iree_linalg_ext.online_attention <indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, k2)>, affine_map<(b, m, n, k1, k2) -> (b, m, n)>,
      affine_map<(b, m, n, k1, k2) -> (b, m)>, affine_map<(b, m, n, k1, k2) -> (b, m)>]>
      ins(%q, %q, %q, %scale, %b : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, f32, tensor<2x3x3xi1>)
      outs(%q, %k, %k : tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
    } -> tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  return
}
"""


@pytest.fixture(scope="module")
def ops():
    context = ir.Context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(
        spelled(PROGRAM),
        context,
    )
    body = module.body.operations[0].regions[0].blocks[0]
    arguments = dict(
        zip(("a", "d", "t", "p", "s", "i", "u", "m", "r", "q", "k", "b"), body.arguments, strict=True)
    )
    return module, [op.operation for op in body.operations], arguments


def test_an_init_is_the_destination_and_not_the_last_operand(ops):
    _module, body, values = ops
    pack, padded, unpack = body[:3]
    assert init_of(pack, 0) == init_of(padded, 0) == values["d"]
    assert init_of(unpack, 0) == values["a"]
    assert operand(pack, "padding_value") is None and operand(padded, "padding_value") == values["p"]
    assert operands_named(unpack, "inner_tiles") == [values["t"], values["t"]]


def test_a_mask_is_no_destination(ops):
    _module, body, values = ops
    scatter, masked, gather = body[3:6]
    assert (
        operand(scatter, "mask") is None and operand(masked, "mask") == operand(gather, "mask") == values["m"]
    )
    assert inits(scatter) == inits(masked) == [values["s"]]
    assert inits(gather) == [values["u"]] and operand(gather, "source") == values["s"]


def test_every_result_has_the_type_of_its_destination(ops):
    _module, body, _values = ops
    seen = 0
    for op in body:
        for number, result in enumerate(
            op.results if op.name.startswith(("linalg.", "iree_linalg_ext.")) else ()
        ):
            assert init_of(op, number).type == result.type, op.name
            seen += 1
    assert seen == 12


def test_an_op_that_is_not_known_has_no_names(ops):
    module, body, _values = ops
    assert not knows_operands(module.operation) and inits(module.operation) == []
    with pytest.raises(KeyError, match="no operand 'mask'"):
        operand(body[0], "mask")


@pytest.mark.parametrize("name", [n for n in named._ODS if not n.startswith("iree_linalg_ext.")])
def test_names_are_those_of_the_python_classes(name):
    """Upstream's dialects have classes: each name of the table is one of their properties, in this order."""
    dialect = name.split(".")[0]
    try:
        generated = importlib.import_module(f"iree.compiler.dialects._{dialect}_ops_gen")
    except ImportError:
        pytest.skip(f"no classes for {dialect}")
    found = [
        c
        for c in vars(generated).values()
        if getattr(c, "OPERATION_NAME", "") == name and "Adaptor" not in c.__name__
    ]
    if not found:
        pytest.skip(f"this IREE has no {name}")
    order = list(vars(found[0]))
    words = [word.rstrip("?*") for word in named._ODS[name].split()]
    words = [f"{word}_" if keyword.iskeyword(word) else word for word in words]  # `in` in Python
    assert sorted(words, key=order.index) == words


def test_attributes_that_python_cannot_hold_or_decode_stop_nobody():
    from fissile.dialect import place_of
    from fissile.dialect.attributes import attribute, attributes, text_of

    context = ir.Context()
    module = ir.Module.parse(
        '"func.func"() <{sym_name = "ma\\FFin", function_type = () -> ()}> ({\n'
        "  %c = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>\n"
        '  "func.return"() : () -> ()\n}) : () -> () loc("\\FF\\FEx":3:7)',
        context,
    )
    function = module.body.operations[0].operation
    constant = function.regions[0].blocks[0].operations[0].operation
    assert attribute(constant, "value") is None and list(attributes(constant)) == []
    assert text_of(function, "sym_name") == "ma\\xffin" and text_of(function, "no_such") == ""
    assert str(place_of(function)) == "\\xff\\xfex:3:7"


def test_walks_go_deeper_than_pythons_stack():
    from fissile.passes.checks.storage.storage_fit import judge_storage

    depth = 1500
    opened = "".join(f"%r{i} = scf.if %c -> tensor<?xf32> {{\n" for i in range(depth))
    closed = "".join(
        "} else {\nscf.yield %a : tensor<?xf32>\n}\n"
        + f"{'scf.yield' if i else 'return'} %r{i} : tensor<?xf32>\n"
        for i in reversed(range(depth))
    )
    text = (
        "func.func @f(%a: tensor<?xf32>, %c: i1, %n: index) -> tensor<?xf32> {\n"
        + opened
        + "%s = tensor.extract_slice %a[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>\nscf.yield %s : tensor<?xf32>\n"
        + closed
        + "}"
    )
    report = judge_storage(ir.Module.parse(text, ir.Context()).operation, smt_timeout_ms=0)
    assert [j.obligation.kind for j in report.judged].count("tensor.extract_slice") > 0
