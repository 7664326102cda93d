"""Which programs run in fissile's name: IREE's, from the packages that Python imports; nothing of PATH that the working directory holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract_shell import ADD, BIN, LLVM_CPU

from fissile.errors import UsageError
from fissile.pipelines import native_programs
from fissile.pipelines.native_programs import native_program, stock_compiler
from fissile.pipelines.process.child import run_child

LINKED_BY_THE_SYSTEM = """hal.executable private @e {
  hal.executable.variant public @v target(<"llvm-cpu", "system-elf-x86_64", {link_embedded = false, cpu = "generic", cpu_features = "",
      max_stack_allocation_size = 32768 : i64, native_vector_size = 16 : i64, target_triple = "x86_64-unknown-linux-gnu",
      data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"}>) {
    hal.executable.export public @x ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) count(%d: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module { func.func @x() { return } }
  }
}
util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch @e::@v::@x(%a) : (tensor<4xf32>) -> %a
  util.return %0 : tensor<4xf32>
}
"""


def planted(folder: Path, *names: str) -> Path:
    """Programs in ``folder`` that leave the file RAN, which is returned."""
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {folder}/RAN\nexit 7\n")
        (folder / name).chmod(0o755)
    return folder / "RAN"


def test_a_program_on_path_is_not_ireees(tmp_path, monkeypatch):
    ran = planted(tmp_path, "iree-compile", "iree-run-module", "iree-benchmark-module")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("IREE_TOOL_PATH", str(tmp_path))
    native_program.cache_clear()
    for name in ("iree-compile", "iree-run-module", "iree-benchmark-module"):
        found = Path(native_program(name))
        assert found.is_absolute() and found.is_file() and tmp_path not in found.parents
    assert run_child([stock_compiler(), "--version"], 300).status == 0 and not ran.exists()


def test_where_a_package_is_missing_no_other_program_stands_in(tmp_path, monkeypatch):
    planted(tmp_path, "iree-compile")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(native_programs, "find_spec", lambda _name: None)
    native_program.cache_clear()
    try:
        with pytest.raises(UsageError, match="iree-compile is not installed"):
            stock_compiler()
    finally:
        native_program.cache_clear()


@pytest.mark.parametrize("command", [
    ("compile", "in.mlir", *LLVM_CPU, "-o", "out.vmfb"), ("compile", "in.mlir", "--compile-mode=hal-executable", "-o", "out.vmfb"),
    ("verify", "in.mlir", "--on", "local-task"),
], ids=["compile", "passed on to stock", "verify"])  # fmt: skip
def test_no_command_runs_a_planted_compiler(command, tmp_path):
    work, there = tmp_path / "work", tmp_path / "planted"
    work.mkdir()
    there.mkdir()
    (work / "in.mlir").write_text(ADD)
    ran = planted(there, "iree-compile", "iree-run-module", "iree-lld", "iree-opt")
    environment = os.environ | {
        "PATH": f"{there}{os.pathsep}{os.environ['PATH']}",
        "IREE_TOOL_PATH": str(there),
    }
    subprocess.run(
        [str(BIN / "fissile"), *command], cwd=work, env=environment, capture_output=True, timeout=300
    )
    assert not ran.exists(), ran.read_text()


def test_children_look_for_programs_in_no_relative_place(monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join(["", "/bin", ".", "tools", "/usr/bin", ""]))
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join(["", "/a", "b", ""]))
    script = "import os; print(os.environ['PATH'], os.environ['LD_LIBRARY_PATH'])"
    assert run_child([sys.executable, "-c", script], 300).out.split() == ["/bin:/usr/bin", "/a:b"]
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert (
        run_child(
            [sys.executable, "-c", "import os; print('LD_LIBRARY_PATH' in os.environ)"], 300
        ).out.strip()
        == "False"
    )


@pytest.mark.parametrize("compiler", ["stock", "fissile"])
def test_a_program_that_chooses_the_systems_linker_does_not_run_one_of_the_working_directory(
    compiler, tmp_path
):
    """Stock runs what is there, where PATH has a relative entry."""
    (tmp_path / "in.mlir").write_text(LINKED_BY_THE_SYSTEM)
    ran = planted(tmp_path, "ld", "ld.lld", "lld", "ld.gold")
    program = [stock_compiler()] if compiler == "stock" else [str(BIN / "fissile"), "compile"]
    subprocess.run(
        [*program, *LLVM_CPU, "in.mlir", "-o", "out.vmfb"],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{BIN}{os.pathsep}."},
        capture_output=True,
        timeout=300,
    )
    assert ran.exists() == (compiler == "stock")
