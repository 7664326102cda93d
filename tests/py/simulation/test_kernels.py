"""Kernels written by hand: what threads compute together, and what they may not do to one another."""

from __future__ import annotations

import numpy as np
import pytest
from iree.compiler import ir
from iree.compiler.api import Session

from fissile.pipelines.simulation import control, indices, interface, lanes, memrefs, transfers, vectors  # noqa: F401
from fissile.pipelines.simulation.machine import Launch, Machine
from fissile.pipelines.simulation.memory import Buffer

THREADS, SUBGROUP = 64, 32
KERNEL = """
func.func @kernel() {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %thread = gpu.thread_id x
  %group = hal.interface.workgroup.id[0] : index
  %out = hal.interface.binding.subspan layout(<bindings = [#hal.pipeline.binding<storage_buffer>]>) binding(0) offset(%c0) : memref<2x64xi32>
  %room = memref.alloc() : memref<64xi32, #gpu.address_space<workgroup>>
  %number = arith.index_cast %thread : index to i32
  {body}
  return
}}
"""


def run(body: str):
    """What two workgroups of 64 threads write, and the faults."""
    session = Session()
    with session.context:
        module = ir.Module.parse(KERNEL.format(body=body))
        function = module.body.operations[0].operation
        launch = Launch(np.array([[0, 0, 0], [1, 0, 0]]), (2, 1, 1), (THREADS, 1, 1), SUBGROUP)
        out = Buffer("binding 0", 1, 2 * THREADS * 4, np.zeros(launch.threads, np.int64), False)
        machine = Machine(launch, {0: out}, {})
        machine.run(function)
    return out.elements(np.dtype(np.int32))[0].reshape(2, THREADS), [what for what, _where in machine.faults]


NEIGHBOUR = """
  memref.store %number, %room[%thread] : memref<64xi32, #gpu.address_space<workgroup>>
  {barrier}
  %next = affine.apply affine_map<(d0) -> ((d0 + {step}) mod 64)>(%thread)
  %read = memref.load %room[%next] : memref<64xi32, #gpu.address_space<workgroup>>
  memref.store %read, %out[%group, %thread] : memref<2x64xi32>
"""


def test_threads_read_what_others_wrote_before_the_barrier():
    written, faults = run(NEIGHBOUR.format(barrier="gpu.barrier", step=1))
    np.testing.assert_array_equal(written, [np.roll(np.arange(THREADS), -1)] * 2)
    assert not faults


def test_a_read_without_a_barrier_is_a_race_between_subgroups():
    _written, faults = run(NEIGHBOUR.format(barrier="", step=1))
    assert faults == ["read what other threads wrote since the last barrier"]


def test_a_write_over_what_another_subgroup_reads_is_one_too():
    again = "memref.store %read, %room[%thread] : memref<64xi32, #gpu.address_space<workgroup>>"
    _written, faults = run(NEIGHBOUR.format(barrier="gpu.barrier", step=32) + again)
    assert faults == ["write what other threads read since the last barrier"]
    _written, faults = run(NEIGHBOUR.format(barrier="gpu.barrier", step=32) + "gpu.barrier\n" + again)
    assert not faults


def test_a_barrier_that_some_threads_do_not_reach():
    _written, faults = run("""
  %first = arith.cmpi ult, %thread, %c31 : index
  scf.if %first {
    gpu.barrier
  }""")
    assert faults == ["a barrier that some threads of a workgroup do not reach"]


def test_a_barrier_that_all_threads_of_a_workgroup_reach_or_none():
    _written, faults = run("""
  %first = arith.cmpi eq, %group, %c0 : index
  scf.if %first {
    gpu.barrier
  }""")
    assert not faults


def test_writes_and_reads_outside_of_a_buffer():
    _written, faults = run("""
  %past = affine.apply affine_map<(d0) -> (d0 + 96)>(%thread)
  %read = memref.load %out[%group, %past] : memref<2x64xi32>
  memref.store %read, %out[%group, %past] : memref<2x64xi32>""")
    assert faults == ["read outside of a buffer", "write outside of a buffer"]


