"""How a requirement is worded: the same text in a compile error, in a note, and in the run-time check."""

from __future__ import annotations

import re
from collections.abc import Callable

from iree.compiler import ir

from ..bounds.shaped_values import rank_of
from ..bounds.size_terms import Term
from ..bounds.value_names import name_of, written_as

Wording = str | Callable[[], str]
"""A sentence, or what makes it: most sizes are constants that fit, and nobody reads theirs."""

MEASURE = re.compile(r"(?:dimension \d+|the length) of (?:%?[\w$.#-]+(?: \(argument \d+\))?|argument \d+)")
"""A size that has a name of its own: `the length of %x`."""


def worded(wording: Wording) -> str:
    return wording if isinstance(wording, str) else wording()


def as_written(op: ir.Operation, wording: Wording, itself: bool) -> str:
    """The sentence, with the op as the source calls it; where it does not stand by ``itself``, behind the op's name."""
    sentence = worded(wording)
    if not itself:
        sentence = f"{op.name}{':' if op.name == 'fissile.require' else ''} {sentence}"
    written = written_as(op)
    return sentence if written == op.name else sentence.replace(op.name, written)


def amount(size: Term) -> str:
    """A size among other words."""
    text = str(size)
    if MEASURE.fullmatch(text):
        return text
    return (
        f"({text})" if " " in text and not re.fullmatch(r"(?:min|max)\([^()]*\)|argument \d+", text) else text
    )


def elements(size: Term) -> str:
    """`1 element`, `16 elements`, `(n + 1) elements`, `(argument 1) elements`."""
    if size.constant == 1:
        return "1 element"
    text = amount(size)
    return f"({text}) elements" if re.fullmatch(r"argument \d+", text) else f"{text} elements"


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
    """The indices of a dimension: `0..15`, or `0..-1` if it is empty."""
    known = size.constant
    if known is None:
        text = amount(size)
        return f"0..({text}) - 1" if MEASURE.fullmatch(text) else f"0..{text} - 1"
    return f"0..{known - 1}"


def inside(
    index: Term, source: ir.Value, dimension: int, size: Term, op: str, verb: str, what: str = ""
) -> str:
    """That an index lies in its dimension; ``what`` are better words for the index."""
    if size.constant == 0:
        return f"{op} {verb} {indexed(source, dimension)}, which is empty"
    text = what or (f"index {index}" if index.constant is not None else str(index))
    return f"{text} must be in {span(size)}: {op} {verb} {indexed(source, dimension)} there"


def room(what: str, capacity: Term) -> str:
    """What elements must stay inside: `its source has 10`, `they must be inside dimension 1 of %x`."""
    text = amount(capacity)
    return (
        f"they must be inside {text.removeprefix('the length of ')}"
        if MEASURE.fullmatch(text)
        else f"{what} has {text}"
    )


def regrouped(source: ir.Value, have: list[Term], shape: list[Term], what: str = "elements") -> str:
    """That a reshape keeps the number of elements."""
    known = f", of shape {shape_text(have)}," if all(size.constant is not None for size in have) else ""
    return f"gives {name_of(source)}{known} the shape {shape_text(shape)}; the number of {what} must stay the same"


def shape_text(shape: list[Term]) -> str:
    return " x ".join(amount(s) for s in shape) or "of a scalar"


def same_size(value: ir.Value, dimension: int, have: Term, wanted: Term, why: str) -> str:
    """That a dimension has the size that another one has."""
    at = place(value, dimension)
    known = "" if str(have) == at else f", and is {amount(have)}"
    return f"{at} must be {amount(wanted)}{known}: {why}"
