"""What code generation says about one dispatch: bytes, races, recomputation, and a deadline that holds."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from iree.compiler import ir
from small_programs import ADD, TARGETS, quantised_conv

from fissile import wire
from fissile.effect import Effect
from fissile.finding import Limit, Place
from fissile.passes.analysis.dispatch.dispatches import dispatches, without_offsets
from fissile.passes.analysis.dispatch.provenance import describe_source_ops, tag_source_ops
from fissile.passes.analysis.dispatch.recomputation import recomputed_producers
from fissile.passes.analysis.kernel.evidence import NOTHING, Evidence
from fissile.passes.analysis.memory.footprint import WORKGROUP, Allocation, Footprint
from fissile.passes.checks.speed.recomputation import check_recomputation
from fissile.passes.failures.threads.workgroup_race import WorkgroupRace
from fissile.passes.iree.backends import BACKENDS
from fissile.passes.iree.messages import STACK_EXCEEDED, WORKGROUP_MEMORY_EXCEEDED
from fissile.pipelines.probe.conversion import Conversion, Copy
from fissile.pipelines.probe.diagnostics import Diagnostic
from fissile.pipelines.probe.dispatch_check import DispatchChecker
from fissile.pipelines.probe.linking import standalone
from fissile.pipelines.probe.one_dispatch import Probed, probe, probe_and_convert
from fissile.pipelines.probe.probe_pool import ProbePool
from fissile.pipelines.repair.edits import CUT, apply_edits, edits
from fissile.pipelines.repair.packing import narrow_without_code
from fissile.pipelines.session import Session
from fissile.quantity import Bytes


def configured(target: str, text: str, cuts=()):
    session = Session(TARGETS[target])
    module = session.run(session.parse_text(text, "in.mlir"), "global-optimization")
    ops = describe_source_ops(module.op)
    tag_source_ops(module.op)
    apply_edits(module, edits(CUT, cuts))
    return session.run(module, "executable-configurations"), ops


def test_bytes_are_traced_to_source_ops():
    module, _ops = configured("gfx942", quantised_conv())
    (dispatch,) = dispatches(module.op)
    result = probe(dispatch)
    assert result.failure is None
    by_tag = {tag: count.value for tag, count in result.footprint.by_tag().items()}
    assert by_tag[0] == 64 * 18 * 18 * 4, "the dequantised input, whole"
    assert sum(by_tag.values()) == result.footprint.total.value > dispatch.target.workgroup_bytes


def test_the_probed_module_is_not_changed():
    module, _ops = configured("vulkan", quantised_conv())
    before = module.text(locations=True)
    (dispatch,) = dispatches(module.op)
    probe(dispatch)
    assert probe_and_convert(dispatch)[1] is not None, (
        "its narrow loads do not fit in memory, and IREE's own check refuses it"
    )
    assert module.text(locations=True) == before


BIASED = """
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %bias = arith.constant dense_resource<bias> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %bias : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %s = arith.addf %in, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { bias: "0x040000000000803F000000400000404000008040" } } #-}
"""


@pytest.mark.parametrize("target", ["vulkan", "gfx942"])
def test_the_bytes_of_a_constant_go_with_its_dispatch(target):
    """A small constant of an exported model is inlined into its dispatch: a process that probes it has no other module."""
    module, _ops = configured(target, BIASED)
    (dispatch,) = dispatches(module.op)
    text = standalone(dispatch)
    assert "dense_resource<bias>" in text and "0000803F000000400000404000008040" in text
    (alone,) = dispatches(Session(TARGETS[target]).parse_text(text, "dispatch.mlir").op)
    probed, conversion = probe_and_convert(alone)
    assert probed.failure is None and conversion is None


def test_a_tile_shared_without_a_barrier_is_a_race_and_a_private_one_is_none():
    racing, _ops = configured("vulkan", quantised_conv(size=8, channels=4, requantise=True))
    assert any(probe(d).seen.get(WorkgroupRace.code) for d in dispatches(racing.op))
    cut, _ops = configured("vulkan", quantised_conv(size=8, channels=4, requantise=True), cuts=(0, 1))
    found = dispatches(cut.op)
    assert any(probe(d).footprint.total.value for d in found), "the accumulator's tile is still there"
    assert not any(probe(d).seen.get(WorkgroupRace.code) for d in found)


ROW_SUM = """\
func.func @main(%x: tensor<?x32xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%d) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x32xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = arith.addf %i, %o : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%r : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = arith.mulf %i, %i : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %g : tensor<?xf32>
}
"""


def test_an_accumulator_that_each_thread_has_for_itself_is_no_race():
    module, _ops = configured("vulkan", ROW_SUM)
    (dispatch,) = dispatches(module.op)
    result = probe(dispatch)
    assert result.footprint.total.value and WorkgroupRace.code not in result.seen


def test_narrow_storage_is_told_once_per_type_and_only_without_it():
    module, _ops = configured("vulkan", quantised_conv())
    (finding,) = narrow_without_code(dispatches(module.op))
    assert finding.code == "FIS110" and "i8" in finding.message
    for target, text in (("gfx942", quantised_conv()), ("vulkan", ADD)):
        healthy, _ops = configured(target, text)
        assert narrow_without_code(dispatches(healthy.op)) == []


def test_a_recomputed_producer_is_counted_and_a_cut_one_is_gone():
    module, ops = configured("llvm-cpu", quantised_conv(channels=8, filters=8))
    (dispatch,) = dispatches(module.op)
    times = {r.tag: r.times for r in recomputed_producers(dispatch)}
    macs = 8 * 16 * 16 * 8 * 9
    assert times == {0: macs // (8 * 18 * 18), 1: macs // (8 * 8 * 9)}
    finding = check_recomputation(dispatch, recomputed_producers(dispatch), ops)
    assert finding.code == "FIS140" and "up to 256 times" in finding.message and len(finding.places) == 3
    cut, ops = configured("llvm-cpu", quantised_conv(channels=8, filters=8), cuts=(0, 1))
    assert [recomputed_producers(d) for d in dispatches(cut.op)] == [[], [], []]


def test_equal_bodies_have_equal_fingerprints():
    layer = quantised_conv(name="first")
    module, _ops = configured("gfx942", layer + layer.replace("@first", "@second").replace("in.mlir", "x"))
    assert len({d.fingerprint for d in dispatches(module.op)}) == 1
    other, _ops = configured("gfx942", quantised_conv(size=8))
    assert {d.fingerprint for d in dispatches(other.op)} != {d.fingerprint for d in dispatches(module.op)}


OFFSET = """
  func.func @f() {{
    %c{n} = arith.constant {n} : index
    %c4 = arith.constant 4 : index
    %0 = hal.interface.binding.subspan layout(<>) binding(0) alignment(64) offset(%c{n}) : tensor<4xf32>
    scf.for %i = %c{used} to %c4 step %c4 {{
    }}
"""


def test_a_fingerprint_knows_no_place_in_an_allocation_but_its_alignment():
    there, elsewhere, unaligned, far = (
        without_offsets(OFFSET.format(n=n, used=4)) for n in (128, 65536, 132, 1 << 32)
    )
    assert there == elsewhere and len({there, unaligned, far}) == 3
    assert without_offsets(OFFSET.format(n=128, used=128)) != without_offsets(
        OFFSET.format(n=192, used=192)
    ), "a loop's bound counts"
    twice = "%c1 = arith.constant 1 : index\n%c1 = arith.constant 2 : index\n"
    assert without_offsets(twice) == twice


CHAIN = """
func.func @main(%a: tensor<60x30xf32>, %b: tensor<30x60xf32>, %c: tensor<60x50xf32>, %d: tensor<50x40xf32>) -> tensor<60x40xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<60x60xf32>
  %e2 = tensor.empty() : tensor<60x50xf32>
  %e3 = tensor.empty() : tensor<60x40xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<60x60xf32>) -> tensor<60x60xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<60x50xf32>) -> tensor<60x50xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<60x40xf32>) -> tensor<60x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<60x30xf32>, tensor<30x60xf32>) outs(%f1 : tensor<60x60xf32>) -> tensor<60x60xf32>
  %x = linalg.map { math.exp } ins(%p : tensor<60x60xf32>) outs(%e1 : tensor<60x60xf32>)
  %q = linalg.matmul ins(%x, %c : tensor<60x60xf32>, tensor<60x50xf32>) outs(%f2 : tensor<60x50xf32>) -> tensor<60x50xf32>
  %r = linalg.matmul ins(%q, %d : tensor<60x50xf32>, tensor<50x40xf32>) outs(%f3 : tensor<60x40xf32>) -> tensor<60x40xf32>
  return %r : tensor<60x40xf32>
}
"""


def test_a_boundary_leaves_the_dispatches_that_it_does_not_touch_as_they_are():
    """It moves their buffers in the transient allocation; what was generated for them is not generated again."""
    module, _ops = configured("vulkan", CHAIN)
    cut, _ops = configured("vulkan", CHAIN, cuts=(3,))
    before, after = ({d.name.split("_matmul_")[-1]: d for d in dispatches(m.op)} for m in (module, cut))
    assert len(after) == len(before) + 1
    moved = [
        name for name in ("60x50x60_f32", "60x40x50_f32") if offsets(before[name]) != offsets(after[name])
    ]
    assert moved, "the program does not show what the test is about"
    for name in ("60x50x60_f32", "60x40x50_f32"):
        assert before[name].fingerprint == after[name].fingerprint
    assert before["60x60x30_f32"].fingerprint != after["60x60x30_f32"].fingerprint


def offsets(dispatch) -> list[str]:
    return re.findall(r" offset\((%\w+)\)", dispatch.executable.get_asm(use_local_scope=True))


def test_a_passing_dispatch_is_generated_once():
    module, ops = configured("vulkan", ADD)
    with ProbePool([], deadline=300) as pool:
        checker = DispatchChecker(pool)
        for _ in range(2):
            assert [c.finding for c in checker.check(module, ops)] == [None]
        assert checker.generated == 1


def test_a_dispatch_past_its_deadline_and_one_that_crashes_are_findings(monkeypatch):
    module, ops = configured("vulkan", ADD)
    with ProbePool([], deadline=0.001) as pool:
        (checked,) = DispatchChecker(pool).check(module, ops)
    assert checked.finding.code == "FIS106"

    import fissile.pipelines.probe.probe_pool as probe_pool

    monkeypatch.setattr(probe_pool, "standalone", lambda dispatch: "this is no module")
    with ProbePool([], deadline=300) as pool:
        (crashed,) = DispatchChecker(pool).check(module, ops)
        assert crashed.finding.code == "FIS107"
        monkeypatch.undo()
        (again,) = DispatchChecker(pool).check(module, ops)
    assert again.finding is None, "the next dispatch gets a fresh process"


def test_nothing_of_an_answer_is_lost_on_its_way():
    place = Place("x.mlir", 3, 4, "here")
    buffer = Allocation(WORKGROUP, Bytes.exact(64), "4x4xf32", (1, 2), place)
    evidence = Evidence(
        (buffer,),
        ("f32",),
        64,
        ("summed",),
        (3,),
        place,
        Effect.REFUSED,
        "why",
        "no",
        "all of it",
        Limit(8, "x", "y"),
    )
    probed = Probed(
        Footprint((buffer,)),
        Diagnostic("error", "no", "x.mlir:3: no", (place,), (5,)),
        {"FIS111": evidence},
        "too large",
    )
    plain = Probed(Footprint(()), None)
    assert all(getattr(probed, field.name) != getattr(plain, field.name) for field in fields(Probed)), (
        "give the new field a value above"
    )
    assert all(getattr(evidence, field.name) != getattr(NOTHING, field.name) for field in fields(Evidence))
    assert wire.decode(Probed, wire.encode(probed)) == probed


@pytest.mark.parametrize("target", TARGETS)
def test_the_pool_says_what_the_probe_says(target):
    module, _ops = configured(target, quantised_conv())
    with ProbePool([], deadline=300) as pool:
        results = pool.probe_all(dispatches(module.op))
    for dispatch, result in zip(dispatches(module.op), results, strict=True):
        here = probe(dispatch)
        assert result.probed.footprint == here.footprint
        assert result.probed.seen == here.seen


@pytest.mark.parametrize("target", ["gfx942", "sm_86", "llvm-cpu", "vulkan"])
def test_the_resource_check_refuses_in_its_own_words(target):
    """It is quoted as what stock says, so it must be the check that speaks, not the pass manager."""
    module, _ops = configured(target, ADD)
    (dispatch,) = dispatches(module.op)
    copy, backend = Copy(dispatch), BACKENDS[dispatch.target.backend]
    assert copy.generate(backend.lowering) is None
    assert copy.generate(backend.resource_check) is None, "it fits"
    space = "" if target == "llvm-cpu" else ", #gpu.address_space<workgroup>"
    allocate = "memref.alloca" if target == "llvm-cpu" else "memref.alloc"
    with copy.inner.context, ir.Location.unknown():
        large = ir.Module.parse(
            f"func.func @large() {{\n  %0 = {allocate}() : memref<1000x1000xf32{space}>\n  return\n}}"
        )
        [function] = large.body.operations
        copy.inner.regions[0].blocks[0].append(function.operation.clone())
    refused = copy.generate(backend.resource_check)
    assert refused is not None
    assert re.search(f"{WORKGROUP_MEMORY_EXCEEDED}|{STACK_EXCEEDED}", refused.message), refused.message


@pytest.mark.parametrize("target", ["gfx942", "sm_86", "llvm-cpu"])
def test_conversion_goes_on_where_lowering_ended(target):
    """Code is lowered once: what conversion makes of the lowered copy is what it makes of the dispatch."""
    module, _ops = configured(target, quantised_conv(size=8, channels=4, requantise=True))
    (dispatch,) = dispatches(module.op)
    backend = BACKENDS[dispatch.target.backend]
    lowered, whole, conversion = Copy(dispatch), Copy(dispatch), Conversion(dispatch)
    conversion.before_lowering(lowered)
    assert lowered.generate(backend.lowering) is None
    conversion.after_lowering(lowered)
    assert conversion.resumes_from.generate(backend.conversion) is None
    assert whole.generate(backend.conversion) is None
    assert str(conversion.resumes_from.inner) == str(whole.inner)
