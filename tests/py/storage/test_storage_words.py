"""What storage findings call things, and that one fact is one check."""

from __future__ import annotations

import pytest
from storage_sweep import FLAGS

from fissile.passes.analysis.bounds.value_names import name_of
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session
from fissile.verdict import Answer


@pytest.fixture(scope="module")
def session():
    with Session(FLAGS["local-task"]) as opened:
        yield opened


def sentences(session, text: str, phase: str | None = None) -> list[str]:
    module = session.parse_text(text)
    if phase:
        session.run(module, phase)
    return [j.sentence for j in judge_storage(module.op).having(Answer.UNKNOWN)]


EMBEDDING = """func.func @emb(%arg0: tensor<16x4xf32>{table}, %arg1: tensor<3xi64>{ids}) -> tensor<3x4xf32>{more} {{
  %e = tensor.empty() : tensor<3x4xf32>
  %size = arith.constant 16 : i64
  %zero = arith.constant 0 : i64
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} ins(%arg1 : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {{
  ^bb0(%id: i64, %o: f32):
    %k = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %low = arith.cmpi sge, %id, %zero : i64
    cf.assert %low, "index must be larger or equal to 0"
    %high = arith.cmpi slt, %id, %size : i64
    cf.assert %high, "index must be smaller than dim size"
    %v = tensor.extract %arg0[%k, %j] : tensor<16x4xf32>
    linalg.yield %v : f32
  }} -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}}"""
DECLARED = """ attributes {iree.reflection = {
    iree.abi.declaration = "sync func @emb(%table: tensor<16x4xf32>, %ids: tensor<3xi64>) -> (%r: tensor<3x4xf32>)"}}"""


@pytest.mark.parametrize(
    ("names", "ids", "table"),
    [
        (
            {"table": ' loc("table")', "ids": ' loc("ids")', "more": ""},
            "ids (argument 1)",
            "table (argument 0)",
        ),
        ({"table": "", "ids": "", "more": DECLARED}, "ids (argument 1)", "table (argument 0)"),
        ({"table": "", "ids": "", "more": ""}, "argument 1", "argument 0"),
    ],
)
def test_an_embedding_is_one_check_in_the_front_ends_words(session, names, ids, table):
    wanted = [f"every element of {ids} must be in 0..15: linalg.generic reads dimension 0 of {table} there"]
    assert sentences(session, EMBEDDING.format(**names)) == wanted
    assert sentences(session, EMBEDDING.format(**names), GUARDED_AT) == wanted


def test_note_and_run_time_check_say_the_same(session):
    module = session.run(
        session.parse_text(EMBEDDING.format(table="", ids=' loc("ids")', more="")), GUARDED_AT
    )
    (finding,) = guard(module.op).findings
    assert finding.message in module.text() and finding.message.startswith(
        "every element of ids (argument 1)"
    )


def test_two_values_of_one_name_are_told_apart(session, tmp_path):
    file = tmp_path / "twice.mlir"
    file.write_text("""func.func @f(%x: tensor<4xf32>, %n: index, %m: index, %p: i1) {
  scf.if %p {
    %k = arith.maxsi %n, %m : index
    %a = arith.muli %k, %k : index
    %r = tensor.extract_slice %x[%a] [2] [1] : tensor<4xf32> to tensor<2xf32>
  }
  scf.if %p {
    %a = arith.andi %n, %m : index
    %c = arith.xori %n, %m : index
    %r = tensor.extract_slice %x[%a] [%c] [1] : tensor<4xf32> to tensor<?xf32>
  }
  scf.if %p {
    %c = arith.ori %n, %m : index
    %r = tensor.extract_slice %x[%c] [2] [1] : tensor<4xf32> to tensor<2xf32>
  }
  return
}
""")
    found = [j.sentence for j in judge_storage(session.parse(file).op).having(Answer.UNKNOWN)]
    assert "writes" not in " ".join(found) and "(2)" not in " ".join(found)
    assert any("%c in line 13" in sentence for sentence in found)
    assert any("%c elements from %a on" in sentence for sentence in found)


