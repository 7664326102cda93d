"""Reference pages in Markdown from the code itself: findings, targets, ops of the dialect, the Python API. `tools/docs.py` puts them into docs/."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable

import fissile
from fissile import errors
from fissile.dialect import ops
from fissile.rules import RETIRED, RULES, Rule
from fissile.target import KNOWN_TARGETS

FAMILIES = {
    "FIS0": "Input and driver",
    "FIS1": "Fusion, on-chip memory, generated code",
    "FIS2": "Storage",
    "FIS3": "Lifetimes",
    "FIS4": "Legality",
    "FIS5": "Order of passes",
    "FIS9": "fissile itself",
}


def findings() -> str:
    """Every code in a table, then its manual page as `fissile explain` prints it."""
    parts = []
    rules = sorted(RULES.values(), key=lambda rule: rule.code)
    for family, title in FAMILIES.items():
        members = [rule for rule in rules if rule.code.startswith(family)]
        rows = [
            (f"[{rule.code}](#{rule.code.lower()})", f"`{rule.name}`", rule.title, rule.effect.value)
            for rule in members
        ]
        parts += [f"## {title}", table(("code", "name", "headline", "stock IREE"), rows)]
        parts += [_page(rule) for rule in members]
    retired = [(code, f"[{now}](#{now.lower()})") for code, now in sorted(RETIRED.items())]
    parts += ["## Codes of earlier versions", table(("code", "is part of"), retired)]
    return "\n\n".join(parts)


def _page(rule: Rule) -> str:
    parts = [f"### {rule.code}", f"**{_text(rule.title)}.** {_text(rule.what)}", f"Why: {_text(rule.why)}"]
    parts.append(f"What to do: {_text(rule.remedy)}")
    for heading, shown in (("Fails:", rule.example), ("Repaired:", rule.repaired)):
        if shown:
            parts.append(f"{heading}\n\n```text\n{shown.strip()}\n```")
    return "\n\n".join(parts)


def targets() -> str:
    """Every target with its limit, by whom, and the flags of iree-compile that it stands for."""
    rows = [
        (f"`{one.name}`", f"{one.limit.bytes} per {one.limit.per}", one.limit.source)
        for one in KNOWN_TARGETS.values()
    ]
    return table(("target", "bytes", "source"), rows)


def dialect() -> str:
    """Every op with what its class says of it."""
    parts = []
    for cls in ops.OPS:
        sentence = _doc(cls).partition(": ")[2]
        parts += [f"## `{cls.OPERATION_NAME}`", sentence[:1].upper() + sentence[1:]]
    return "\n\n".join(parts)


def python() -> str:
    """The names of `fissile.__all__`, with their signatures and docstrings; then the errors."""
    parts = ["## Functions"]
    named = {name: _public(name) for name in fissile.__all__}
    parts += [
        _function(f"fissile.{name}", value) for name, value in named.items() if inspect.isfunction(value)
    ]
    parts.append("## Classes")
    for name, value in named.items():
        if inspect.isclass(value) and not issubclass(value, Exception):
            parts.append(_class(f"fissile.{name}", value))
    parts.append("## Errors")
    found = {**vars(errors), **{n: v for n, v in named.items() if inspect.isclass(v)}}
    public = {
        v.__name__: v for v in found.values() if inspect.isclass(v) and issubclass(v, errors.FissileError)
    }
    rows = [
        (f"`fissile.errors.{name}`", " ".join(_doc(cls).split()), str(int(cls.exit_code)))
        for name, cls in sorted(public.items())
    ]
    parts.append(table(("error", "raised where", "exit status of the command"), rows))
    return "\n\n".join(parts)


def _public(name: str) -> object:
    return getattr(importlib.import_module("fissile"), name)


def _function(name: str, value: object) -> str:
    return f"### `{name}`\n\n```text\n{_signature(name, value)}\n```\n\n{_doc(value)}"


def _class(name: str, cls: type) -> str:
    parts = [f"### `{name}`", _doc(cls)]
    rows = []
    for member, value in vars(cls).items():
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            rows.append((f"`.{member}`", _sentence(value)))
        elif inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod)):
            function = inspect.unwrap(getattr(value, "__func__", value))
            rows.append((f"`.{_signature(member, function, of_class=True)}`", _sentence(function)))
    if rows:
        parts.append(table(("member", "what it is"), rows))
    return "\n\n".join(parts)


def _signature(name: str, value: object, of_class: bool = False) -> str:
    assert callable(value)
    signature = inspect.signature(value)
    given = [p.replace(annotation=p.empty) for p in signature.parameters.values()][int(of_class) :]
    text = str(signature.replace(parameters=given, return_annotation=inspect.Signature.empty))
    return f"{name}{text}"


def _sentence(value: object) -> str:
    return " ".join(_doc(value).split("\n\n")[0].split())


def _doc(value: object) -> str:
    """The docstring, with the double quotes of code made single."""
    return re.sub(r"``(.+?)``", r"`\1`", inspect.getdoc(value) or "")


def _text(text: str) -> str:
    """Text in which no star or angle bracket means anything to Markdown outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else p.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        for p in pieces
    )


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)
