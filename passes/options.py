"""Pass options: the fields of a pass dataclass, read from and printed in MLIR's textual option syntax.

The text is what stands between the braces of `name{a=1 b=true list=1,2}`. A field `max_bytes` is
spelled `max-bytes`; `max_bytes` is accepted too.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from fissile.errors import UsageError, closest

OPTION_TYPES = (int, bool, float, str, tuple[int, ...], tuple[str, ...])
"""The types a pass option can have; each may also be `| None`, where None means: not given."""

_QUOTES = {'"': '"', "'": "'"}
_OPENING = {"{": "}", "[": "]", "(": ")"}


def option(default: Any, doc: str) -> Any:
    """A pass option: a dataclass field with its default and one sentence that says what it does."""
    return dataclasses.field(default=default, metadata={"doc": doc})


def option_name(field: str) -> str:
    """The textual spelling of a field: `max_bytes` -> `max-bytes`."""
    return field.replace("_", "-")


def type_name(kind: Any) -> str:
    """How the help text names an option's type: `int`, `bool`, `list of int`."""
    base = _without_none(kind)
    if typing.get_origin(base) is tuple:
        return f"list of {typing.get_args(base)[0].__name__}"
    return base.__name__


def option_types(cls: type) -> dict[str, Any]:
    """Field name -> declared type of a pass class; ClassVars are no options."""
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def is_supported(kind: Any) -> bool:
    return _without_none(kind) in OPTION_TYPES


def is_of_type(value: Any, kind: Any) -> bool:
    """Whether ``value`` may be the default of an option of type ``kind``, a supported one."""
    base = _without_none(kind)
    if value is None:
        return base is not kind
    if typing.get_origin(base) is tuple:
        element = typing.get_args(base)[0]
        return isinstance(value, tuple) and all(is_of_type(one, element) for one in value)
    if base is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is base


def split_options(text: str) -> list[tuple[str, str | None]]:
    """`a=1 b={x y} c` -> [("a", "1"), ("b", "x y"), ("c", None)].

    Whitespace separates, except inside quotes and brackets. One pair of quotes or braces around a
    value is taken off. Raises ValueError where a quote or bracket is not closed.
    """
    pairs = []
    for word in _words(text):
        name, equals, value = word.partition("=")
        pairs.append((name, _unwrapped(value) if equals else None))
    return pairs


def read_options(cls: type, text: str, *, owner: str) -> dict[str, Any]:
    """Field values for ``cls`` from option text. Raises UsageError naming pass, option and what is known."""
    kinds = option_types(cls)
    by_name = {option_name(field): field for field in kinds}
    try:
        pairs = split_options(text)
    except ValueError as error:
        raise UsageError(f"options of pass '{owner}': {error}", f"the options were: {text}") from None
    values: dict[str, Any] = {}
    for name, value in pairs:
        field = by_name.get(option_name(name))
        if field is None:
            known = closest(option_name(name), list(by_name)) if by_name else "it has no options"
            raise UsageError(f"pass '{owner}' has no option '{name}'", known)
        if field in values:
            raise UsageError(f"pass '{owner}' is given option '{name}' twice")
        try:
            values[field] = _convert(kinds[field], value)
        except ValueError:
            shown = "nothing" if value is None else f"'{value}'"
            raise UsageError(
                f"option '{name}' of pass '{owner}' takes {_expected(kinds[field])}, not {shown}"
            ) from None
    return values


def print_options(instance: Any) -> str:
    """The option text that `read_options` turns into ``instance``: only what differs from the defaults."""
    words = []
    for field in dataclasses.fields(instance):
        value = getattr(instance, field.name)
        if value != field.default:
            words.append(f"{option_name(field.name)}={_spelled(value)}")
    return " ".join(words)


def _without_none(kind: Any) -> Any:
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        rest = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return kind


def _expected(kind: Any) -> str:
    return {
        "int": "an integer",
        "bool": "true or false",
        "float": "a number",
        "str": "a word",
        "list of int": "integers separated by commas",
    }.get(type_name(kind), "words separated by commas")


def _convert(kind: Any, text: str | None) -> Any:
    base = _without_none(kind)
    if base is bool:
        spelled = {None: True, "true": True, "1": True, "false": False, "0": False}
        if text not in spelled:
            raise ValueError(text)
        return spelled[text]
    if text is None:
        raise ValueError(text)
    if base is str:
        return text
    if base is float:
        return float(text)
    if base is int:
        return int(text, 0)
    element = typing.get_args(base)[0]
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if element is str:
        return tuple(_unwrapped(part) for part in parts)
    return tuple(int(part, 0) for part in parts)


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        joined = ",".join(str(part) for part in value)
        return joined if joined and not _needs_wrapping(joined) else "{" + joined + "}"
    text = str(value)
    if isinstance(value, str) and (not text or _needs_wrapping(text)):
        quote = "'" if '"' in text else '"'
        return quote + text + quote
    return text


def _needs_wrapping(text: str) -> bool:
    return any(c.isspace() or c in "{}[]()\"'" for c in text.replace(",", "")) or text != text.strip()


def _unwrapped(text: str) -> str:
    if len(text) >= 2 and (
        text[0] == text[-1] and text[0] in _QUOTES or text[0] == "{" and _closes_at_end(text)
    ):
        return text[1:-1]
    return text


def _closes_at_end(text: str) -> bool:
    return text[-1] == "}" and list(_ends_of_nesting(text))[0] == len(text) - 1


def _ends_of_nesting(text: str):
    """Positions at which the nesting that opened before returns to nothing."""
    depth, quote = 0, ""
    for position, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in _QUOTES:
            quote = c
        elif c in _OPENING:
            depth += 1
        elif c in _OPENING.values():
            depth -= 1
            if depth == 0:
                yield position


def _words(text: str) -> list[str]:
    words, current, closing, quote = [], "", [], ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in _QUOTES:
            quote = c
        elif c in _OPENING:
            closing.append(_OPENING[c])
        elif closing and c == closing[-1]:
            closing.pop()
        if c.isspace() and not quote and not closing:
            if current:
                words.append(current)
            current = ""
        else:
            current += c
    if quote or closing:
        raise ValueError(f"missing {quote or closing[-1]}")
    return words + ([current] if current else [])
