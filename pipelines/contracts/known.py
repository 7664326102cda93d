"""Which contract does a pass have, fissile's or IREE's, and which passes establish a property?"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass

from fissile.errors import UsageError, closest
from fissile.passes import properties as _common  # noqa: F401  (fills the registry of properties)
from fissile.passes.catalogue import find_pass, is_known, known_passes
from fissile.passes.definition import Contract, Property, defined_properties, find_property
from fissile.passes.iree.pass_contracts import NATIVE, NativeContract
from fissile.passes.user_code import pass_named

_DEFINED_BESIDE = {
    "fits-on-chip": "fissile.passes.checks.fit.fits_on_chip",
    "no-open-obligation": "fissile.passes.remedies.storage.assert_bounds",
    "one-release-per-storage": "fissile.passes.checks.storage.lifetimes",
    "pure-regions-are-pure": "fissile.passes.checks.storage.lifetimes",
}
"""Properties that are defined beside a check or a pass; imported when a contract of IREE's names one."""

CHECKS = ("fissile-check-leftovers",)
"""Passes that establish a property by stopping where it does not hold: no way to bring it about."""


@dataclass(frozen=True)
class NamedContract:
    """A pass's name with its contract, fissile's or IREE's."""

    name: str
    contract: Contract


def property_named(name: str) -> Property:
    """The property called ``name``, wherever it is defined. Raises UsageError with the nearest known name."""
    if name in _DEFINED_BESIDE:
        importlib.import_module(_DEFINED_BESIDE[name])
    if name not in defined_properties():
        known = [prop.name for prop in known_properties()]
        if name not in known:
            raise UsageError(f"unknown property '{name}'", closest(name, known))
    return find_property(name)


def known_properties() -> tuple[Property, ...]:
    """Every property of the house, by name."""
    for name in _DEFINED_BESIDE:
        property_named(name)
    for name in known_passes():
        find_pass(name)
    return tuple(prop for _, prop in sorted(defined_properties().items()))


def contract_of(name: str) -> NamedContract:
    """The contract of a pass. One of IREE's that no table lists requires nothing and breaks nothing."""
    if is_known(name):
        return NamedContract(name, find_pass(name).contract)
    return NamedContract(name, contract_from(NATIVE.get(name, NativeContract())))


def called(name: str) -> str:
    """The pass in words; a user's with its file and line."""
    return pass_named(find_pass(name)) if is_known(name) else f"pass '{name}'"


def contract_from(native: NativeContract) -> Contract:
    def named(names: Iterable[str]) -> tuple[Property, ...]:
        return tuple(map(property_named, names))

    return Contract(named(native.requires), named(native.establishes), named(native.invalidates))


def establishers(prop: Property) -> list[str]:
    """The passes that establish ``prop``: fissile's, the users' and IREE's, by name. Those that change the program come
    before those that only check it."""
    ours = [name for name in known_passes() if prop in find_pass(name).contract.establishes]
    changing = [name for name in ours if name not in CHECKS]
    natives = [name for name, native in NATIVE.items() if prop.name in native.establishes]
    return [*changing, *natives, *(name for name in ours if name in CHECKS)]
