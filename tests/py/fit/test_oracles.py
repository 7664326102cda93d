"""The bytes that the probe tells are those that the kernels themselves show."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from binaries import amdgpu_group_segment_bytes, spirv_workgroup_bytes
from programs import run_program
from tiled_programs import conv, matmul, row_sum

from fissile.passes.iree.targets import flags_for
from fissile.pipelines.check.measuring import measure
from fissile.quantity import round_up
from fissile.target import find_target


def _compile(program: Path, target: str, *more: str, dump: Path | None = None) -> str:
    flags = [*flags_for(find_target(target)), *more]
    if dump:
        flags += [
            f"--iree-hal-dump-executable-binaries-to={dump}",
            f"--iree-hal-dump-executable-intermediates-to={dump}",
        ]
    ran = run_program(
        ["iree-compile", str(program), *flags, "-o", "-"], capture_output=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout.decode(errors="replace")


def _reported(program: Path, target: str) -> list[int]:
    """Exact bytes of every dispatch that keeps something in workgroup memory."""
    return [m.exact.value for m in measure(program, find_target(target)) if m.exact.value]


@pytest.mark.parametrize(
    "target, text",
    [
        ("vulkan", conv(channels=8, filters=16, consumer="i8")),
        ("vulkan:rdna3", matmul(dequantise=False)),
        ("vulkan:ampere", row_sum()),
    ],
)
def test_spirv_variables(tmp_path, target, text):
    program = tmp_path / "p.mlir"
    program.write_text(text)
    _compile(program, target, dump=tmp_path / "dump")
    shown = [spirv_workgroup_bytes(file) for file in (tmp_path / "dump").glob("*.spv")]
    assert any(shown)
    # IREE counts each allocation rounded up to 64 bytes; the variable itself is as large as its type.
    assert _reported(program, target) == [
        sum(round_up(size, 64) for size in sizes) for sizes in shown if sizes
    ]


@pytest.mark.parametrize(
    "text, some",
    [(matmul(), True), (conv(dequantise=False), True), (row_sum(), True), (row_sum(4096, 32), False)],
)
def test_amdgpu_code_object(tmp_path, text, some):
    program = tmp_path / "p.mlir"
    program.write_text(text)
    _compile(program, "gfx942", dump=tmp_path / "dump")
    shown = [
        size
        for file in (tmp_path / "dump").glob("*.hsaco")
        for size in amdgpu_group_segment_bytes(file).values()
    ]
    assert sorted(_reported(program, "gfx942")) == sorted(size for size in shown if size)
    assert any(shown) == some


def test_cuda_asks_the_driver_for_as_much(tmp_path):
    """IREE 3.13's CUDA kernels use dynamic shared memory: the launch says how much."""
    program = tmp_path / "p.mlir"
    program.write_text(row_sum())
    requested = re.findall(
        r"workgroup_local_memory = (\d+)", _compile(program, "sm_80", "--compile-to=executable-targets")
    )
    assert [int(size) for size in requested if int(size)] == _reported(program, "sm_80")


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
def test_ptxas_counts_as_much(tmp_path):
    """The dynamic array, given the size that the probe tells, is all the shared memory that ptxas sees."""
    program = tmp_path / "p.mlir"
    program.write_text(row_sum())
    _compile(program, "sm_80", dump=tmp_path / "dump")
    (reported,) = _reported(program, "sm_80")
    (file,) = (tmp_path / "dump").glob("*.ptx")
    declared = ".extern .shared .align 16 .b8 __dynamic_shared_memory__[]"
    text = file.read_text()
    assert text.count(declared) == 1 and len(re.findall(r"^\s*(?:\.extern )?\.shared", text, re.M)) == 1
    sized = tmp_path / "sized.ptx"
    sized.write_text(text.replace(declared, f".shared .align 16 .b8 __dynamic_shared_memory__[{reported}]"))
    ran = subprocess.run(
        ["ptxas", "-v", "-arch=sm_80", str(sized), "-o", str(tmp_path / "out.cubin")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (smem,) = re.findall(r"(\d+) bytes smem", ran.stdout + ran.stderr)
    assert int(smem) == reported
