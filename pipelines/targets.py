"""A target by name, the Vulkan device that is present included."""

from __future__ import annotations

from dataclasses import replace

from fissile.target import Target, find_target

PRESENT_DEVICE = "vulkan:device"


def resolve_target(name: str) -> Target:
    """`find_target`, and `vulkan:device`: the default Vulkan target with the limit that the present device
    reports.

    Raises UsageError for an unknown name, or where no device answers.
    """
    if name.strip().lower() != PRESENT_DEVICE:
        return find_target(name)
    from .devices.vulkan import query_device

    device = query_device()
    default = find_target("vulkan")
    return replace(default, name=PRESENT_DEVICE).with_device(device.shared_memory_bytes, device.name)
