"""What a person may get wrong in the command line of `fissile compile`, and a compile that does not end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built import CPU
from compile_commands import fissile
from small_programs import ADD, TARGETS, quantised_conv


@pytest.mark.parametrize(
    "words, status, printed",
    [
        (["{add}", "-o", "{out}", "--emit-mlir={add}"], 2, "is the input too"),
        (["{add}", "-o", "{out}", "--emit-mlir={out}"], 2, "is the output too"),
        (["{add}", "-o", "{out}", "--emit-mlir=-"], 2, "name a file"),
        (["{missing}", "-o", "{out}"], 2, "no such file"),
        (["{folder}", "-o", "{out}"], 2, "not a file"),
        (["{add}", "-o", "{folder}/no/such/o.vmfb"], 2, "no directory"),
        (["{add}", "-o", "{folder}"], 2, "is a directory"),
        (["{add}", "-o", "{out}", "--iree-no-such-flag"], 2, "unknown flag '--iree-no-such-flag'"),
        (["{add}", "-o", "{out}", "--iree-opt-level=O9"], 2, "iree-opt-level"),
        (["{add}", "-o", "{out}", "--compile-to=nowhere"], 2, "unknown value 'nowhere'"),
        (
            [
                "{add}",
                "-o",
                "{out}",
                "--fissile-pipeline-after=abi:builtin.module(fissile-plaice-boundaries)",
            ],
            2,
            "fissile-place-boundaries",
        ),
        (
            [
                "{add}",
                "-o",
                "{out}",
                "--fissile-pipeline-after=abi:builtin.module(fissile-place-boundaries{{opps=1}})",
            ],
            2,
            "opps",
        ),
        (
            ["{add}", "-o", "{out}", "--fissile-pipeline-after=abi:builtin.module(cse"],
            2,
            "builtin.module(cse",
        ),
        (["{add}", "-o", "{out}", "--dispatch-timeout=-1"], 2, "takes a number of seconds; 0 is no limit"),
        (["{garbage}", "-o", "{out}"], 1, "FIS001"),
        (["{empty}", "-o", "{out}"], 1, "FIS003"),
        (["{add}", "-o", "{out}", "--fissile-load-passes={missing}"], 2, "missing"),
    ],
)
def test_bad_input(program, tmp_path, words, status, printed):
    names = dict(
        missing=tmp_path / "missing.mlir",
        folder=tmp_path,
        out=tmp_path / "o.vmfb",
        add=program(ADD, "add.mlir"),
        garbage=program("this is not MLIR\n", "garbage.mlir"),
        empty=program("module {}\n", "empty.mlir"),
    )
    before = sorted(tmp_path.iterdir())
    done = fissile("compile", *TARGETS["llvm-cpu"], *[word.format(**names) for word in words])
    assert done.returncode == status, done.stderr
    assert printed in done.stderr and "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before, "nothing is left behind"


CPU_FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


@pytest.mark.parametrize(
    ("flags", "printed"),
    [
        ([], "no HAL devices"),
        (["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_90"], "missing GPU target"),
        (["--iree-hal-target-device=llvm-cpu"], "unregistered device alias"),
        (["--iree-hal-target-device=hip"], "--iree-rocm-target"),
        (["--iree-hal-target-device=hip", "--iree-rocm-target=gfx0"], "'gfx0'"),
        (["--iree-hal-target-backends=vulkan"], "vulkan-spirv"),
        (
            ["--iree-hal-target-device=vulkan", "--iree-vulkan-target=none"],
            "'none'",
        ),  # stock crashes after this message
        (
            ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=none"],
            "not registered: none",
        ),  # and here
        ([*CPU_FLAGS, "--iree-llvmcpu-target-cpu=none"], "Unknown CPU"),  # LLVM ends the process
    ],
    ids=lambda given: " ".join(given) or "none" if isinstance(given, list) else "",
)
def test_a_compile_without_a_known_target_names_what_there_is(program, tmp_path, flags, printed):
    done = fissile("compile", *flags, program(quantised_conv()), "-o", tmp_path / "o.vmfb")
    assert done.returncode == 1 and "error[FIS004]" in done.stderr, done.stderr
    assert printed in done.stderr and "fissile targets" in done.stderr and not (tmp_path / "o.vmfb").exists()


def test_a_compile_that_takes_too_long_is_ended_and_reported(program, tmp_path):
    done = fissile(
        "compile", *TARGETS["llvm-cpu"], program(ADD), "-o", tmp_path / "o.vmfb", "--fissile-time-limit=0.01"
    )
    assert done.returncode == 1 and "FIS106" in done.stderr and not (tmp_path / "o.vmfb").exists()


@pytest.mark.parametrize("spelled", ["./m.mlir", "../in//m.mlir", "/dev/stdin"])
def test_the_input_is_in_the_module_as_it_was_spelled(tmp_path, monkeypatch, spelled):
    """IREE embeds the name of the file; a pipe can be read once."""
    folder = tmp_path / "in"
    folder.mkdir()
    monkeypatch.chdir(folder)
    text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %r = arith.addf %x, %x : tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n"
    Path("m.mlir").write_text(text)
    made = []
    for tool in (["iree-compile"], ["fissile", "compile", "--no-cache"]):
        out = tmp_path / f"{tool[0]}.vmfb"
        subprocess.run([*tool, *CPU, spelled, "-o", str(out)], input=text.encode(), check=True)
        made.append(out.read_bytes())
    assert made[0] == made[1]
