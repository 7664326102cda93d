"""Who is wrong where two answers differ, how far they may, and what the reference build leaves out."""

import json

import ml_dtypes
import numpy as np
import pytest

from bench.programs.text.spelling import spelled
from fissile.cli.commands import verify as command
from fissile.passes.iree.runtime_flags import FLAGS_BY_BACKEND
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.index_arguments import index_limits
from fissile.pipelines.numerics.judge import Sides, judged
from fissile.pipelines.numerics.reference import portable_module, suspects
from fissile.pipelines.numerics.tolerance import derived_tolerance
from fissile.pipelines.numerics.verify import Options, certify_transform, verify
from fissile.pipelines.numerics.witness.evaluation import Evaluation

LOCAL = Options(on=("local-task",))
SIDES = Sides("vulkan", "llvm-cpu")
RNG = np.random.default_rng(3)


def facts_of(wide, declared=None, roundings=None, sums=None) -> Evaluation:
    return Evaluation(
        (wide,),
        (wide if declared is None else declared,),
        roundings if roundings is not None else {"f32": 10},
        sums or {},
    )


# --- the verdict

EXACT = RNG.standard_normal(100)
RIGHT = EXACT.astype(np.float32)
WRONG = RIGHT + np.float32(0.5)


@pytest.mark.parametrize(
    ("actual", "expected", "agrees", "wrong", "words"),
    [
        (RIGHT, RIGHT, True, "", "bit-identical"),
        (RIGHT, np.nextafter(RIGHT, np.float32(9)), True, "", "vulkan is nearer to float64"),
        (WRONG, RIGHT, False, "program", "vulkan is wrong: NumPy's evaluation agrees with llvm-cpu"),
        (RIGHT, WRONG, True, "reference", "llvm-cpu is wrong: NumPy's evaluation agrees with vulkan"),
        (WRONG, RIGHT - np.float32(0.5), False, "both", "NumPy's evaluation agrees with neither"),
        (WRONG, WRONG, True, "both", "NumPy's evaluation agrees with neither"),
    ],
)
def test_the_witness_decides_who_is_wrong(actual, expected, agrees, wrong, words):
    found = judged(actual, expected, facts_of(EXACT), 0, "f32", SIDES)
    assert (found.agrees, found.wrong) == (agrees, wrong)
    assert words in found.sentence, found.sentence
    assert "within tolerance" not in found.sentence or found.beyond == 0


def test_a_sum_in_halves_is_measured_against_float64():
    """16-bit sums of 512 terms in two orders differ in most values; the one in 32 bits is nearer, and both are right."""
    a, b = (RNG.standard_normal(s).astype(np.float16) for s in ((16, 512), (512, 16)))
    exact = a.astype(float) @ b.astype(float)
    in_halves = np.zeros((16, 16), np.float16)
    for k in range(512):
        in_halves += a[:, k : k + 1] * b[k]
    nearer = exact.astype(np.float16)
    facts = facts_of(exact, nearer.astype(float), {"f16": 513}, {"f16": 512})
    found = judged(nearer, in_halves, facts, 0, "f16", SIDES)
    assert found.agrees and "vulkan is nearer to float64" in found.sentence and found.max_rel < 0.05
    assert "sums of 512 terms in f16" in found.tolerance_reason
    off = nearer.copy()
    off[3, 3] += np.float16(8)
    wrong = judged(off, in_halves, facts, 0, "f16", SIDES)
    assert not wrong.agrees and wrong.wrong == "program" and wrong.first == (3, 3)
    json.dumps(wrong.to_json(), allow_nan=False)


def test_without_a_reference_the_witness_is_one():
    assert judged(RIGHT, None, facts_of(EXACT), 0, "f32", SIDES).agrees
    assert not judged(WRONG, None, facts_of(EXACT), 0, "f32", SIDES).agrees
    other = judged(RIGHT, None, facts_of(EXACT[:50]), 0, "f32", SIDES)
    assert not other.agrees and other.sentence == "NumPy's evaluation has another shape: 50"


