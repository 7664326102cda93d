"""Runs the lit tests, and holds that every pass has one."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import programs
import pytest
import warm_programs

from fissile.passes.catalogue import built_in

LIT = Path(__file__).parents[1] / "lit"
CPUS = 2


def test_lit(tmp_path):
    # The environment that lit.cfg.py makes must be enough: a shell's PATH need not name the programs.
    forked = tmp_path / "bin"
    forked.mkdir()
    for name in programs.WARM:
        client = [sys.executable, "-I", "-S", warm_programs.__file__, programs.server().socket, name]
        (forked / name).write_text(f'#!/bin/sh\nexec {shlex.join(client)} "$@"\n')
        (forked / name).chmod(0o755)
    done = subprocess.run(
        [Path(sys.executable).parent / "lit", "-v", f"-j{CPUS}", LIT],
        capture_output=True,
        text=True,
        timeout=1500,
        env={
            "PATH": "/usr/bin:/bin",
            "FISSILE_LIT_OUTPUT": str(tmp_path),
            "FISSILE_LIT_PROGRAMS": str(forked),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = sum(map(int, re.findall(r"(?:Passed|Unsupported)\s*:\s*(\d+)", done.stdout)))
    assert ran == len(list(LIT.rglob("*.mlir")))


@pytest.mark.parametrize("name", sorted(built_in()))
def test_every_pass_has_a_lit_test(name):
    runs = [line for file in LIT.rglob("*.mlir") for line in file.read_text().splitlines() if "RUN:" in line]
    assert any(re.search(rf"\b{name}\b(?!-)", line) for line in runs)
