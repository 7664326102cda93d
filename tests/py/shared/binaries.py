"""What compiled kernels say about their workgroup memory, read from the binaries themselves."""

from __future__ import annotations

import struct
from pathlib import Path

_WORKGROUP = 4
"""SPIR-V storage class Workgroup (specification, section 3.7)."""


def spirv_workgroup_bytes(path: Path) -> list[int]:
    """Bytes of every OpVariable in Workgroup storage; works for SPIR-V versions that installed tools do not
    know."""
    words = struct.unpack(f"<{path.stat().st_size // 4}I", path.read_bytes())
    assert words[0] == 0x07230203, "no SPIR-V"
    sizes: dict[int, int] = {}
    pointers: dict[int, int] = {}
    constants: dict[int, int] = {}
    found = []
    at = 5
    while at < len(words):
        count, code = words[at] >> 16, words[at] & 0xFFFF
        operands = words[at + 1 : at + count]
        if code in (21, 22):  # OpTypeInt, OpTypeFloat
            sizes[operands[0]] = operands[1] // 8
        elif code == 23:  # OpTypeVector
            sizes[operands[0]] = sizes[operands[1]] * operands[2]
        elif code == 28:  # OpTypeArray: its length is a constant
            if operands[1] in sizes and operands[2] in constants:
                sizes[operands[0]] = sizes[operands[1]] * constants[operands[2]]
        elif code == 30:  # OpTypeStruct
            sizes[operands[0]] = sum(sizes.get(member, 0) for member in operands[1:])
        elif code == 32:  # OpTypePointer
            pointers[operands[0]] = operands[2]
        elif code == 43:  # OpConstant
            constants[operands[1]] = operands[2]
        elif code == 59 and operands[2] == _WORKGROUP:  # OpVariable
            found.append(sizes[pointers[operands[0]]])
        at += count
    return found


def amdgpu_group_segment_bytes(path: Path) -> dict[str, int]:
    """`.group_segment_fixed_size` of every kernel, from the code object's NT_AMDGPU_METADATA note (LLVM
    AMDGPUUsage)."""
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF" and data[4] == 2, "no 64-bit ELF"
    (offset,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    for number in range(count):
        header = struct.unpack_from("<IIQQQQIIQQ", data, offset + number * entry)
        if header[1] != 7:  # SHT_NOTE
            continue
        at, end = header[4], header[4] + header[5]
        while at < end:
            name_size, size, kind = struct.unpack_from("<III", data, at)
            body = at + 12 + -(-name_size // 4) * 4
            if kind == 32:  # NT_AMDGPU_METADATA
                metadata, _ = _msgpack(data, body)
                return {
                    kernel[".name"]: kernel[".group_segment_fixed_size"]
                    for kernel in metadata["amdhsa.kernels"]
                }
            at = body + -(-size // 4) * 4
    raise AssertionError("the code object has no AMDGPU metadata")


def _msgpack(data: bytes, at: int):
    """One MessagePack value and where it ends; the kinds that LLVM writes."""
    tag = data[at]
    at += 1
    if tag <= 0x7F:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag <= 0x8F or tag in (0xDE, 0xDF):
        length, at = (tag & 15, at) if tag <= 0x8F else _length(data, at, {0xDE: ">H", 0xDF: ">I"}[tag])
        result = {}
        for _ in range(length):
            key, at = _msgpack(data, at)
            result[key], at = _msgpack(data, at)
        return result, at
    if tag <= 0x9F or tag in (0xDC, 0xDD):
        length, at = (tag & 15, at) if tag <= 0x9F else _length(data, at, {0xDC: ">H", 0xDD: ">I"}[tag])
        items = []
        for _ in range(length):
            item, at = _msgpack(data, at)
            items.append(item)
        return items, at
    if tag <= 0xBF or tag in (0xD9, 0xDA, 0xDB):
        length, at = (
            (tag & 31, at) if tag <= 0xBF else _length(data, at, {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}[tag])
        )
        return data[at : at + length].decode(), at + length
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    return _length(
        data,
        at,
        {
            0xCC: ">B",
            0xCD: ">H",
            0xCE: ">I",
            0xCF: ">Q",
            0xD0: ">b",
            0xD1: ">h",
            0xD2: ">i",
            0xD3: ">q",
            0xCA: ">f",
            0xCB: ">d",
        }[tag],
    )


def _length(data: bytes, at: int, layout: str):
    return struct.unpack_from(layout, data, at)[0], at + struct.calcsize(layout)