def test_integers_of_a_program_without_floats_have_one_right_answer():
    numbers = np.arange(5000, dtype=np.int32)
    off = numbers.copy()
    off[7] += 1
    assert not judged(off, numbers, facts_of(numbers, roundings={}), 0, "i32", SIDES).agrees
    assert judged(
        off, numbers, facts_of(numbers), 0, "i32", SIDES
    ).agrees  # one step, where floats were rounded


# --- the tolerance


def test_a_tolerance_grows_with_the_root_of_the_roundings_and_with_their_type():
    def allowed(kind, roundings):
        return derived_tolerance(
            np.dtype(np.float16 if kind == "f16" else np.float32), kind, roundings, {}
        ).scaled

    assert allowed("f32", {"f32": 1}) == pytest.approx(8 * 2.0**-23, rel=0.01)
    assert allowed("f32", {"f32": 40000}) == pytest.approx(200 * 2.0**-23, rel=0.01)
    assert allowed("f16", {"f32": 1000}) == pytest.approx(8 * 2.0**-10, rel=0.01)  # summed in 32 bits
    assert allowed("f16", {"f16": 1000}) == pytest.approx(32.6 * 2.0**-10, rel=0.01)
    assert derived_tolerance(np.dtype(np.float32), "f32", {"f32": 1}, {}, 0.25).absolute == 1.0
    assert derived_tolerance(np.dtype(ml_dtypes.bfloat16), "bf16", {"bf16": 1}, {}).scaled > 8 * 2.0**-7


# --- the reference build

MAPS = (
    "[affine_map<(b, m, n, k, l) -> (b, m, k)>, affine_map<(b, m, n, k, l) -> (b, l, k)>, "
    "affine_map<(b, m, n, k, l) -> (b, l, n)>, affine_map<(b, m, n, k, l) -> ()>, affine_map<(b, m, n, k, l) -> (b, m, n)>]"
)
ATTENTION = spelled(f"""func.func @main(%q: tensor<1x64x256xf32>, %k: tensor<1x64x256xf32>, %v: tensor<1x64x256xf32>) -> tensor<1x64x256xf32> {{
  %s = arith.constant 0.0625 : f32
  %e = tensor.empty() : tensor<1x64x256xf32>
  %r = iree_linalg_ext.attention <indexing_maps = {MAPS}>
      ins(%q, %k, %v, %s : tensor<1x64x256xf32>, tensor<1x64x256xf32>, tensor<1x64x256xf32>, f32)
      outs(%e : tensor<1x64x256xf32>) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> tensor<1x64x256xf32>
  return %r : tensor<1x64x256xf32>
}}
""")


def test_the_reference_does_not_share_the_wrong_attention_of_stock_llvm_cpu(tmp_path):
    source, stock = tmp_path / "attention.mlir", tmp_path / "stock.vmfb"
    source.write_text(ATTENTION)
    assert [known.what for known in suspects(source)] == ["attention with a head dimension above 128"]
    assert compile_stock(source, stock, FLAGS_BY_BACKEND["llvm-cpu"]) is None
    certificate = verify(source, stock, options=LOCAL)
    (finding,) = certificate.findings
    assert (
        finding.code == "FIS130"
        and "local-task is wrong: NumPy's evaluation agrees with attention.mlir" in finding.message
    )
    alone = verify(source, options=LOCAL)  # the reference build itself, against NumPy
    assert alone.agrees, alone.sentence


CONFIGURED = """func.func @main(%a: tensor<32x64xf16>, %b: tensor<64x32xf16>, %o: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = linalg.matmul {compilation_info = #iree_codegen.compilation_info<
      lowering_config = #iree_gpu.lowering_config<{workgroup = [32, 32, 0], reduction = [0, 0, 4]}>,
      translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [64, 1, 1]
      subgroup_size = 64>>} ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%o : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
"""


