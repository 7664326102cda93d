"""Tensors that may have no place, accessed where loaded data says: the check comes before the access."""

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
READ = """func.func @main(%i: tensor<?xi32>, %x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: i32, %o: f32):
    %k = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%k, %k] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}"""
GATHER = """func.func @main(%i: tensor<?xi32>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = iree_linalg_ext.gather dimension_map = [0]
    ins(%x, %i : tensor<?x?xf32>, tensor<?xi32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
NO_PLACE = """func.func @main(%i: tensor<?xi32>, %x: tensor<0x0xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = tensor.cast %x : tensor<0x0xf32> to tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %v = tensor.extract %y[%k, %k] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}"""
READ_CALL = """import sys, numpy as np, iree.runtime as rt
config = rt.Config("local-sync")
module = rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, sys.argv[1]), config)
indices, rows, columns = map(int, sys.argv[2:])
try:
    result = module.main(np.zeros(indices, np.int32), np.ones((rows, columns), np.float32)).to_host()
    print("shape", *result.shape, "sum", result.sum())
except Exception as error:
    print(str(error)[:400])
"""
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
PROGRAMS = {"plain": PLAIN, "masked": MASKED, "read": READ, "gather": GATHER, "no place": NO_PLACE}


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    made = {}
    for name, text in PROGRAMS.items():
        made[name] = tmp_path_factory.mktemp("empty") / f"{name}.vmfb"
        with Session(FLAGS) as session:
            module = session.run(session.parse_text(text), GUARDED_AT)
            assert "FIS201" not in {
                f.code for f in guard(module.op).findings
            }  # a call without a round is right
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


@pytest.mark.parametrize(
    ("name", "indices", "rows", "columns", "answer"),
    [
        ("read", 4, 0, 0, "FAILED_PRECONDITION"),
        ("read", 4, 3, 0, "FAILED_PRECONDITION"),
        ("read", 0, 0, 0, "shape 0"),
        ("read", 4, 3, 3, "sum 4.0"),
        ("gather", 4, 0, 2, "FAILED_PRECONDITION"),
        ("gather", 4, 3, 2, "sum 8.0"),
        ("no place", 4, 0, 0, "FAILED_PRECONDITION"),
        ("no place", 0, 0, 0, "shape 0"),
    ],
)
def test_a_tensor_without_places_is_not_read(modules, name, indices, rows, columns, answer):
    command = [sys.executable, "-c", READ_CALL, modules[name], *map(str, (indices, rows, columns))]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, (
        ended.stderr
    )  # the code of a dispatch divides by the size of an empty dimension
    assert answer in ended.stdout
