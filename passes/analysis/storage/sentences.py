"""How a requirement is said: the same words in a compile error, in a note, and in the run-time check."""

from __future__ import annotations

import re

from iree.compiler import ir

from ..bounds.shaped_values import rank_of
from ..bounds.size_terms import Term
from ..bounds.value_names import name_of


def amount(size: Term) -> str:
    """A size among other words."""
    text = str(size)
    return (
        f"({text})" if " " in text and not re.fullmatch(r"(?:min|max)\([^()]*\)|argument \d+", text) else text
    )


def place(value: ir.Value, dimension: int) -> str:
    """`the length of %x`, or `dimension 1 of %x`."""
    return (
        f"the length of {name_of(value)}"
        if rank_of(value) == 1
        else f"dimension {dimension} of {name_of(value)}"
    )


def indexed(value: ir.Value, dimension: int) -> str:
    """What an index goes into: `%x`, or `dimension 1 of %x`."""
    return name_of(value) if rank_of(value) == 1 else f"dimension {dimension} of {name_of(value)}"


def span(size: Term) -> str:
    """The indices of a dimension: `0..15`."""
    known = size.constant
    if known is None:
        return f"0..{amount(size)} - 1"
    return f"0..{known - 1}" if known > 0 else "the places of an empty dimension: there are none"


def inside(
    index: Term, source: ir.Value, dimension: int, size: Term, op: str, verb: str, what: str = ""
) -> str:
    """That an index lies in its dimension; ``what`` are better words for the index."""
    text = what or (f"index {index}" if index.constant is not None else str(index))
    return f"{text} must be in {span(size)}: {op} {verb} {indexed(source, dimension)} there"


def same_size(value: ir.Value, dimension: int, have: Term, wanted: Term, why: str) -> str:
    """That a dimension has the size that another one has."""
    at = place(value, dimension)
    known = "" if str(have) == at else f", and is {amount(have)}"
    return f"{at} must be {amount(wanted)}{known}: {why}"