def test_a_gpu_configuration_comes_off_for_the_llvm_cpu_run(tmp_path):
    source = tmp_path / "configured.mlir"
    source.write_text(CONFIGURED)
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS_BY_BACKEND["llvm-cpu"]).code == "FIS131"
    assert verify(source, options=LOCAL).agrees
    plain = CONFIGURED[: CONFIGURED.index("{compilation_info")] + CONFIGURED[CONFIGURED.index("ins(") :]
    flags = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942", "--compile-to=global-optimization"]
    for name, text in (("with", CONFIGURED), ("without", plain)):
        (tmp_path / f"{name}.mlir").write_text(text)
        assert compile_stock(tmp_path / f"{name}.mlir", tmp_path / f"{name}.go.mlir", flags) is None
    repaired, original = ((tmp_path / f"{name}.go.mlir").read_text() for name in ("with", "without"))
    assert "pipeline<TileAndFuse>" in repaired and "pipeline<TileAndFuse>" not in portable_module(repaired)
    assert certify_transform(original, repaired).agrees


# --- inputs, and what cannot be run

GATHER = """func.func @main(%table: tensor<6x4xf32>, %ids: tensor<5xi32>, %bias: tensor<5xi32>) -> (tensor<5x4xf32>, tensor<5xi32>) {
  %e = tensor.empty() : tensor<5x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %x = tensor.extract %table[%row, %column] : tensor<6x4xf32>
    linalg.yield %x : f32
  } -> tensor<5x4xf32>
  %b = arith.addi %bias, %bias : tensor<5xi32>
  return %r, %b : tensor<5x4xf32>, tensor<5xi32>
}
"""


def test_places_in_tensors_are_drawn_inside_them(tmp_path):
    source = tmp_path / "gather.mlir"
    source.write_text(GATHER)
    assert index_limits(source, "main") == {1: (0, 3)}  # the bias is data
    assert verify(source, options=LOCAL).agrees


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "func.func @main(%x: !hal.buffer_view) -> !hal.buffer_view { return %x : !hal.buffer_view }",
            "!hal.buffer_view",
        ),
        (
            "func.func @main(%x: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> { return %x : tensor<4xf4E2M1FN> }",
            "f4E2M1FN",
        ),
    ],
)
def test_what_cannot_be_run_is_a_finding_with_the_reason(tmp_path, capsys, text, reason):
    source = tmp_path / "opaque.mlir"
    source.write_text(text)
    status = command.run([str(source), "--format=json"])
    answer = json.loads(capsys.readouterr().out)
    assert status == 1 and reason in answer["facts"]["certificate"]["checks"][0]["finding"]["message"]
    assert (
        command.run([str(source)]) == 1
        and f"error[FIS131] @main: no data can be made for {reason}"[:40] in capsys.readouterr().out
    )


def test_complex_numbers_cross_the_boundary(tmp_path):
    source = tmp_path / "complex.mlir"
    source.write_text("""func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
      %e = tensor.empty() : tensor<4xcomplex<f32>>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) {
      ^bb0(%a: complex<f32>, %o: complex<f32>):
        %m = complex.mul %a, %a : complex<f32>
        linalg.yield %m : complex<f32>
      } -> tensor<4xcomplex<f32>>
      return %r : tensor<4xcomplex<f32>> }""")
    assert verify(source, options=LOCAL).agrees
    assert not verify(source, reference=lambda x: x * np.conj(x), options=LOCAL).agrees


def test_a_verification_that_throws_is_a_finding(tmp_path, monkeypatch):
    from fissile.pipelines.compile import verification

    def broken(*_a, **_k):
        raise KeyError("planted")

    monkeypatch.setattr(verification, "certify_transform", broken)
    (finding,) = verification.verify_repair("module {}", "module {}", 1).findings
    assert finding.code == "FIS131" and "KeyError: 'planted'" in finding.message
    monkeypatch.setattr(verification, "signatures_of_source", broken)
    monkeypatch.setattr(verification, "present", lambda: (type("R", (), {"name": "vulkan"}),))
    certificate, _ = verification.verify_artifact(
        tmp_path / "a.mlir", tmp_path / "a.vmfb", ["vulkan-spirv"], 1
    )
    assert [f.code for f in certificate.findings] == ["FIS131"]
