"""The textual pipeline syntax of MLIR, as a tree: `builtin.module(func.func(a,b{x=1 y={z}}),c)`.

    pipeline ::= anchor `(` [element {`,` element}] `)`
    element  ::= pipeline | pass-name [`{` options `}`]

Whitespace is free. Options are kept as text: what they mean is the pass's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from fissile.errors import UsageError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$-]*")
_BRACKETS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True)
class PassCall:
    """One pass by name with its option text. ``column`` is 1-based in the text it came from."""

    name: str
    options: str = ""
    column: int = field(default=1, compare=False)

    def __str__(self) -> str:
        return f"{self.name}{{{self.options}}}" if self.options else self.name


@dataclass(frozen=True)
class Nest:
    """Passes that run on each op called ``anchor`` (`any` matches all) directly inside the op around it."""

    anchor: str
    body: tuple[PassCall | Nest, ...]
    column: int = field(default=1, compare=False)

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.body))})"

    def calls(self) -> Iterator[PassCall]:
        """All passes, in the order in which they run."""
        for element in self.body:
            if isinstance(element, Nest):
                yield from element.calls()
            else:
                yield element


def parse_pipeline(text: str) -> Nest:
    """The tree of ``text``. Raises UsageError with the column, a caret under it and a hint."""
    return _Parser(text).pipeline()


def pass_names(text: str) -> tuple[str, ...]:
    """The names of all passes in ``text``, in the order in which they run. Raises UsageError."""
    return tuple(call.name for call in parse_pipeline(text).calls())


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def pipeline(self) -> Nest:
        self.space()
        if self.at == len(self.text):
            self.fail("empty pipeline", "write builtin.module(pass,pass{option=1})")
        element = self.element()
        self.space()
        if self.peek() in _BRACKETS.values() and self.peek():
            self.fail(f"this '{self.peek()}' closes nothing", "take it out")
        if self.peek() == "," or (not self.peek() and not isinstance(element, Nest)):
            self.at = 0
            self.fail(
                "a pipeline starts with the op that it runs on", f"write builtin.module({self.text.strip()})"
            )
        if self.peek():
            self.fail(f"expected the end of the pipeline, found '{self.peek()}'", "join passes by ','")
        assert isinstance(element, Nest)
        return element

    def element(self) -> PassCall | Nest:
        self.space()
        start = self.at
        match = _NAME.match(self.text, self.at)
        if not match:
            found = f"'{self.peek()}'" if self.peek() else "the end"
            self.fail(
                f"expected a pass or an op name, found {found}",
                "one ',' stands between two passes, none before ')'" if self.peek() in ("", ",", ")") else "",
            )
        self.at = match.end()
        self.space()
        if self.peek() == "(":
            return Nest(match.group(), self.body(), start + 1)
        if self.peek() == "{":
            return PassCall(match.group(), self.options(), start + 1)
        return PassCall(match.group(), "", start + 1)

    def body(self) -> tuple[PassCall | Nest, ...]:
        opened = self.at
        self.at += 1
        self.space()
        elements: list[PassCall | Nest] = []
        if self.peek() != ")":
            elements.append(self.element())
            self.space()
            while self.peek() == ",":
                self.at += 1
                elements.append(self.element())
                self.space()
        if self.peek() == "":
            self.at = opened
            self.fail("this '(' is not closed", "add a ')' at the end")
        if self.peek() != ")":
            self.fail(f"expected ',' or ')', found '{self.peek()}'", "join passes by ','")
        self.at += 1
        return tuple(elements)

    def options(self) -> str:
        """The text between the braces, on one level of brackets and quotes."""
        opened = self.at
        closing: list[tuple[str, int]] = []
        quote = ""
        while self.at < len(self.text):
            c = self.peek()
            if quote:
                quote = "" if c == quote else quote
            elif c in "\"'":
                quote, quoted_at = c, self.at
            elif c in _BRACKETS:
                closing.append((_BRACKETS[c], self.at))
            elif closing and c == closing[-1][0]:
                closing.pop()
            elif c in _BRACKETS.values():
                self.fail(
                    f"expected '{closing[-1][0]}', found '{c}'", "close the brackets in the order they opened"
                )
            self.at += 1
            if not closing:
                return re.sub(r"\s*\n\s*", " ", self.text[opened + 1 : self.at - 1]).strip()
        self.at = quoted_at if quote else closing[-1][1]
        self.fail(f"this '{self.peek()}' is not closed", f"add a {quote or closing[-1][0]}")

    def space(self) -> None:
        while self.peek() and self.peek().isspace():
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def fail(self, message: str, hint: str) -> NoReturn:
        # One line of text around the column, so that the caret stands under it on any terminal; what is cut off is marked.
        start, end = max(0, self.at - 60), self.at + 60
        shown = self.text[start:end].replace("\n", " ").replace("\t", " ")
        shown = ("…" + shown[1:] if start else shown) + ("…" if end < len(self.text) else "")
        caret = " " * (self.at - start) + "^"
        raise UsageError(f"pipeline, column {self.at + 1}: {message}", hint, f"{shown}\n{caret}")
