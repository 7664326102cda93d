"""Targets: names, limits with their sources, budgets; and IREE's figures read back from the wheel."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from fissile.errors import UsageError
from fissile.target import KNOWN_TARGETS, device_claim, find_target, parse_budget


def test_the_smaller_of_two_figures_counts_and_says_whose_it_is():
    target = find_target("sm_86")
    assert (target.limit.bytes, target.compiler_bytes, target.disagrees) == (101376, 166912, True)
    assert "NVIDIA" in target.limit.source and "IREE" not in target.limit.source


@pytest.mark.parametrize(
    "backend, arch, figure",
    [
        ("cuda", "sm_86", 101376),
        ("cuda", "sm_80", 166912),
        ("rocm", "gfx942", 65536),
        ("vulkan-spirv", "sm_80", 49152),
        ("vulkan-spirv", "rdna3", None),
        ("vulkan-spirv", "gfx1100", None),
        ("cuda", "sm_999", None),
        ("llvm-cpu", "", None),
    ],
)
def test_what_the_device_that_a_target_attribute_names_has(backend, arch, figure):
    claim = device_claim(backend, arch)
    assert (claim.bytes if claim else None) == figure


def test_agreeing_sources_are_both_named_and_are_no_disagreement():
    target = find_target("gfx942")
    assert (target.limit.bytes, target.disagrees) == (65536, False)
    assert "IREE" in target.limit.source and "LLVM" in target.limit.source


def test_cpu_has_a_stack_and_no_workgroup_memory():
    target = find_target("llvm-cpu")
    assert (target.stack_bytes, target.workgroup_bytes, target.limit.per) == (32768, None, "stack frame")
    assert find_target("gfx942").stack_bytes is None


@pytest.mark.parametrize(
    "spelled, name",
    [
        ("GFX942", "gfx942"),
        ("hip:gfx942", "gfx942"),
        ("cuda:sm_80", "sm_80"),
        ("ampere", "vulkan:ampere"),
        ("vulkan:gfx1100", "vulkan:gfx1100"),
        ("vulkan:rtx4090", "vulkan:rtx4090"),
        ("mali-g715", "vulkan:mali-g715"),
        ("adreno-642L", "vulkan:adreno-642l"),
        ("gfx1100", "gfx1100"),
        ("cpu", "llvm-cpu"),
        (" vulkan ", "vulkan"),
    ],
)
def test_spellings(spelled, name):
    assert find_target(spelled).name == name


@pytest.mark.parametrize(
    "name, reported",
    [
        ("gfx943", "gfx942"),
        ("sm_90", "sm_89"),
        ("gfx1030", "vulkan:gfx1030"),
        ("adreno-1", "adreno"),
        ("vulcan", "vulkan"),
        ("", "gfx942"),
        ("cuda:gfx942", "gfx942"),
    ],
)
def test_unknown_target_names_one_like_it(name, reported):
    with pytest.raises(UsageError) as refused:
        find_target(name)
    assert reported in refused.value.hint


@pytest.mark.parametrize("text, count", [("65536", 65536), ("64K", 65536), ("48kib", 49152), ("1M", 2**20)])
def test_budgets(text, count):
    assert parse_budget(text) == count
    assert find_target("sm_86").with_budget(count).limit.bytes == count


@pytest.mark.parametrize("text", ["", "0", "-1", "64 parsecs", "1.5K", "0x100", "k"])
def test_unparsable_budget(text):
    with pytest.raises(UsageError):
        parse_budget(text)


def test_a_budget_replaces_every_figure_and_a_device_joins_them():
    assert find_target("sm_86").with_budget(10**9).limit.bytes == 10**9
    device = find_target("vulkan:rdna3").with_device(32768, "a device")
    assert device.limit.bytes == 32768 and device.disagrees


READ_THE_WHEEL = """
import re, sys
from fissile.target import KNOWN_TARGETS, find_target
from fissile.passes.iree.targets import backend_of, flags_for
from fissile.pipelines.session import Session
for target in (*KNOWN_TARGETS.values(), find_target("adreno-740")):
    with Session(flags_for(target)) as session:
        module = session.parse_text("func.func @f(%a: tensor<i8>) -> tensor<i8> { return %a : tensor<i8> }")
        text = session.run(module, to="preprocessing").text()
    backend = re.search(r'#hal.executable.target<"([^"]+)"', text)[1]
    limit = re.search(r"max_(?:workgroup_memory_bytes|stack_allocation_size) = (\\d+)", text)[1]
    print(target.name, backend == backend_of(target), limit)
"""


def test_every_figure_called_irees_is_what_the_wheel_says():
    ran = subprocess.run([sys.executable, "-c", READ_THE_WHEEL], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    adreno = find_target("vulkan:adreno-740")
    rows = re.findall(r"^(\S+) (True|False) (\d+)$", ran.stdout, re.M)
    assert {name: (ok, int(limit)) for name, ok, limit in rows} == {
        name: ("True", target.compiler_bytes)
        for name, target in (*KNOWN_TARGETS.items(), ("vulkan:adreno-740", adreno))
    }