LOOPS = """func.func @f(%x: tensor<4xf32>, %n: index, %m: index) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = tensor.empty(%n) : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %none, %k = %m) -> (tensor<?xf32>, index) {
    %a = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %b = tensor.extract_slice %x[%k] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %c = tensor.insert_slice %a into %t[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    %d = tensor.insert_slice %b into %c[%k] [2] [1] : tensor<2xf32> into tensor<?xf32>
    %l = arith.xori %k, %i : index
    scf.yield %d, %l : tensor<?xf32>, index
  }
  %w = scf.while (%k = %m) : (index) -> index {
    %go = arith.cmpi ult, %k, %n : index
    scf.condition(%go) %k : index
  } do {
  ^bb0(%k: index):
    %a = tensor.extract_slice %x[%k] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %v = tensor.extract %a[%c0] : tensor<1xf32>
    %u = arith.fptoui %v : f32 to i32
    %q = arith.index_cast %u : i32 to index
    scf.yield %q : index
  }
  return %r#0, %w : tensor<?xf32>, index
}
"""


def test_values_of_loops_have_their_own_words_and_one_element_is_singular(session):
    """The text is no file: there are no names to take from the source, only words and lines."""
    found = " / ".join(j.sentence for j in judge_storage(session.parse_text(LOOPS).op).judged)
    assert "reads 1 element from (the counter of the loop in line 5) on" in found
    assert "reads 2 elements from (iteration argument 1 of the loop in line 5) on" in found
    assert "reads 1 element from (the iteration argument of the loop in line 17, column 8) on" in found
    assert "1 elements" not in found and "line 5 of line" not in found


def test_a_name_that_is_none_is_not_taken(session):
    module = session.parse_text(
        'func.func @f(%a: tensor<4xf32> loc("x":1:2), %b: tensor<4xf32> loc("'
        + "n" * 90
        + '")) {\n return\n}'
    )
    block = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    assert [name_of(v) for v in block.arguments] == ["argument 0", "argument 1"]


@pytest.mark.parametrize(
    ("table", "ids", "more"),
    [
        ("", "", DECLARED.replace("{iree.reflection = {", "{").replace('"}}', '"}')),
        (' {jax.arg_info = "table"}', ' {jax.arg_info = "ids"}', ""),
        ("", "", ' attributes {tf.entry_function = {inputs = "table:0,ids", outputs = "r"}}'),
    ],
)
def test_names_that_the_input_conversion_drops_are_kept(session, table, ids, more):
    """IREE's input conversion drops declarations; what JAX says of an argument goes with StableHLO's functions."""
    module = session.parse_text(EMBEDDING.format(table=table, ids=ids, more=more))
    session.run(module, GUARDED_AT)
    before = module.text()
    assert "declaration" not in before
    (finding,) = guard(module.op, "check", declared=module.marks.declared).findings
    assert finding.message.startswith("every element of ids (argument 1) must be in 0..15")
    assert finding.message.endswith("of table (argument 0) there") and module.text() == before


def test_iree_s_own_numbering_is_no_name(session):
    numbered = EMBEDDING.format(table="", ids="", more=DECLARED.replace("%ids", "%input1"))
    (sentence,) = sentences(session, numbered)
    assert "of argument 1 must" in sentence and "table (argument 0)" in sentence


def test_a_front_ends_op_has_its_own_name_and_its_parts_another(session, tmp_path):
    """One op in the source becomes several: its result's name is that of the last one only."""
    file = tmp_path / "gather.mlir"
    file.write_text("""func.func @f(%arg0: !torch.vtensor<[6,4],f32>, %arg1: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,4],f32>
    attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %rows = torch.operator "onnx.Gather"(%arg0, %arg1) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[6,4],f32>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,4],f32>
  return %rows : !torch.vtensor<[3,4],f32>
}
""")
    module = session.run(session.parse(file), GUARDED_AT)
    (judged,) = judge_storage(module.op).having(Answer.UNKNOWN)
    assert judged.sentence == (
        "every element of what %rows computes from %arg1 must be in 0..5: onnx.Gather reads dimension 0 of %arg0 there"
    )


def test_sizes_and_truth_values_read_as_words(session, tmp_path):
    file = tmp_path / "words.mlir"
    file.write_text("""func.func @f(%p: i1, %x: tensor<?x?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %n: index) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %s = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x?xf32> to tensor<?x4xf32>
  %c = arith.select %p, %y, %z : tensor<?xf32>
  return %s, %c : tensor<?x4xf32>, tensor<?xf32>
}
""")
    found = judge_storage(session.parse(file).op).having(Answer.UNKNOWN)
    assert [j.sentence for j in found] == [
        "tensor.extract_slice reads %n elements from 0 on in dimension 0; they must be inside dimension 0 of %x",
        "tensor.extract_slice reads 4 elements from 0 on in dimension 1; they must be inside dimension 1 of %x",
        "arith.select may choose %z, which must not be larger than %y: IREE makes room for as many elements as that has",
    ]
    assert "%p is false" in found[-1].example
