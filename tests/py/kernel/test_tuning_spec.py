"""--emit-tuning-spec: stock IREE compiles with the file what it refused without it, and to fissile's bytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from iree.compiler import ir
from programs import run_program
from small_programs import ADD, TARGETS, quantised_conv
from test_set_lowering import MATMUL

from fissile.errors import UsageError
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.iree.lowerings import tile_and_fuse
from fissile.passes.iree.tuning_specs import Entry, why_unmatchable, write_spec
from fissile.pipelines.compile.emitted_spec import not_carried
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.session import Session

BIN = Path(sys.executable).parent
GFX942 = TARGETS["gfx942"]

CONV_F16 = """
func.func @f(%x: tensor<1x18x18x32xf16>, %w: tensor<3x3x32x64xf16>) -> tensor<1x16x16x64xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x16x16x64xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<1x16x16x64xf16>) -> tensor<1x16x16x64xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x32xf16>, tensor<3x3x32x64xf16>)
      outs(%f : tensor<1x16x16x64xf16>) -> tensor<1x16x16x64xf16>
  return %r : tensor<1x16x16x64xf16>
}
"""


def run(program, *words):
    return run_program(
        [BIN / program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )


def compiled(folder, text, *words, target="gfx942"):
    """fissile's report on ``text``, which is in FOLDER/in.mlir then, and the spec's path."""
    (folder / "in.mlir").write_text(text)
    spec = folder / "spec.mlir"
    done = run(
        "fissile",
        "compile",
        *TARGETS[target],
        folder / "in.mlir",
        "-o",
        folder / "a.vmfb",
        f"--emit-tuning-spec={spec}",
        "--format=json",
        *words,
    )
    return done.returncode, json.loads(done.stdout), spec


@pytest.mark.parametrize(
    ("text", "code"),
    [(MATMUL, "FIS103"), (CONV_F16, "FIS103"), (quantised_conv(size=28), "FIS101")],
    ids=["f16 matmul", "f16 convolution", "dequantised convolution"],
)
def test_stock_compiles_with_the_spec_what_it_refuses_without(tmp_path, text, code):
    status, report, spec = compiled(tmp_path, text)
    assert status == 0 and [(f["code"], f["severity"]) for f in report["findings"]] == [(code, "repaired")]
    assert report["facts"]["edits"] == [] and report["facts"]["tuning_spec"]["written"]
    assert run("iree-compile", *GFX942, tmp_path / "in.mlir", "-o", tmp_path / "s.vmfb").returncode != 0
    done = run(
        "iree-compile",
        *GFX942,
        tmp_path / "in.mlir",
        "-o",
        tmp_path / "s.vmfb",
        f"--iree-codegen-tuning-spec-path={spec}",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "s.vmfb").read_bytes() == (tmp_path / "a.vmfb").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.vmfb", "in.mlir", "s.vmfb", "spec.mlir"]


def test_a_healthy_program_needs_none_and_stays_stock(tmp_path):
    status, report, spec = compiled(tmp_path, ADD)
    assert status == 0 and [(f["code"], f["severity"]) for f in report["findings"]] == [("FIS122", "note")]
    assert not spec.exists()
    run("iree-compile", *GFX942, tmp_path / "in.mlir", "-o", tmp_path / "s.vmfb")
    assert (tmp_path / "s.vmfb").read_bytes() == (tmp_path / "a.vmfb").read_bytes()


def test_where_no_configuration_is_read_the_module_is_repaired_and_that_is_reported(tmp_path):
    status, report, spec = compiled(
        tmp_path, quantised_conv(), "--fissile-match-device=vulkan", target="vulkan"
    )
    reported = {f["code"]: f for f in report["findings"]}
    assert status == 0 and not spec.exists() and report["facts"]["edits"]
    assert (
        reported["FIS122"]["severity"] == "note"
        and "--emit-mlir=FILE has what was done" in reported["FIS122"]["notes"]
    )
    assert any(
        "no configuration is known to repair it on vulkan-spirv" in note
        for note in reported["FIS122"]["notes"]
    )


def test_what_is_told_depends_on_what_the_spec_carries():
    assert not_carried("s.mlir", 2, {}) is None
    some = not_carried("s.mlir", 2, {"d1": "its body", "d0": "its root"})
    assert some.message == "the tuning spec repairs 2 of 4 dispatches"
    assert some.notes[:2] == ("d0: its root", "d1: its body") and "together with s.mlir" in some.notes[2]


def test_one_spec_a_compile_and_a_place_to_write_it(tmp_path):
    with pytest.raises(UsageError, match="exclude each other"):
        parse_command_line(["in.mlir", "--emit-tuning-spec=a", "--iree-codegen-tuning-spec-path=b"])
    (tmp_path / "in.mlir").write_text(ADD)
    done = run(
        "fissile",
        "compile",
        *GFX942,
        tmp_path / "in.mlir",
        "-o",
        tmp_path / "a.vmfb",
        f"--emit-tuning-spec={tmp_path}/none/spec.mlir",
    )
    assert done.returncode == 2 and "cannot write --emit-tuning-spec" in done.stderr
    assert not (tmp_path / "a.vmfb").exists()


# --- the matchers


def configured(session, text):
    """Each dispatch's reducing op in a configured module; the module keeps them alive."""
    module = session.parse_text(text)
    session.run(module, "executable-configurations")
    found = {}

    def visit(op):
        if op.name == "linalg.generic" and "reduction" in str(op.attributes["iterator_types"]):
            found[here.name] = op
        return ir.WalkResult.ADVANCE

    for here in dispatches(module.op):
        here.inner_module().walk(visit)
    return module, found