def test_one_place_written_with_different_values():
    _written, faults = run("memref.store %number, %out[%group, %c0] : memref<2x64xi32>")
    assert faults == ["different values written to one place at once"]
    _written, faults = run(
        "%same = arith.constant 7 : i32\nmemref.store %same, %out[%group, %c0] : memref<2x64xi32>"
    )
    assert not faults


def test_threads_leave_loops_and_branches_at_different_times():
    written, faults = run("""
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %thread step %c1 iter_args(%s = %zero) -> (i32) {
    %n = arith.index_cast %i : index to i32
    %t = arith.addi %s, %n : i32
    scf.yield %t : i32
  }
  %odd = arith.trunci %number : i32 to i1
  %r = scf.if %odd -> (i32) {
    scf.yield %sum : i32
  } else {
    %m = arith.subi %zero, %sum : i32
    scf.yield %m : i32
  }
  memref.store %r, %out[%group, %thread] : memref<2x64xi32>""")
    n = np.arange(THREADS)
    np.testing.assert_array_equal(written, [np.where(n % 2 == 1, 1, -1) * (n * (n - 1) // 2)] * 2)
    assert not faults


@pytest.mark.parametrize(("size", "step"), [(32, 1), (8, 1), (4, 8)])
def test_a_reduction_by_clusters_of_a_subgroup(size, step):
    stride = f", stride = {step}" if step > 1 else ""
    written, faults = run(f"""
  %sum = gpu.subgroup_reduce add %number cluster(size = {size}{stride}) : (i32) -> i32
  memref.store %sum, %out[%group, %thread] : memref<2x64xi32>""")
    lane = np.arange(THREADS)
    same = [
        [
            n
            for n in lane
            if n // SUBGROUP == me // SUBGROUP
            and n % step == me % step
            and n // (size * step) == me // (size * step)
        ]
        for me in lane
    ]
    np.testing.assert_array_equal(written, [[sum(group) for group in same]] * 2)
    assert not faults


@pytest.mark.parametrize(
    ("mode", "source"),
    [
        ("xor", lambda n: n ^ 5),
        ("down", lambda n: n + 5),
        ("up", lambda n: n - 5),
        ("idx", lambda n: n // 16 * 16 + 5),
    ],
)
def test_shuffles(mode, source):
    written, faults = run(f"""
  %five = arith.constant 5 : i32
  %width = arith.constant 16 : i32
  %moved, %valid = gpu.shuffle {mode} %number, %five, %width : i32
  memref.store %moved, %out[%group, %thread] : memref<2x64xi32>""")
    expected = [source(n) if source(n) // 16 == n // 16 else n for n in range(THREADS)]
    np.testing.assert_array_equal(written, [expected] * 2)
    assert not faults


def test_memory_that_nobody_wrote_is_garbage_and_private_memory_is_each_threads_own():
    written, _faults = run("""
  %own = memref.alloca() : memref<2xi32, #gpu.address_space<private>>
  memref.store %number, %own[%c0] : memref<2xi32, #gpu.address_space<private>>
  gpu.barrier
  %back = memref.load %own[%c0] : memref<2xi32, #gpu.address_space<private>>
  %never = memref.load %own[%c1] : memref<2xi32, #gpu.address_space<private>>
  %both = arith.addi %back, %never : i32
  memref.store %both, %out[%group, %thread] : memref<2x64xi32>""")
    np.testing.assert_array_equal(written, [np.arange(THREADS) - 1] * 2)


def test_masked_transfers_beyond_the_end_read_the_padding_and_write_nothing():
    written, faults = run("""
  %pad = arith.constant 9 : i32
  %at = affine.apply affine_map<(d0) -> (d0 mod 64)>(%thread)
  memref.store %number, %out[%group, %thread] : memref<2x64xi32>
  %pair = vector.transfer_read %out[%group, %at], %pad : memref<2x64xi32>, vector<2xi32>
  %moved = vector.shuffle %pair, %pair [1, 1] : vector<2xi32>, vector<2xi32>
  %last = vector.extract %moved[0] : i32 from vector<2xi32>
  memref.store %last, %out[%group, %thread] : memref<2x64xi32>""")
    np.testing.assert_array_equal(written, [[*range(1, THREADS), 9]] * 2)
    assert not faults
