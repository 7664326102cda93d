"""FIS187: partial results of subgroups that no thread reads, on the targets whose code loses them, and twins that read them all."""

from __future__ import annotations

import pytest
from iree.compiler import ir
from reported_codes import codes

from fissile.passes.analysis.kernel.lost_partials import lost_partials
from fissile.passes.failures.threads.lost_partials import LostPartials

WIDER = LostPartials.fails.replace("x256x", "x512x")
HALF = (
    LostPartials.fails.replace("f32", "f16")
    .replace("score: f16", "score: f32")
    .replace("%score : f16", "%score : f32")
)


@pytest.mark.parametrize(
    ("text", "target"), [(LostPartials.fails, "sm_80"), (WIDER, "gfx942"), (LostPartials.fails, "gfx1100")]
)
def test_an_attention_whose_subgroups_lose_their_results_is_decomposed(tmp_path, text, target):
    assert codes(tmp_path, text, target) == ["FIS187"]


@pytest.mark.parametrize(
    ("text", "target"), [(LostPartials.fails, "gfx942"), (HALF, "sm_80"), (LostPartials.fails, "vulkan")]
)
def test_an_attention_whose_partial_results_are_all_read_is_left_alone(tmp_path, text, target):
    assert "FIS187" not in codes(tmp_path, text, target)


KERNEL = """\
func.func @f(%x: vector<1xf32>) -> {read} {{
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %thread = gpu.thread_id x
  %subgroup, %lane = affine.delinearize_index %thread into (8, 32) : index, index
  %room = memref.alloc() : memref<8x3xf32, #gpu.address_space<workgroup>>
  vector.store %x, %room[{slot}, %zero] : memref<8x3xf32, #gpu.address_space<workgroup>>, vector<1xf32>
  gpu.barrier
  %r = {load}
  return %r : {read}
}}
"""
ROOM = "memref<8x3xf32, #gpu.address_space<workgroup>>"


@pytest.mark.parametrize(
    ("slot", "load", "read", "lost"),
    [
        ("%subgroup", f"vector.load %room[%zero, %zero] : {ROOM}, vector<1xf32>", "vector<1xf32>", 1),
        ("%subgroup", f"memref.load %room[%zero, %zero] : {ROOM}", "f32", 1),
        ("%subgroup", f"vector.load %room[%lane, %zero] : {ROOM}, vector<1xf32>", "vector<1xf32>", 0),
        ("%subgroup", f"vector.load %room[%zero, %zero] : {ROOM}, vector<8x1xf32>", "vector<8x1xf32>", 0),
        (
            "%subgroup",
            "vector.transfer_read %room[%zero, %zero], %pad {in_bounds = [true], permutation_map = affine_map<(m, n) -> (m)>} : "
            f"{ROOM}, vector<8xf32>",
            "vector<8xf32>",
            0,
        ),
        (
            "%subgroup",
            f"vector.load %room[%zero, %zero] : {ROOM}, vector<7x1xf32>",
            "vector<7x1xf32>",
            0,
        ),  # the eighth may be padding
        ("%zero", f"vector.load %room[%zero, %zero] : {ROOM}, vector<1xf32>", "vector<1xf32>", 0),
    ],
)
def test_a_slot_is_lost_where_a_thread_chooses_it_and_none_reads_it(slot, load, read, lost):
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(KERNEL.format(slot=slot, load=load, read=read))
        assert len(lost_partials(module.operation)) == lost
