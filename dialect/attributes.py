"""Attributes of an op, whatever they hold: what IREE's Python bindings cannot cast, or cannot decode, stops nobody.

The bindings have no class for elements of complex type, and throw where such an attribute is read. A string that is not UTF-8
throws as well; a file name that is not ends the process (IREE 3.13), see `places.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from iree.compiler import ir

_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2}|.)")


def attribute(op: ir.Operation, name: str) -> ir.Attribute | None:
    """The attribute ``name`` of ``op``; None where it has none, or one that Python cannot hold."""
    try:
        return op.attributes[name] if name in op.attributes else None
    except TypeError:
        return None


def attributes(op: ir.Operation) -> Iterator[tuple[str, ir.Attribute]]:
    """Names and values of the attributes of ``op`` that Python can hold."""
    for name in op.attributes:
        if (value := attribute(op, name)) is not None:
            yield name, value


def text_of(op: ir.Operation, name: str) -> str:
    """The text of a string or a symbol among the attributes of ``op``, bytes that are not UTF-8 as `\\xff`; empty without one."""
    found = attribute(op, name)
    if found is None:
        return ""
    try:
        return (
            ir.StringAttr(found).value
            if isinstance(found, ir.StringAttr)
            else ir.FlatSymbolRefAttr(found).value
        )
    except (RuntimeError, UnicodeDecodeError):
        quoted = re.search(r'"(.*)"', str(found), re.DOTALL)
        return unescaped(quoted[1]) if quoted else str(found)


def unescaped(printed: str) -> str:
    """What stands between the quotes of a printed string: `\\FF` is a byte, and one that is not UTF-8 is shown as `\\xff`."""
    raw = _ESCAPED.sub(lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1], printed.encode())
    return raw.decode(errors="backslashreplace")
