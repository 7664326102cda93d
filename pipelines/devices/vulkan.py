"""What the Vulkan device that is present can do, read through the loader itself: no vulkaninfo, no C compiler.

The query runs in a child process (`python -m fissile.pipelines.devices.vulkan`): a software driver brings
its own LLVM, which must not meet IREE's, and a driver that crashes ends only the child.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

from fissile import wire
from fissile.errors import UsageError

from ..process.child import module_command, run_child
from ..process.entry import begin

INSTALL = (
    "install a Vulkan driver; on Debian `apt install mesa-vulkan-drivers libvulkan1` gives a software device"
)
_QUERY_SECONDS = 60.0


@dataclass(frozen=True)
class VulkanDevice:
    """One physical device as its driver reports it. Sizes are in bytes.

    ``uuid`` is 32 hexadecimal digits; `uri` is what iree-run-module's --device= takes for exactly this device.
    ``kind`` is other, integrated, discrete, virtual or cpu. ``subgroup_operations`` names what compute shaders
    may do across a subgroup (basic, vote, arithmetic, ballot, shuffle, shuffle-relative, clustered, quad).
    """

    index: int
    name: str
    kind: str
    driver: str
    uuid: str
    api: str
    float16: bool
    float64: bool
    int8: bool
    int16: bool
    int64: bool
    storage8: bool
    storage16: bool
    integer_dot_product: bool
    cooperative_matrix: bool
    subgroup_size: int
    subgroup_min: int
    subgroup_max: int
    subgroup_operations: tuple[str, ...]
    shared_memory_bytes: int
    max_invocations: int
    max_sizes: tuple[int, int, int]
    max_counts: tuple[int, int, int]

    @property
    def uri(self) -> str:
        return f"vulkan://GPU-{self.uuid}"

    def __str__(self) -> str:
        return f"{self.name}, {self.driver}" if self.driver else self.name


@dataclass(frozen=True)
class Present:
    """What the child says: all devices, or the error in one line."""

    devices: tuple[VulkanDevice, ...] = ()
    error: str = ""


def query_device(index: int | None = None) -> VulkanDevice:
    """The device of this index in the loader's order; by default the first that is no software device, or the first.

    `UsageError` where there is no loader, no driver, no device, or none of this index.
    """
    found = devices()
    if index is None:
        return next((d for d in found if d.kind != "cpu"), found[0])
    if not 0 <= index < len(found):
        listed = "; ".join(f"{d.index}: {d.name}" for d in found)
        raise UsageError(f"there is no Vulkan device {index}", f"present: {listed}")
    return found[index]


@cache
def devices() -> tuple[VulkanDevice, ...]:
    """All devices in the loader's order, queried once per process. `UsageError` where there are none."""
    command = module_command(__name__)
    ended = run_child(command, _QUERY_SECONDS)
    lines = ended.out.splitlines()
    if ended.status is None:
        raise UsageError(f"the Vulkan driver did not answer within {_QUERY_SECONDS:g} s", INSTALL)
    if ended.status or not lines:
        raise UsageError(
            f"the query of the Vulkan driver failed ({ended.reason or f'exit status {ended.status}'})",
            INSTALL,
        )
    answer = wire.decode(Present, lines[-1])
    if answer.error:
        raise UsageError(answer.error, INSTALL)
    return answer.devices


# What follows mirrors the Vulkan 1.3 specification's C structures; VkBool32 is 32 bits.

_KINDS = ("other", "integrated", "discrete", "virtual", "cpu")
_SUBGROUP_BITS = ("basic", "vote", "arithmetic", "ballot", "shuffle", "shuffle-relative", "clustered", "quad")
_COMPUTE_STAGE = 0x20


class _Chained(Structure):
    """sType and pNext; a subclass's first class attribute TYPE is its VkStructureType."""

    _fields_ = [("sType", c_uint32), ("pNext", c_void_p)]
    TYPE = 0


def _chained(name: str, type_: int, *fields: tuple) -> type:
    return type(name, (_Chained,), {"TYPE": type_, "_fields_": list(fields)})


def _flags(*names: str) -> list[tuple]:
    return [(name, c_uint32) for name in names]


class _Limits(Structure):
    """VkPhysicalDeviceLimits up to the compute limits; what precedes and follows is not read."""

    _fields_ = [
        ("_images", c_uint32 * 11),
        ("_sizes", c_uint64 * 2),
        ("_descriptors_to_fragments", c_uint32 * 38),
        ("maxComputeSharedMemorySize", c_uint32),
        ("maxComputeWorkGroupCount", c_uint32 * 3),
        ("maxComputeWorkGroupInvocations", c_uint32),
        ("maxComputeWorkGroupSize", c_uint32 * 3),
        ("_rest", c_uint8 * 1024),
    ]


_Properties = _chained(
    "_Properties",
    1000059001,
    *_flags("apiVersion", "driverVersion", "vendorID", "deviceID", "deviceType"),
    ("deviceName", c_char * 256),
    ("pipelineCacheUUID", c_uint8 * 16),
    ("limits", _Limits),
)
_Identity = _chained(
    "_Identity",
    1000071004,
    ("deviceUUID", c_uint8 * 16),
    ("driverUUID", c_uint8 * 16),
    ("deviceLUID", c_uint8 * 8),
    *_flags("deviceNodeMask", "deviceLUIDValid"),
)
_Driver = _chained(
    "_Driver",
    1000196000,
    ("driverID", c_uint32),
    ("driverName", c_char * 256),
    ("driverInfo", c_char * 256),
    ("conformanceVersion", c_uint8 * 4),
)
_Subgroup = _chained("_Subgroup", 1000094000, *_flags("size", "stages", "operations", "quadInAllStages"))
_SubgroupSizes = _chained(
    "_SubgroupSizes", 1000225000, *_flags("smallest", "largest", "perWorkgroup", "stages")
)

