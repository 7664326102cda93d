"""`fissile passes`: what passes there are, with their options and contracts."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from typing import TYPE_CHECKING

from fissile.cli.fitted_text import print_fitted
from fissile.errors import ExitCode

if TYPE_CHECKING:
    from fissile.passes.definition import Pass


def run(args: argparse.Namespace) -> int:
    from fissile.passes.catalogue import find_pass, known_passes, load_user_passes

    for file in args.load_passes:
        load_user_passes(file)
    if args.name:
        print_fitted(page(find_pass(args.name)))
        return int(ExitCode.CLEAN)
    names = sorted(known_passes())
    width = max(map(len, names))
    for name in names:
        print_fitted(f"{name:<{width}}  {headline(find_pass(name))}\n")
    return int(ExitCode.CLEAN)


def headline(cls: type) -> str:
    """The first sentence of a pass's docstring, on one line."""
    text = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
    return text.split(". ")[0].rstrip(".")


def page(cls: type[Pass]) -> str:
    """A pass's manual page: docstring, options, contract."""
    lines = [f"{cls.name}  (on {cls.anchor})", "", inspect.getdoc(cls) or "", ""]
    options = dataclasses.fields(cls)
    if options:
        lines.append("options")
        for field in options:
            default = (
                ""
                if field.default is dataclasses.MISSING or field.default in ((), "")
                else f" (default {field.default})"
            )
            lines.append(f"    {field.name.replace('_', '-')}: {field.metadata.get('doc', '')}{default}")
        lines.append("")
    contract = cls.contract
    for title, properties in (
        ("requires", contract.requires),
        ("establishes", contract.establishes),
        ("may break", contract.invalidates),
    ):
        for found in properties:
            lines.append(f"{title:<12} {found.name}: {found.sentence}")
    return "\n".join(lines).rstrip() + "\n"