PLAIN_AND_DEQUANTISED = (
    quantised_conv(size=28, name="dequantised")
    + """
func.func @plain(%x: tensor<1x64x30x30xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x30x30xf32>, tensor<64x64x3x3xf32>)
      outs(%f : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  return %r : tensor<1x64x28x28xf32>
}
"""
)


def test_an_op_of_the_same_form_without_producers_keeps_irees_choice(tmp_path):
    session = Session(GFX942)
    module, before = configured(session, PLAIN_AND_DEQUANTISED)
    (name,) = [n for n in before if n.startswith("dequantised")]
    (plain,) = [n for n in before if n.startswith("plain")]
    info = tile_and_fuse([True] * 3 + [False] * 3, (64, 28, 28, 64, 3, 3), 64)
    (tmp_path / "spec.mlir").write_text(write_spec([Entry(before[name], info, name)]))
    session.set_flags([f"--iree-codegen-tuning-spec-path={tmp_path}/spec.mlir"])
    try:
        tuned, after = configured(session, PLAIN_AND_DEQUANTISED)
    finally:  # The flag is the process's: with a spec, IREE's configuration of several dispatches at once can deadlock.
        session.set_flags(["--iree-codegen-tuning-spec-path="])
    assert before[plain].attributes["lowering_config"] == after[plain].attributes["lowering_config"]
    assert before[name].attributes["lowering_config"] != after[name].attributes["lowering_config"]
    assert "thread = [1, 4, 4, 0, 0, 0]" in str(after[name].attributes["lowering_config"])
    assert module is not tuned


def test_each_form_is_matched_once_and_writing_changes_nothing():
    session = Session(GFX942)
    module, found = configured(session, MATMUL)
    (name,) = found
    before = module.text()
    entry = Entry(found[name], tile_and_fuse([True, True, False], (128, 64, 256), 64), name)
    text = write_spec([entry, Entry(entry.op, entry.info, "another")])
    assert text.count("transform.named_sequence @match_") == 1 and f"// {name}\n" in text
    assert module.text() == before
    with pytest.raises(ValueError, match="needs an entry"):
        write_spec([])


def test_a_body_that_uses_outer_values_has_no_matcher():
    session = Session()
    module = session.parse_text("""
func.func @f(%x: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %scale = arith.constant 3.0 : f32
  %outer = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %scale : f32
    %a = arith.addf %out, %s : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %inner = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %three = arith.constant 3.0 : f32
    %s = arith.mulf %in, %three : f32
    %a = arith.addf %out, %s : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %outer, %inner : tensor<4xf32>, tensor<4xf32>
}
""")
    outer, inner = (
        op.operation
        for op in module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations
        if op.operation.name == "linalg.generic"
    )
    assert "arith.constant" in why_unmatchable(outer) and why_unmatchable(inner) == ""