_Features = _chained(
    "_Features",
    1000059000,
    ("_before", c_uint32 * 39),
    *_flags("shaderFloat64", "shaderInt64", "shaderInt16"),
    ("_after", c_uint32 * 13),
)
_Storage16 = _chained(
    "_Storage16", 1000083000, *_flags("buffer", "uniformAndBuffer", "pushConstant", "inputOutput")
)
_Storage8 = _chained("_Storage8", 1000177000, *_flags("buffer", "uniformAndBuffer", "pushConstant"))
_Narrow = _chained("_Narrow", 1000082000, *_flags("shaderFloat16", "shaderInt8"))
_Dot = _chained("_Dot", 1000280000, *_flags("shaderIntegerDotProduct"))
_Matrix = _chained("_Matrix", 1000506001, *_flags("cooperativeMatrix", "robustBufferAccess"))


class _Application(Structure):
    _fields_ = [
        ("sType", c_uint32),
        ("pNext", c_void_p),
        ("applicationName", c_char_p),
        ("version", c_uint32),
        ("engineName", c_char_p),
        ("engineVersion", c_uint32),
        ("apiVersion", c_uint32),
    ]


class _InstanceCreate(Structure):
    _fields_ = [
        ("sType", c_uint32),
        ("pNext", c_void_p),
        ("flags", c_uint32),
        ("application", POINTER(_Application)),
        ("layerCount", c_uint32),
        ("layers", c_void_p),
        ("extensionCount", c_uint32),
        ("extensions", c_void_p),
    ]


def _properties(function, device, *types: Any) -> list:
    """One struct of each type, chained and filled in by a vkGetPhysicalDevice…2 function."""
    structs = [t(sType=t.TYPE) for t in types]
    for this, following in zip(structs, structs[1:], strict=False):
        this.pNext = ctypes.cast(byref(following), c_void_p)
    function.restype, function.argtypes = None, [c_void_p, c_void_p]
    function(device, byref(structs[0]))
    return structs


def _describe(vulkan, index: int, device: int) -> VulkanDevice:
    properties, identity, driver, subgroup, sizes = _properties(
        vulkan.vkGetPhysicalDeviceProperties2,
        device,
        _Properties,
        _Identity,
        _Driver,
        _Subgroup,
        _SubgroupSizes,
    )
    features, storage16, storage8, narrow, dot, matrix = _properties(
        vulkan.vkGetPhysicalDeviceFeatures2, device, _Features, _Storage16, _Storage8, _Narrow, _Dot, _Matrix
    )
    in_compute = subgroup.stages & _COMPUTE_STAGE
    api, limits = properties.apiVersion, properties.limits
    return VulkanDevice(
        index=index,
        name=properties.deviceName.decode(errors="replace"),
        kind=_KINDS[properties.deviceType] if properties.deviceType < len(_KINDS) else "other",
        driver=" ".join(s.decode(errors="replace") for s in (driver.driverName, driver.driverInfo) if s),
        uuid=bytes(identity.deviceUUID).hex(),
        api=f"{(api >> 22) & 0x7F}.{(api >> 12) & 0x3FF}.{api & 0xFFF}",
        float16=bool(narrow.shaderFloat16),
        float64=bool(features.shaderFloat64),
        int8=bool(narrow.shaderInt8),
        int16=bool(features.shaderInt16),
        int64=bool(features.shaderInt64),
        # IREE binds every tensor as a storage buffer and declares both capabilities of a width at once.
        storage8=bool(storage8.buffer and storage8.uniformAndBuffer),
        storage16=bool(storage16.buffer and storage16.uniformAndBuffer),
        integer_dot_product=bool(dot.shaderIntegerDotProduct),
        cooperative_matrix=bool(matrix.cooperativeMatrix),
        subgroup_size=subgroup.size,
        subgroup_min=sizes.smallest or subgroup.size,
        subgroup_max=sizes.largest or subgroup.size,
        subgroup_operations=tuple(
            n for i, n in enumerate(_SUBGROUP_BITS) if in_compute and subgroup.operations >> i & 1
        ),
        shared_memory_bytes=limits.maxComputeSharedMemorySize,
        max_invocations=limits.maxComputeWorkGroupInvocations,
        max_sizes=tuple(limits.maxComputeWorkGroupSize),
        max_counts=tuple(limits.maxComputeWorkGroupCount),
    )


def _answer() -> Present:
    """In the child."""
    try:
        vulkan = ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return Present(error="there is no Vulkan loader (libvulkan.so.1) on this machine")
    application = _Application(sType=0, apiVersion=(1 << 22) | (3 << 12))
    create = _InstanceCreate(sType=1, application=ctypes.pointer(application))
    instance = c_void_p()
    if code := vulkan.vkCreateInstance(byref(create), None, byref(instance)):
        return Present(error=f"no Vulkan driver answers (vkCreateInstance returned {code})")
    enumerate_ = vulkan.vkEnumeratePhysicalDevices
    enumerate_.argtypes = [c_void_p, POINTER(c_uint32), c_void_p]
    count = c_uint32()
    enumerate_(instance, byref(count), None)
    handles = (c_void_p * count.value)()
    if enumerate_(instance, byref(count), handles) or not count.value:
        return Present(error="the Vulkan loader knows no device")
    return Present(tuple(_describe(vulkan, i, handle) for i, handle in enumerate(handles)))


if __name__ == "__main__":
    begin()
    print(wire.encode(_answer()).decode())
