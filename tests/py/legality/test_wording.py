"""What an audit's findings say: unknown syntax, one finding for all targets, types that are tried, ops that are not."""

from __future__ import annotations

import pytest

from fissile.finding import Finding, Help, Place
from fissile.passes.analysis.legality.compiler import Outcome
from fissile.passes.analysis.legality.ways_out import _ranked, _retyped
from fissile.passes.checks.legality.refused_in_context import check_in_context
from fissile.passes.checks.refusals.unknown_op import check_unknown_op, check_unread_op
from fissile.pipelines.audit.merged import merged_targets
from fissile.pipelines.repair.failures import rejected
from fissile.pipelines.session import PhaseFailed, Session

AT = Place("model.mlir", 4, 8)


@pytest.mark.parametrize(
    ("message", "op", "lacking"),
    [
        ("Dialect `async' not found for custom op 'async.execute' ", "async.execute", "dialect 'async'"),
        ("custom op 'linalg.nothing' is unknown", "linalg.nothing", "op 'linalg.nothing'"),
        (
            "unregistered operation 'stablehlo.nothing' found in dialect ('stablehlo') that does not allow unknown operations",
            "stablehlo.nothing",
            "op 'stablehlo.nothing'",
        ),
    ],
)
def test_an_op_that_the_parser_does_not_know_is_named(message, op, lacking):
    finding = check_unknown_op(message, (AT,))
    assert finding is not None
    assert (finding.code, finding.subject, finding.places) == ("FIS406", op, (AT,))
    assert finding.message == f"{op} is unknown: IREE has no {lacking}"


@pytest.mark.parametrize(
    ("op", "near"), [("fissile.boundary", ""), ("fissile.boundry", "; did you mean 'fissile.boundary'?")]
)
def test_an_op_of_fissiles_without_quotes_is_no_unknown_op(op, near):
    finding = check_unknown_op(f"Dialect `fissile' not found for custom op '{op}' ", (AT,))
    assert finding is not None and (finding.code, finding.subject, finding.places) == ("FIS402", op, (AT,))
    assert finding.message == f"{op} is not in generic form, the only one that fissile's ops have{near}"
    assert f'"{op}"(…)' in finding.helps[0].title


def test_an_op_of_shardy_is_left_out_by_its_exporter():
    shardy = check_unknown_op("Dialect `sdy' not found for custom op 'sdy.mesh' ", (AT,))
    other = check_unknown_op("Dialect `acme' not found for custom op 'acme.mesh' ", (AT,))
    assert shardy is not None and "jax_use_shardy_partitioner" in shardy.helps[0].title
    assert other is not None and "jax" not in other.helps[0].title


def test_another_message_of_the_parser_is_about_no_op():
    assert check_unknown_op("expected ')' in argument list", (AT,)) is None


GROUP = """\
util.global private @g = dense<1.0> : tensor<8xf32>
func.func private @h(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = "fissile.group"() ({ // }
    %y = OP
    flow.return %y : tensor<8xf32>
  }) : () -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
NAMED_IN_GROUP = {
    "func.call @h(%x) : (tensor<8xf32>) -> tensor<8xf32>": "func.call of @h in its body: a group has no calls",
    "util.call @h(%x) : (tensor<8xf32>) -> tensor<8xf32>": "util.call of @h in its body: a group has no calls",
    "util.global.load @g : tensor<8xf32>": "util.global.load of @g in its body: ops in a group do not name globals",
}


@pytest.mark.parametrize("op", NAMED_IN_GROUP)
def test_a_name_in_a_group_is_not_reported_as_missing(op, tmp_path):
    """The parser looks for it in the group alone, and says that there is none."""
    file = tmp_path / "in.mlir"
    file.write_text(GROUP.replace("OP", op))
    with pytest.raises(PhaseFailed) as refused:
        Session().parse(file)
    finding = rejected(refused.value)
    assert (finding.code, finding.message) == ("FIS402", f"fissile.group: {NAMED_IN_GROUP[op]}")
    assert finding.places[0].line == 5 and "before the group" in finding.helps[0].title


def test_a_name_that_is_missing_outside_of_a_group_is_reported_as_it_was(tmp_path):
    """The twin: behind a group, and with none."""
    file = tmp_path / "in.mlir"
    behind = GROUP.replace("OP", "math.exp %x : tensor<8xf32>").replace(
        "  return %r", "  %z = func.call @none(%r) : (tensor<8xf32>) -> tensor<8xf32>\n  return %z"
    )
    file.write_text(behind)
    with pytest.raises(PhaseFailed) as refused:
        Session().parse(file)
    assert rejected(refused.value).code == "FIS001"
    assert check_unread_op("'func.call' op 'h' does not reference a valid function", (AT,)) is None


def of_target(target, **changes):
    facts = (("checked", f"with i8, for {target}"),)
    notes = ("class: element type", "llvm-cpu rejects the op too")
    return Finding(
        "FIS410",
        f"arith.addi does not compile for {target} with elements of type i4",
        subject="arith.addi",
        target=target,
        places=(AT,),
        helps=(Help("use i8 instead of i4", facts=facts),),
        notes=notes,
    ).with_(**changes)


def test_findings_that_differ_in_the_target_alone_are_one():
    [one] = merged_targets([of_target("gfx942"), of_target("llvm-cpu"), of_target("vulkan")])
    assert (
        one.message == "arith.addi does not compile for gfx942, llvm-cpu and vulkan with elements of type i4"
    )
    assert one.target == "gfx942, llvm-cpu, vulkan" and one.notes == ("class: element type",)
    assert [len(help_.facts) for help_ in one.helps] == [3]


@pytest.mark.parametrize(
    "changes", [{"places": (Place("model.mlir", 5, 8),)}, {"helps": ()}, {"code": "FIS409"}]
)
def test_findings_that_differ_in_more_are_kept_apart(changes):
    assert len(merged_targets([of_target("gfx942"), of_target("vulkan", **changes)])) == 2


def test_an_attribute_keeps_its_type_where_the_values_get_another():
    text = '"x.topk"(%0) {dimension = 0 : i64, sizes = array<i64: 1, 2>} : (tensor<4xi64>) -> tensor<4xi64>'
    everywhere, in_types = _retyped(text, "i64", "i32")
    assert "0 : i32" in everywhere and "array<i64: 1, 2>" in everywhere and "tensor<4xi32>" in everywhere
    assert in_types == text.replace("4xi64", "4xi32")
    assert _retyped(text, "f64", "f32") == []


@pytest.mark.parametrize(
    ("text", "ranked"),
    [
        ("tensor<*xf32>", "tensor<4x4xf32>"),
        ("!torch.vtensor<*,f32>", "!torch.vtensor<[4,4],f32>"),
        ("tensor<?xf32>", "tensor<?xf32>"),
    ],
)
def test_a_rank_is_put_in_the_place_of_an_open_one(text, ranked):
    assert _ranked(text) == ranked


def test_ops_that_were_not_compiled_alone_are_listed_and_none_is_cleared():
    rest = Outcome("hal", "end", "failed to legalize", "iree-vm-conversion", "failed to legalize")
    listed = check_in_context(rest, None, False, "vulkan", [("memref.store", AT), ("memref.store", None)])
    assert listed.places == (AT,) and "each op of it compiles alone" not in listed.notes
    assert "not compiled alone, because of their types or symbols: memref.store" in listed.notes
    assert "each op of it compiles alone" in check_in_context(rest, None, False, "vulkan").notes
