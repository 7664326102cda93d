"""A reference network through import, guarded compile and run, against onnxruntime; and its random weights."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the onnx extra is not installed")
pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="module")
def models():
    sys.path.insert(0, str(EXAMPLES))
    try:
        import onnx_models
    finally:
        sys.path.remove(str(EXAMPLES))
    return onnx_models


def run_example(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, EXAMPLES / "onnx_network.py", *words], capture_output=True, text=True, check=False
    )


def test_weights_are_random_and_the_same_for_a_seed(models):
    from onnx import numpy_helper

    def weights(seed):
        return {
            t.name: numpy_helper.to_array(t) for t in models.network("squeezenet", 35, seed).graph.initializer
        }

    one, again, other = weights(0), weights(0), weights(1)
    big = [name for name, w in one.items() if w.size > 1000]
    assert len(big) > 20
    for name in big:
        assert len(np.unique(one[name])) > 500, f"{name} is a splat"
        assert np.array_equal(one[name], again[name]) and not np.array_equal(one[name], other[name])


def test_outputs_tell_networks_apart(models):
    """Neither saturated to one class nor flat: such an output would agree with almost anything."""
    import onnxruntime

    model = models.network("squeezenet", 35)
    image = np.random.default_rng(0).standard_normal((1, 3, 35, 35)).astype(np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (output,) = session.run(None, {models.input_names(model)[0]: image})
    assert output.shape == (1, 1000, 1, 1)
    assert 0.0015 < output.max() < 0.5 and output.std() > 1e-4


def test_squeezenet_agrees_with_onnxruntime_on_llvm_cpu():
    done = run_example("--runtime=local-task", "--pixels=35")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "squeezenet 1x3x35x35" in done.stdout and "agrees with onnxruntime" in done.stdout


@pytest.mark.slow  # a minute of lavapipe; on llvm-cpu above, a small network on Vulkan in test_numerics
def test_squeezenet_agrees_with_onnxruntime_on_vulkan():
    from fissile.pipelines.numerics.runtimes import present

    if "vulkan" not in [runtime.name for runtime in present()]:
        pytest.skip("no Vulkan device answers here")
    done = run_example("--runtime=vulkan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "squeezenet 1x3x35x35" in done.stdout and "agrees with onnxruntime" in done.stdout
