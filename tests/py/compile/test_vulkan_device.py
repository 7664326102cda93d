"""The Vulkan query: without a driver a sentence with a way out, with one the numbers IREE's own runtime sees."""

import os
import subprocess
import sys

import pytest

from fissile.errors import UsageError
from fissile.pipelines.devices import vulkan
from fissile.pipelines.numerics import runtimes


@pytest.fixture(autouse=True)
def queried_anew():
    """The answer is cached per process; a test that changes the environment must not leave it behind."""
    vulkan.devices.cache_clear()
    yield
    vulkan.devices.cache_clear()


def test_no_driver_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nonexistent.json")
    monkeypatch.setenv("VK_DRIVER_FILES", "/nonexistent.json")
    with pytest.raises(UsageError, match="Vulkan") as error:
        vulkan.query_device()
    assert "mesa-vulkan-drivers" in error.value.hint


def test_a_driver_that_crashes_is_reported(monkeypatch):
    crash = [sys.executable, "-c", "import os; os.abort()"]
    monkeypatch.setattr(vulkan, "module_command", lambda _module: crash)
    with pytest.raises(UsageError, match=r"the query of the Vulkan driver failed \(was ended by SIGABRT\)"):
        vulkan.query_device()


def device():
    try:
        return vulkan.query_device()
    except UsageError as error:
        pytest.skip(error.message)


def test_the_query_agrees_with_iree_runtime():
    here = device()
    program = runtimes.run_module_program()
    reported = subprocess.run(
        [program, "--dump_devices=vulkan"], capture_output=True, text=True, timeout=300
    ).stdout
    block = reported.split(here.uri)[1]

    def yes(feature):
        return f"{feature}=yes" in block.split("features:")[1].splitlines()[0]

    assert here.name in block
    assert f"size={here.subgroup_size} " in block
    assert f"minSubgroupSize={here.subgroup_min} maxSubgroupSize={here.subgroup_max}" in block
    assert here.storage8 == yes("storageBuffer8BitAccess") and here.storage16 == yes(
        "storageBuffer16BitAccess"
    )
    assert here.int8 == yes("shaderInt8") and here.float16 == yes("shaderFloat16")
    assert here.cooperative_matrix == yes("cooperativeMatrix")


def test_limits_are_in_vulkans_guaranteed_ranges():
    here = device()
    assert here.shared_memory_bytes >= 16384 and here.max_invocations >= 128  # Vulkan's required minimum
    assert min(here.max_counts) >= 65535
    assert here.subgroup_min <= here.subgroup_size <= here.subgroup_max
    assert here.subgroup_size & (here.subgroup_size - 1) == 0


def test_an_index_that_is_not_there_lists_what_is():
    here = device()
    with pytest.raises(UsageError, match="no Vulkan device 99") as error:
        vulkan.query_device(99)
    assert here.name in error.value.hint
    assert vulkan.query_device(here.index) == here


def test_asking_does_not_load_a_driver_into_this_process():
    device()
    with open(f"/proc/{os.getpid()}/maps") as maps:
        assert "libvulkan" not in maps.read()
