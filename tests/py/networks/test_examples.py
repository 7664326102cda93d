"""The examples run as they stand in the README, and the seed program is what the issue says it is."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="module")
def programs():
    """The examples' module of that name; the tests have one of their own."""
    spec = importlib.util.spec_from_file_location("example_programs", EXAMPLES / "programs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def run_example(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, EXAMPLES / "quantised_conv.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_quantised_convolution_is_refused_repaired_run_and_right():
    done = run_example()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    stock = next(line for line in lines if line.startswith("gfx942") and "stock:" in line)
    assert "132096 bytes of shared memory; exceeded the limit of 65536" in stock
    assert any(line.startswith("gfx942") and "repaired FIS101" in line for line in lines)
    assert any(line.startswith("local-task") and "agrees with the NumPy reference" in line for line in lines)
    vulkan = [line for line in lines if line.startswith("vulkan")]
    assert any(
        "agrees with the NumPy reference" in line or "not run: no Vulkan device" in line for line in vulkan
    )


def test_a_wrong_number_ends_the_example_with_1(tmp_path):
    """The same script against a reference that is off by two steps in one value of a thousand."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        f"import sys\nsys.path.insert(0, {str(EXAMPLES)!r})\n"
        "import programs, quantised_conv\n"
        "right = programs.QuantisedConv.reference\n"
        "def off(self, *inputs):\n"
        "    y = right(self, *inputs).copy()\n"
        "    y.reshape(-1)[::1000] ^= 2\n"
        "    return y\n"
        "programs.QuantisedConv.reference = off\n"
        "sys.argv = ['x', '--size=4', '--channels=8', '--filters=8', '--no-vulkan']\n"
        "sys.exit(quantised_conv.main())\n"
    )
    done = subprocess.run([sys.executable, wrong], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "differs from the NumPy reference" in done.stdout


def test_the_reference_is_a_convolution(programs):
    """Against the definition, written out as loops, on a tiny size."""
    program = programs.QuantisedConv(size=3, channels=2, filters=2)
    generator = np.random.default_rng(0)
    x = generator.integers(-128, 128, (1, 2, 5, 5), dtype=np.int8)
    w = generator.integers(-128, 128, (2, 2, 3, 3), dtype=np.int8)
    bias = generator.standard_normal(2).astype(np.float32)
    scales = [
        float(np.float32(s)) for s in (programs.INPUT_SCALE, programs.WEIGHT_SCALE, programs.OUTPUT_SCALE)
    ]
    for f, i, j in np.ndindex(2, 3, 3):
        total = float(bias[f])
        for c, r, s in np.ndindex(2, 3, 3):
            total += float(x[0, c, i + r, j + s]) * scales[0] * float(w[f, c, r, s]) * scales[1]
        assert program.reference(x, w, bias)[0, f, i, j] == np.clip(np.rint(total / scales[2]), -128, 127)


def test_the_outputs_use_the_range(programs):
    """Neither all saturated nor all small: an output like that would hide wrong numbers."""
    program = programs.QuantisedConv(size=8)
    generator = np.random.default_rng(0)
    x = generator.integers(-128, 128, (1, 64, 10, 10), dtype=np.int8)
    w = generator.integers(-128, 128, (256, 64, 3, 3), dtype=np.int8)
    y = program.reference(x, w, np.zeros(256, np.float32))
    assert 20 < y.astype(float).std() < 80
    assert np.isin(y, (-128, 127)).mean() < 0.1
