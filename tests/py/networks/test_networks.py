"""The benchmarks' networks and transformer block: what they are made of, that they run right, that wrong numbers show.

About 40 s on two busy cores: one squeezenet, one transformer and two tiny programs are compiled.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from iree_versions import since

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def bench():
    """The benchmark modules, by name."""
    from bench import transformer_block
    from bench.programs import guarded_case, network_forms, transformer_program

    modules = (guarded_case, network_forms, transformer_block, transformer_program)
    return {m.__name__.rpartition(".")[2]: m for m in modules}


@pytest.fixture(scope="module")
def forms(bench):
    return bench["network_forms"]


@pytest.fixture(scope="module")
def squeezenet(forms):
    """The network in every form, for 35x35 pixels."""
    return {form: forms.build("squeezenet", form, 35) for form in forms.FORMS}


def command(name: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", f"bench.{name}", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_each_form_has_the_types_of_its_name(squeezenet):
    kinds = {
        form: onnx.numpy_helper.to_array(
            max(made.model.graph.initializer, key=lambda t: np.prod(t.dims))
        ).dtype
        for form, made in squeezenet.items()
    }
    assert kinds == {"fp32": np.float32, "fp16": np.float16, "int8": np.int8}
    ops = {form: {node.op_type for node in made.model.graph.node} for form, made in squeezenet.items()}
    assert {"QuantizeLinear", "DequantizeLinear"} <= ops["int8"]
    assert not {"QuantizeLinear", "DequantizeLinear"} & (ops["fp32"] | ops["fp16"])
    assert squeezenet["fp16"].image().dtype == np.float16


def test_the_forms_compute_nearly_the_same_and_nothing_saturated(squeezenet):
    """int8's error is the quantiser's, up to an eighth of the largest output here; fp16's a few thousandths."""
    outputs = {form: made.expected(made.image())[0].astype(np.float64) for form, made in squeezenet.items()}
    top = outputs["fp32"].max()
    assert 0.002 < top < 0.9
    assert 0 < abs(outputs["fp16"] - outputs["fp32"]).max() < 0.01 * top
    assert 0 < abs(outputs["int8"] - outputs["fp32"]).max() < 0.3 * top


@pytest.mark.parametrize("form", ("fp32", "fp16", "int8"))
def test_another_image_is_outside_the_tolerance(squeezenet, forms, form):
    """Else the comparison could not tell a right module from a wrong one; the same image is its twin."""
    from fissile.pipelines.numerics.compare import compare

    made, tolerance = squeezenet[form], forms.TOLERANCES[form]
    right, other = (made.expected(made.image(seed))[0] for seed in (0, 1))
    assert compare(right, right.copy(), tolerance).agrees
    assert not compare(other, right, tolerance).agrees


def test_other_sizes_where_the_network_allows_them(forms):
    assert forms.build("shufflenet", "fp32", 64).shape == (1, 3, 64, 64)
    with pytest.raises(ValueError, match="takes 224x224 only"):
        forms.build("zfnet512", "fp32", 64)
    with pytest.raises(ValueError, match="multiples of 32"):
        forms.build("shufflenet", "fp32", 65)


def test_a_resized_network_of_its_own_size_computes_what_the_original_does(forms):
    """The global pooling that stands for the last 7x7 one is the same average."""
    import onnxruntime

    made = forms.network("shufflenet")
    image = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    before, after = (
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {made.graph.input[0].name: image})[
            0
        ]
        for model in (made, forms.resized(forms.network("shufflenet"), 224))
    )
    assert np.allclose(before, after, rtol=1e-4, atol=1e-6)


@pytest.mark.slow  # test_onnx.py has it in f32
def test_int8_squeezenet_agrees_with_onnxruntime_on_llvm_cpu():
    done = command("networks", "--form=int8", "--pixels=35", "--target=llvm-cpu", "--run", "--no-stock")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "squeezenet int8 1x3x35x35 llvm-cpu | fissile: clean" in done.stdout
    assert "agrees with the expected arrays" in done.stdout


def test_a_network_that_cannot_be_made_is_told_and_ends_with_1():
    done = command("networks", "--model=zfnet512", "--form=fp32", "--pixels=64")
    assert done.returncode == 1 and "not made: zfnet512 takes 224x224 only" in done.stdout, (
        done.stdout + done.stderr
    )


def test_the_transformer_runs_with_two_lengths_from_one_module():
    done = command(
        "transformer_block",
        "--sequence=dynamic",
        "--width=32",
        "--arithmetic=integer",
        "--target=llvm-cpu",
        "--run",
        "--no-stock",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("agrees with the expected arrays") == 2


def test_a_transformer_with_one_wrong_part_is_outside_the_tolerance(bench):
    from fissile.pipelines.numerics.compare import compare

    block = bench["transformer_program"].TransformerBlock(8, 16, 2, 64)
    tolerance = bench["transformer_block"].TOLERANCE
    inputs = block.inputs()
    right = block.reference(*inputs).astype(np.float32)
    assert compare(right, block.reference(*inputs).astype(np.float32), tolerance).agrees
    for position, (name, _shape, _element) in enumerate(block.arguments):
        changed = list(inputs)
        changed[position] = np.roll(inputs[position], 1, axis=0)
        wrong = block.reference(*changed).astype(np.float32)
        assert not compare(wrong, right, tolerance).agrees, f"{name} does not matter"


@pytest.mark.parametrize("words", ((8, 16, 3, 64), (8, 16, 2, 64, "fixed")))
def test_a_block_that_does_not_exist_is_refused(bench, words):
    with pytest.raises(ValueError, match=r"heads do not divide|no arithmetic"):
        bench["transformer_program"].TransformerBlock(*words)


QUANTISE = """\
#same = affine_map<(a, b) -> (a, b)>
#one = affine_map<(a, b) -> ()>
func.func @main(%x: tensor<6x7xf32>) -> tensor<6x7xi8> {
  %scale = arith.constant 0.05 : f32
  %zero = arith.constant -3 : i64
  %e = tensor.empty() : tensor<6x7xi8>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [#same, #one, #one, #same], quant_min = -128, quant_max = 127>
      ins(%x, %scale, %zero : tensor<6x7xf32>, f32, i64) outs(%e : tensor<6x7xi8>) -> tensor<6x7xi8>
  return %q : tensor<6x7xi8>
}
"""


@since("3.13", "no iree_linalg_ext.quantize_affine")
@pytest.mark.parametrize(("target", "findings"), (("vulkan", [("FIS110", "repaired")]), ("gfx942", [])))
def test_irees_quantise_op_is_packed_where_storage_is_narrow(tmp_path, target, findings):
    """The op that an ONNX QuantizeLinear comes as; gfx942 holds int8 and is left alone."""
    import fissile
    from fissile.passes.iree.targets import flags_for
    from fissile.target import find_target

    source = tmp_path / "quantise.mlir"
    source.write_text(QUANTISE)
    report = fissile.compile(source, tmp_path / "quantise.vmfb", flags_for(find_target(target)), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == findings
    assert report.output
