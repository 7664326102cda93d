"""The numbers of a constant, read from its attribute, or from its text where the bindings have no reader for it."""

from __future__ import annotations

import math
import re

import numpy as np
from iree.compiler import ir

from .elements import Element, element_of_type, from_bits, hold
from .registry import NoWitness

_ATTRIBUTE = re.compile(
    r'(dense|dense_resource)<(?:"0x([0-9A-Fa-f]*)"|(.*))>\s*:\s*(?:tensor|vector)<', re.DOTALL
)
_TOKEN = re.compile(r"true|false|0x[0-9A-Fa-f]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")


def constant_of(op: ir.Operation, name: str, type_: ir.Type) -> np.ndarray:
    """The value of attribute ``name`` of ``op``, of type ``type_``."""
    try:
        attribute = op.attributes[name]
    except TypeError:  # complex elements: the bindings of 3.13 have no class for the attribute
        return _from_text(op.get_asm(large_elements_limit=None), type_)
    return attribute_value(attribute, type_)


def attribute_value(attribute: ir.Attribute, type_: ir.Type) -> np.ndarray:
    """A number, or a dense or resource tensor of numbers. `NoWitness` for any other attribute."""
    element = element_of_type(type_)
    if isinstance(type_, ir.ShapedType) and not ir.ShapedType(type_).has_static_shape:
        type_ = attribute.type  # the shape is hidden from the compiler, not from us
    if isinstance(attribute, ir.DenseElementsAttr):
        dense = ir.DenseElementsAttr(attribute)
        if dense.is_splat:
            return np.broadcast_to(
                attribute_value(dense.get_splat_value(), dense.get_splat_value().type),
                ir.ShapedType(type_).shape,
            )
        try:
            return hold(np.array(dense), element)
        except (TypeError, ValueError, RuntimeError):
            return _from_text(str(attribute), type_)
    if isinstance(attribute, ir.BoolAttr):
        return np.asarray(bool(attribute.value))
    if isinstance(attribute, ir.IntegerAttr):
        return hold(_wrapped(attribute.value), element)
    if isinstance(attribute, ir.FloatAttr):
        return np.asarray(attribute.value, element.held)
    if str(attribute).startswith("[") and element.kind == "complex":  # complex.constant [1.0, 2.0]
        return np.asarray(complex(*(part.value for part in ir.ArrayAttr(attribute))))
    if str(attribute).startswith("dense_resource"):
        return _resource(attribute, type_, element)
    return _from_text(str(attribute), type_)


def _wrapped(value: int) -> np.int64:
    return np.int64(value - (1 << 64) if value >= 1 << 63 else value)


def _resource(attribute, type_: ir.Type, element: Element) -> np.ndarray:
    for name in (
        "DenseF32ResourceElementsAttr",
        "DenseF64ResourceElementsAttr",
        "DenseI8ResourceElementsAttr",
        "DenseI16ResourceElementsAttr",
        "DenseI32ResourceElementsAttr",
        "DenseI64ResourceElementsAttr",
    ):
        reader = getattr(ir, name, None)
        if reader is not None and reader.isinstance(attribute):
            held = reader(attribute)
            return hold(
                np.array([held[i] for i in range(len(held))]).reshape(ir.ShapedType(type_).shape), element
            )
    raise NoWitness(f"a resource of {element.text}")


def _from_text(text: str, type_: ir.Type) -> np.ndarray:
    found = _ATTRIBUTE.search(text)
    if not found or found[1] == "dense_resource":
        raise NoWitness(f"constant {text[:60]}")
    shape, element = ir.ShapedType(type_).shape, element_of_type(type_)
    if found[2] is not None:
        return _from_bytes(bytes.fromhex(found[2]), shape, element)
    # The greedy group runs to the last `> : tensor<`: there is one attribute in the text.
    numbers: list[complex] = [_number(token, element) for token in _TOKEN.findall(found[3])]
    if element.kind == "complex":
        numbers = [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
    count = math.prod(shape)
    data = np.array(numbers * count if len(numbers) == 1 else numbers)
    if data.size != count:
        raise NoWitness(f"constant {text[:60]}")
    return hold(data.reshape(shape), element)


def _number(token: str, element: Element) -> float | int:
    if token in ("true", "false"):
        return int(token == "true")
    if token.startswith("0x"):
        bits = int(token, 16)
        if element.kind == "integer":
            return bits
        if element.kind == "complex":
            return float(np.array(bits, f"u{element.bits // 8}").view(f"f{element.bits // 8}"))
        return float(from_bits(np.array(bits, np.uint64), element).reshape(-1)[0])
    return int(token) if element.kind == "integer" else float(token)


def _from_bytes(data: bytes, shape: list[int], element: Element) -> np.ndarray:
    if element.kind == "complex":
        stored = np.frombuffer(data, element.narrow)
    elif element.bits == 1:
        stored = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: math.prod(shape)]
    else:
        size = np.dtype(element.held if element.kind == "integer" else element.narrow).itemsize
        stored = from_bits(np.frombuffer(data, f"u{size}"), element)
    return (
        np.broadcast_to(hold(stored, element), shape)
        if stored.size == 1
        else hold(stored.reshape(shape), element)
    )
