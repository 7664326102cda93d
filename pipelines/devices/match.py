"""Make a module's Vulkan target attribute say what the device that is present says.

IREE's default Vulkan target is a lowest common denominator (32-bit storage, 16384 bytes of workgroup memory,
subgroups of 64 lanes that it does not use), and its named targets describe one product. Code built for another
width of storage or another subgroup size compiles, runs and gives wrong numbers.

Measured on lavapipe (subgroup size 8) with 37 small programs, fusion boundaries placed: the default attribute
gave 21 wrong results; what is done here gave none; the same with a subgroup size left at 64 gave 8 wrong ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fissile.passes.iree.attributes import EXECUTABLE_TARGET
from fissile.target import LAVAPIPE

from .vulkan import VulkanDevice

_BACKEND = f'{EXECUTABLE_TARGET}"vulkan-spirv"'
_SPIRV_OF_API = {(1, 0): 0, (1, 1): 3, (1, 2): 5}
"""Vulkan version -> SPIR-V 1.x that it takes (Vulkan specification, appendix A); 1.6 from Vulkan 1.3 on."""


@dataclass(frozen=True)
class Change:
    """One field of a target attribute, in IREE's spelling, and why it was changed, in one sentence."""

    field: str
    before: str
    after: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def match_target(module, device: VulkanDevice) -> list[Change]:
    """Rewrites every Vulkan executable target in a live module (`ir.Operation` or `ir.Module`), in place.

    The module is the output of phase preprocessing (devices are assigned before its end) or of any later phase
    that still has no executables. Returns the changes, none the second time, none where there is no Vulkan target.
    """
    from iree.compiler import ir

    from fissile.dialect.attributes import attributes

    changes: dict[Change, None] = {}
    root = getattr(module, "operation", module)
    # Device globals and module attributes: executable targets stand nowhere else before executables exist.
    for op in (root, *(child.operation for child in root.regions[0].blocks[0].operations)):
        for name, attribute in list(attributes(op)):
            if isinstance(attribute, ir.DenseElementsAttr):
                continue  # a model's weights: printing them would cost more than the compile
            text = str(attribute)
            if _BACKEND not in text:
                continue
            matched, found = match_text(text, device)
            if found:
                op.attributes[name] = ir.Attribute.parse(matched, context=op.context)
                changes.update(dict.fromkeys(found))
    return list(changes)


def match_text(attribute: str, device: VulkanDevice) -> tuple[str, list[Change]]:
    """The same on an attribute's own asm; targets of other backends in it stay as they are."""
    changes: list[Change] = []
    parts = re.split(r"(?=#hal\.executable\.target<)", attribute)
    for i, part in enumerate(parts):
        if part.startswith(_BACKEND):
            parts[i], found = _match_one(part, device)
            changes += [c for c in found if c not in changes]
    return "".join(parts), changes


def _match_one(text: str, device: VulkanDevice) -> tuple[str, list[Change]]:
    changes = []
    for field, (after, what) in _fields(device).items():
        # A field's value ends at the comma before the next field, or at the end of the list.
        found = re.search(rf"(?<=[ <]){field} = (\[[^\]]*\]|[^,>]+)", text)
        if not found or found[1] == after:
            continue
        text = text[: found.start(1)] + after + text[found.end(1) :]
        changes.append(Change(field, found[1], after, f"{field}: {found[1]} -> {after} ({what})"))
    for rewrite in (_spirv_version, _dot_product, _matrices):
        text, change = rewrite(text, device)
        changes += [change] if change else []
    return text, changes


def _fields(device: VulkanDevice) -> dict[str, tuple[str, str]]:
    """What the device reports, as the fields of IREE's #iree_gpu.target_wgp (3.13), with what it means."""
    compute = ["fp64"] * device.float64 + ["fp32"] + ["fp16"] * device.float16
    compute += ["int64"] * device.int64 + ["int32"] + ["int16"] * device.int16 + ["int8"] * device.int8
    storage = ["b64"] * (device.int64 or device.float64) + ["b32"]
    storage += ["b16"] * device.storage16 + ["b8"] * device.storage8
    operations = set(device.subgroup_operations)
    subgroup = ["shuffle"] * ({"shuffle", "shuffle-relative"} <= operations) + ["arithmetic"] * (
        "arithmetic" in operations
    )
    say = f"{device.name} "
    arch = {"arch": (f'"{LAVAPIPE}"', say + "is Mesa's lavapipe")} if LAVAPIPE in device.name else {}
    return arch | {
        "compute": ("|".join(compute), say + "computes in these types"),
        "storage": ("|".join(storage), say + "loads and stores elements of these widths"),
        "subgroup": ("|".join(subgroup) or "none", say + "offers these operations across a subgroup"),
        # One size only: the size the driver gives where none is requested. Code for another size is wrong.
        "subgroup_size_choices": (
            f"[{device.subgroup_size}]",
            say + f"runs {device.subgroup_size} lanes in step",
        ),
        "max_workgroup_sizes": (_list(device.max_sizes), say + "takes workgroups up to this size"),
        "max_thread_count_per_workgroup": (
            str(device.max_invocations),
            say + "takes as many threads a workgroup",
        ),
        "max_workgroup_memory_bytes": (
            str(device.shared_memory_bytes),
            say + f"has {device.shared_memory_bytes} bytes of workgroup memory",
        ),
        "max_workgroup_counts": (_list(device.max_counts), say + "takes as many workgroups a dispatch"),
    }


def _list(numbers: tuple[int, ...]) -> str:
    # The attribute holds 32-bit signed integers, and some drivers report 2**32 - 1.
    return "[" + ", ".join(str(min(n, 2**31 - 1)) for n in numbers) + "]"


def _spirv_version(text: str, device: VulkanDevice) -> tuple[str, Change | None]:
    """Lowered where the device's Vulkan is older than the target's SPIR-V; never raised: newer gains nothing."""
    major, minor = map(int, device.api.split(".")[:2])
    newest = _SPIRV_OF_API.get((major, minor), 6)
    found = re.search(r"spirv:v1\.(\d)", text)
    if not found or int(found[1]) <= newest:
        return text, None
    after = f"spirv:v1.{newest}"
    sentence = f"features: {found[0]} -> {after} ({device.name} speaks Vulkan {device.api})"
    return text.replace(found[0], after), Change("features", found[0], after, sentence)


def _dot_product(text: str, device: VulkanDevice) -> tuple[str, Change | None]:
    return _dropped(
        text, r", dot = [^,>]+", device.integer_dot_product, device, "packed integer dot products"
    )


def _matrices(text: str, device: VulkanDevice) -> tuple[str, Change | None]:
    """A named target lists its product's matrix instructions; a device without such must not get them."""
    return _dropped(text, r", mma = \[[^\]]*\]", device.cooperative_matrix, device, "cooperative matrices")


def _dropped(
    text: str, pattern: str, kept: bool, device: VulkanDevice, what: str
) -> tuple[str, Change | None]:
    found = re.search(pattern, text)
    if kept or not found or found[0].endswith("= none"):
        return text, None
    field, _, before = found[0][2:].partition(" = ")
    return text.replace(found[0], ""), Change(
        field, before, "", f"{field}: dropped ({device.name} has no {what})"
    )
