"""The elements of constants of 48 bits, which MLIR's bindings do not read."""

from __future__ import annotations

import re

_HEX = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
_SPLAT_OR_LIST = re.compile(r"dense<(.*)> : ")
_NUMBER = re.compile(r"-?\d+")


def integers_of(text: str, count: int, width: int = 48) -> list[int] | None:
    """The ``count`` elements, in order, of a dense attribute of signed integers of ``width`` bits, as MLIR prints it; None where it is none.

    MLIR prints up to 100 elements as a list, one for all if they are equal, and else bytes, each element in whole bytes from the lowest on.
    """
    held = _HEX.match(text)
    if held is not None:
        data, size = bytes.fromhex(held[1]), -(-width // 8)
        if len(data) != count * size:
            return None
        return [
            int.from_bytes(data[at : at + size], "little", signed=True) for at in range(0, len(data), size)
        ]
    listed = _SPLAT_OR_LIST.match(text)
    numbers = [int(one) for one in _NUMBER.findall(listed[1])] if listed is not None else []
    return numbers * count if len(numbers) == 1 else numbers if len(numbers) == count else None
