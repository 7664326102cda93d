"""The text of a program: all of it but the elements of its constants, for searches by name."""

from __future__ import annotations

from pathlib import Path

BYTECODE = b"ML\xefR"
"""What MLIR's bytecode begins with."""
_BEGINS, _ENDS = b'"0x', b'"'
_LONG = 64
"""Bytes of the shortest string that is left out."""
_MAY_BE_CODE = (b".", b"_", b"\\", b"\n")
"""What a string of digits has not. The text between one string and the next has one of these, or is no op with a name that is looked for."""


def text_of_file(path: Path) -> bytes:
    """`without_elements` of the program in ``path``."""
    return without_elements(path.read_bytes())


def without_elements(source: bytes) -> bytes:
    """``source``, the text of a program, without the digits of its long strings (`dense<"0x…">`, resources); bytecode as it is.

    The weights of a model are nearly all of its text, and each name is a search of its own.
    """
    if source.startswith(BYTECODE):
        return source
    kept: list[bytes] = []
    done = begin = 0
    while (begin := source.find(_BEGINS, begin)) >= 0:
        begin += len(_BEGINS)
        end = source.find(_ENDS, begin)
        if end < 0:
            break
        if end - begin >= _LONG and all(source.find(one, begin, end) < 0 for one in _MAY_BE_CODE):
            kept.append(source[done:begin])
            done = begin = end
    return b"".join((*kept, source[done:])) if kept else source
