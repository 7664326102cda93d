"""Scatters into a tensor that may have no place: nothing is written before the check."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
PLAIN = """func.func @main(%u: tensor<?x64xi32>, %i: tensor<?x1xi32>, %x: tensor<?x64xi32>) -> tensor<?x64xi32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %i : tensor<?x64xi32>, tensor<?x1xi32>) outs(%x : tensor<?x64xi32>) {
  ^bb0(%a: i32, %b: i32): iree_linalg_ext.yield %a : i32 } -> tensor<?x64xi32>
  return %r : tensor<?x64xi32>
}"""
MASKED = """func.func @main(%u: tensor<?x64xi32>, %i: tensor<?x1xi32>, %x: tensor<?x64xi32>, %m: tensor<?xi1>) -> tensor<?x64xi32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %i, %m : tensor<?x64xi32>, tensor<?x1xi32>, tensor<?xi1>) outs(%x : tensor<?x64xi32>) {
  ^bb0(%a: i32, %b: i32): iree_linalg_ext.yield %a : i32 } -> tensor<?x64xi32>
  return %r : tensor<?x64xi32>
}"""
CALL = """import sys, numpy as np, iree.runtime as rt
config = rt.Config("local-sync")
module = rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, sys.argv[1]), config)
rows, updates, kept = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
values = [np.ones((updates, 64), np.int32), np.arange(updates, dtype=np.int32)[:, None], np.zeros((rows, 64), np.int32)]
if kept != "all":
    values.append(np.full(updates, kept == "some"))
try:
    print("sum", module.main(*values).to_host().sum())
except Exception as error:
    print(str(error)[:400])
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    made = {}
    for name, text in {"plain": PLAIN, "masked": MASKED}.items():
        made[name] = tmp_path_factory.mktemp("scatters") / f"{name}.vmfb"
        with Session(FLAGS) as session:
            module = session.run(session.parse_text(text), GUARDED_AT)
            guard(module.op)
            session.run(module, "end")
            session.write(module, made[name])
    return made


@pytest.mark.parametrize(
    ("name", "rows", "updates", "kept", "answer"),
    [
        ("plain", 0, 4, "all", "FAILED_PRECONDITION"),
        ("plain", 0, 0, "all", "sum 0"),
        ("plain", 4, 4, "all", "sum 256"),
        ("masked", 0, 4, "some", "FAILED_PRECONDITION"),
        ("masked", 0, 4, "none", "sum 0"),
        ("masked", 4, 4, "some", "sum 256"),
        ("masked", 4, 4, "none", "sum 0"),
    ],
)
def test_a_tensor_without_rows_is_not_written(modules, name, rows, updates, kept, answer):
    command = [sys.executable, "-c", CALL, modules[name], *map(str, (rows, updates, kept))]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr  # heap damage ends the process by a signal
    assert answer in ended.stdout
