"""Tables of what is declared: the remedies, the order in which they are tried, the contracts of passes. For `fissile explain` and the docs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fissile.passes.catalogue import built_in, find_pass
from fissile.passes.definition import Contract, Property
from fissile.passes.iree.pass_contracts import NATIVE, PHASE_CONTRACTS
from fissile.passes.remedies.remedy import OpRemedy, Remedy

from ..contracts import contract_from, contract_of, establishers, known_properties
from ..repair.strategies import STRATEGIES, Strategy


def remedies() -> list[type[Remedy]]:
    """All of fissile's own: those that the repair loop applies to ops first, as they are applied."""
    found = [cls for name in built_in() if issubclass(cls := find_pass(name), Remedy)]
    return sorted(found, key=lambda cls: (not issubclass(cls, OpRemedy), getattr(cls, "order", 0), cls.name))


def remedies_markdown() -> str:
    """One row for each remedy: what it does, what it repairs, what becomes of the numbers."""
    rows = [(f"`{r.name}`", r.does, f"{', '.join(r.cures)}: {r.repairs}", r.numbers) for r in remedies()]
    return _markdown(("pass", "what it does", "what it repairs", "numerics"), rows)


def counterparts_markdown() -> str:
    """What IREE itself has for the same, for those remedies where it has anything."""
    rows = [(f"`{r.name}`", r.counterpart) for r in remedies() if r.counterpart]
    return _markdown(("pass", "what IREE 3.13 has, and why it does not serve"), rows)


def contracts_markdown() -> str:
    """One row for each pass with a contract, fissile's first, then IREE's and its phases."""
    rows = [(f"`{name}`", *_contract_cells(contract_of(name).contract)) for name in sorted(built_in())]
    rows += [(f"`{name}`", *_contract_cells(contract_of(name).contract)) for name in NATIVE]
    rows += [
        (f"phase `{name}`", *_contract_cells(contract_from(native)))
        for name, native in PHASE_CONTRACTS.items()
    ]
    return _markdown(("pass", "requires", "establishes", "may break"), rows)


def properties_markdown() -> str:
    """One row for each property: what it states, and which passes establish it."""
    rows = [
        (f"`{found.name}`", found.sentence, ", ".join(f"`{name}`" for name in establishers(found)))
        for found in known_properties()
    ]
    return _markdown(("property", "holds where", "established by"), rows)


def _contract_cells(contract: Contract) -> tuple[str, str, str]:
    def names(properties: Sequence[Property]) -> str:
        return ", ".join(found.name for found in properties)

    return names(contract.requires), names(contract.establishes), names(contract.invalidates)


def strategies_markdown() -> str:
    rows = [(str(number), *row) for number, row in enumerate(_rows(), 1)]
    return _markdown(("", "failure", "where", "what is tried"), rows)


def strategies_text() -> str:
    """The table for a terminal."""
    rows = [(str(number), *row) for number, row in enumerate(_rows(), 1)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join((*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3])) for row in rows
    ]
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[tuple[str, str, str]]:
    for strategy in STRATEGIES:
        yield _codes(strategy), strategy.when, strategy.edits


def _codes(strategy: Strategy) -> str:
    if len(strategy.codes) > 5:
        return f"{', '.join(strategy.codes[:3])} and {len(strategy.codes) - 3} more"
    if strategy.codes:
        return ", ".join(strategy.codes)
    return f"all but {', '.join(strategy.but)}" if strategy.but else "all"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
