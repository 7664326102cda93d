"""The same bytes and the same findings: with any hash seed, in threads, in several processes at once, inside an event loop."""

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import fissile

BIN = Path(sys.executable).parent
LLVM_CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
# Two findings, of two functions: their order is part of the answer.
STORES = """
func.func @first(%a: tensor<?xf32>, %b: tensor<10xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %a into %b[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
func.func @second(%a: tensor<?xf32>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %a into %b[0] [%n] [1] : tensor<?xf32> into tensor<7xf32>
  return %r : tensor<7xf32>
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    file = tmp_path_factory.mktemp("determinism") / "stores.mlir"
    file.write_text(STORES)
    return file


@pytest.fixture(scope="module")
def expected(source):
    return answer(source, "expected")


def answer(source, name):
    """The bytes of the artifact, and the findings in their order."""
    output = source.with_name(f"{name}.vmfb")
    report = fissile.compile(source, output, LLVM_CPU, check=False)
    assert report.exit_code == 0
    return output.read_bytes(), [(finding.code, finding.message) for finding in report.findings]


def test_the_program_has_two_findings(expected):
    assert [code for code, _message in expected[1]] == ["FIS202", "FIS202"] and expected[1][0] != expected[1][
        1
    ]


def test_in_threads(source, expected):
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda name: answer(source, name), "abc")) == [expected] * 3


def test_inside_a_running_event_loop(source, expected):
    async def both():
        return answer(source, "loop"), await asyncio.to_thread(answer, source, "loop-thread")

    assert asyncio.run(both()) == (expected, expected)


def test_with_any_hash_seed_and_in_several_processes_at_once(source, expected):
    started = [
        subprocess.Popen(
            [BIN / "fissile", "compile", *LLVM_CPU, source, "-o", source.with_name(f"seed{seed}.vmfb")],
            stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed in ("0", "4294967295")
    ]  # fmt: skip
    printed = [
        process.communicate(timeout=300)[1].replace(f"seed{seed}", "")
        for process, seed in zip(started, ("0", "4294967295"), strict=True)
    ]
    assert printed[0] == printed[1] and printed[0].count("[FIS202]") == 2
    assert {source.with_name(f"seed{seed}.vmfb").read_bytes() for seed in ("0", "4294967295")} == {
        expected[0]
    }
