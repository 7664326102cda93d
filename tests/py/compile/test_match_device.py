"""Device matching: the target attribute says what the device says, once, and tells each change."""

import dataclasses

import numpy as np
import pytest
from programs import run_program

from fissile.errors import UsageError
from fissile.pipelines.devices.match import match_target, match_text
from fissile.pipelines.devices.vulkan import VulkanDevice, query_device
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.compare import compare
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.signature import signatures_of_source

DEVICE = VulkanDevice(
    index=0,
    name="toy",
    kind="cpu",
    driver="",
    uuid="0" * 32,
    api="1.3.0",
    float16=True,
    float64=False,
    int8=True,
    int16=True,
    int64=True,
    storage8=True,
    storage16=True,
    integer_dot_product=False,
    cooperative_matrix=False,
    subgroup_size=8,
    subgroup_min=8,
    subgroup_max=8,
    subgroup_operations=("basic", "arithmetic", "shuffle"),
    shared_memory_bytes=32768,
    max_invocations=1024,
    max_sizes=(1024, 1024, 1024),
    max_counts=(2**32 - 1, 65535, 65535),
)

TARGET = (
    '#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {iree_codegen.target_info = #iree_gpu.target<'
    'arch = "sm_80", features = "spirv:v1.6,cap:Shader", wgp = <compute = fp32|int32, storage = b32, '
    "subgroup = none, dot = dp4xi8toi32, mma = [<NV_WMMA_F32_16x16x16_F16>, <NV_WMMA_F16_16x16x16_F16>], "
    "subgroup_size_choices = [64], max_workgroup_sizes = [128, 128, 64], max_thread_count_per_workgroup = 128, "
    "max_workgroup_memory_bytes = 16384, max_workgroup_counts = [65535, 65535, 65535]>>}>"
)


def test_lavapipe_is_named_so_that_what_was_measured_on_it_counts():
    text, changes = match_text(TARGET, dataclasses.replace(DEVICE, name="llvmpipe (LLVM 15.0.6, 256 bits)"))
    assert 'arch = "llvmpipe"' in text and "arch" in {c.field for c in changes}
    assert 'arch = "sm_80"' in match_text(TARGET, DEVICE)[0]


def test_every_field_is_what_the_device_says():
    text, changes = match_text(f'#hal.device.target<"vulkan", [{TARGET}]>', DEVICE)
    assert "compute = fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8" in text
    assert "subgroup = arithmetic, subgroup_size_choices = [8]" in text  # no shuffle: half of it is missing
    assert "max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024" in text
    assert "max_workgroup_memory_bytes = 32768, max_workgroup_counts = [2147483647, 65535, 65535]>>}>" in text
    assert "mma" not in text and "dot" not in text
    assert {c.field for c in changes} == {
        "compute",
        "storage",
        "subgroup",
        "subgroup_size_choices",
        "max_workgroup_sizes",
        "max_thread_count_per_workgroup",
        "max_workgroup_memory_bytes",
        "max_workgroup_counts",
        "dot",
        "mma",
    }
    assert "max_workgroup_memory_bytes: 16384 -> 32768" in " ".join(map(str, changes))


def test_a_second_time_changes_nothing():
    text, _ = match_text(TARGET, DEVICE)
    assert match_text(text, DEVICE) == (text, [])


def test_a_weaker_device_narrows_a_target():
    wide, _ = match_text(TARGET, DEVICE)
    weak = dataclasses.replace(DEVICE, storage8=False, int8=False, api="1.1.0", shared_memory_bytes=16384)
    text, changes = match_text(wide, weak)
    assert "b64|b32|b16," in text and "int8" not in text and "spirv:v1.3" in text
    assert {c.field for c in changes} == {"compute", "storage", "features", "max_workgroup_memory_bytes"}


@pytest.mark.parametrize(
    "kept",
    [
        '#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "", storage = b32}>',
        '#hal.executable.target<"rocm", "rocm-hsaco-fb", {x = #iree_gpu.target<arch = "gfx942", wgp = <storage = b32>>}>',
        '"no target at all"',
    ],
)
def test_other_targets_stay_as_they_are(kept):
    assert match_text(kept, DEVICE) == (kept, [])
    both, changes = match_text(f"[{kept}, {TARGET}]", DEVICE)
    assert kept in both and changes


def test_a_dot_product_the_device_has_is_kept():
    text, _ = match_text(
        TARGET, dataclasses.replace(DEVICE, integer_dot_product=True, cooperative_matrix=True)
    )
    assert "dot = dp4xi8toi32" in text and "NV_WMMA_F32" in text


PROGRAMS = {
    "dequantise": """
      %e = tensor.empty() : tensor<33x20xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
          iterator_types = ["parallel", "parallel"]} ins(%x : tensor<33x20xi8>) outs(%e : tensor<33x20xf32>) {
        ^bb0(%i: i8, %o: f32):
          %f = arith.sitofp %i : i8 to f32
          linalg.yield %f : f32 } -> tensor<33x20xf32>
      return %r : tensor<33x20xf32>""",
    "row sum": """
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<33xf32>
      %a = linalg.fill ins(%z : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<33x512xf32>) outs(%a : tensor<33xf32>) {
        ^bb0(%i: f32, %o: f32):
          %s = arith.addf %i, %o : f32
          linalg.yield %s : f32 } -> tensor<33xf32>
      return %r : tensor<33xf32>""",
}
REFERENCES = {
    "dequantise": ("tensor<33x20xi8>", "tensor<33x20xf32>", lambda x: x.astype(np.float64)),
    "row sum": ("tensor<33x512xf32>", "tensor<33xf32>", lambda x: x.astype(np.float64).sum(1)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_matched_program_computes_what_numpy_does(name, tmp_path):
    """Subgroups of 8 and 8-bit storage are used here; with the default target's 64 lanes or 32-bit storage
    lavapipe gives other numbers."""
    from iree.compiler import ir
    from iree.compiler.api import Session

    try:
        device = query_device()
    except UsageError as error:
        pytest.skip(error.message)
    argument, result, reference = REFERENCES[name]
    source, assigned, vmfb = tmp_path / "a.mlir", tmp_path / "b.mlir", tmp_path / "b.vmfb"
    source.write_text(f"func.func @main(%x: {argument}) -> {result} {{ {PROGRAMS[name]} }}")
    run_program(
        [
            "iree-compile",
            source,
            "--iree-hal-target-device=vulkan",
            "--compile-to=preprocessing",
            "-o",
            assigned,
        ],
        check=True,
        timeout=300,
    )
    with Session().context:
        module = ir.Module.parse(assigned.read_text())
        assert match_target(module, device)
        assert match_target(module, device) == []
        assigned.write_text(str(module))
    run_program(
        ["iree-compile", assigned, "--compile-from=preprocessing", "-o", vmfb], check=True, timeout=300
    )
    signature = signatures_of_source(source)["main"]
    inputs = draw(signature, seed=3)
    (vulkan,) = runtimes.named(["vulkan"])
    outputs = runtimes.run(vmfb, signature, inputs, vulkan)
    assert isinstance(outputs, list), outputs
    reported = compare(outputs[0], reference(*inputs), reference=True)
    assert reported.agrees, reported.sentence
