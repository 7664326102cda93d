"""What a pass is: a frozen dataclass with options, a contract, and one method that reads or changes IR.

    @register_pass
    @dataclass(frozen=True)
    class DropDebug(Pass):
        \"\"\"Removes debug ops.\"\"\"

        name: ClassVar[str] = "my-drop-debug"
        keep: int = option(0, "how many to keep, in program order")

        def run(self, op, report):
            ...

The docstring is the pass's manual page; the fields are its options in the textual pipeline
(`my-drop-debug{keep=2}`), on `fissile-opt`'s command line and in `fissile passes`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fissile.errors import ExitCode, FissileError, UsageError
from fissile.finding import Finding, Place

from .built_in import built_in
from .options import (
    is_of_type,
    is_supported,
    option,
    option_types,
    print_options,
    read_options,
    type_name,
)
from .user_code import class_named, is_users

if TYPE_CHECKING:
    from iree.compiler import ir

__all__ = [
    "Contract",
    "Offence",
    "Pass",
    "PassDefinitionError",
    "PassFailed",
    "Property",
    "define_property",
    "defined_properties",
    "find_property",
    "make_pass",
    "option",
    "register_pass",
    "registered_passes",
]


class PassDefinitionError(UsageError, TypeError):
    """A pass class or a property is defined wrongly; the message names it and what to change."""


class PassFailed(FissileError):
    """Stops a pipeline: raised by a pass that found what it cannot go on with. ``findings`` says what."""

    exit_code = ExitCode.FINDINGS

    def __init__(self, findings: Iterable[Finding]) -> None:
        if isinstance(findings, Finding):
            raise TypeError("PassFailed takes a list of findings: PassFailed([finding])")
        self.findings = tuple(findings)
        for one in self.findings:
            if not isinstance(one, Finding):
                raise TypeError(f"PassFailed takes a list of findings, not of {type(one).__name__}")
        super().__init__(self.findings[0].message if self.findings else "a pass failed without a finding")


@dataclass(frozen=True)
class Offence:
    """Why a property does not hold: a sentence, and the op's place in the source."""

    sentence: str
    place: Place | None = None


@dataclass(frozen=True)
class Property:
    """Something that holds for IR or does not. ``offences(op)`` runs it: no offence means that it holds."""

    name: str
    sentence: str
    offences: Callable[[ir.Operation], list[Offence]] = dataclasses.field(compare=False)

    def holds(self, op: ir.Operation) -> bool:
        return not self.offences(op)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled by its name: contracts compare properties by identity."""
        return _property_named, (self.name, self.sentence, self.offences)


@dataclass(frozen=True)
class Contract:
    """What IR must satisfy before a pass, what the pass establishes, and what it may break."""

    requires: tuple[Property, ...] = ()
    establishes: tuple[Property, ...] = ()
    invalidates: tuple[Property, ...] = ()


@dataclass(frozen=True)
class Pass:
    """The base of all passes. ``anchor`` is the op that `run` is called with.

    ``dialects`` names the dialects whose ops the pass creates. They are loaded before it runs: an op of a
    dialect that is not loaded would be created as an unregistered op, and IREE crashes on those.
    """

    name: ClassVar[str] = ""
    anchor: ClassVar[str] = "builtin.module"
    dialects: ClassVar[tuple[str, ...]] = ()
    contract: ClassVar[Contract] = Contract()

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        """Reads or changes ``op``. Findings go to ``report``; raising PassFailed stops the pipeline."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The pass as a textual pipeline spells it."""
        options = print_options(self)
        return f"{self.name}{{{options}}}" if options else self.name


_PASSES: dict[str, type[Pass]] = {}
_PROPERTIES: dict[str, Property] = {}
_KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OP = re.compile(r"[A-Za-z_][\w$]*(\.[\w$-]+)+")

PassClass = TypeVar("PassClass", bound=type[Pass])


def define_property(
    name: str, sentence: str
) -> Callable[[Callable[[ir.Operation], list[Offence]]], Property]:
    """Makes the decorated predicate a Property that contracts can name."""

    def define(offences: Callable[[ir.Operation], list[Offence]]) -> Property:
        if not isinstance(name, str) or not _KEBAB.fullmatch(name):
            raise PassDefinitionError(f"property {name!r}: a name is lower case words joined by '-'")
        if name in _PROPERTIES:
            raise PassDefinitionError(f"property '{name}' is defined twice")
        _PROPERTIES[name] = Property(name, sentence, offences)
        return _PROPERTIES[name]

    return define


def _property_named(name: str, sentence: str, offences: Callable[[ir.Operation], list[Offence]]) -> Property:
    return _PROPERTIES.get(name) or define_property(name, sentence)(offences)


def find_property(name: str) -> Property:
    return _PROPERTIES[name]


def defined_properties() -> dict[str, Property]:
    """Name -> property, of those whose modules have been imported."""
    return dict(_PROPERTIES)


def register_pass(cls: PassClass) -> PassClass:
    """Class decorator that registers a pass under its name, for `fissile.compile` in this process and for `--load-passes` files.

    ``cls`` is a frozen dataclass that derives from `fissile.passes.definition.Pass` and defines ``name`` (lower case words joined
    by `-`) and ``run(self, op, report)``; its docstring is its manual page and its fields are its options. ``op`` is the
    module, an `iree.compiler.ir` op, or the op that ``anchor`` names. A pipeline runs the pass by its name:
    ``flags=["--iree-preprocessing-pass-pipeline=builtin.module(my-pass)"]``.

    Raises `PassDefinitionError`, a `UsageError`, for an invalid class or a name that is already taken; of a name that a pass of IREE
    has, or an anchor that is no op, the compile raises it.

    The pass runs in another process, which gets a copy of the class and of what it refers to: what it appends to a list or sets
    in a module is not seen by the caller. `report` brings findings back.
    """
    _check_definition(cls)
    _PASSES[cls.name] = cls
    return cls


def registered_passes() -> dict[str, type[Pass]]:
    """Name -> class of the passes whose modules have been imported."""
    return dict(_PASSES)


def make_pass(cls: type[Pass], options: str = "") -> Pass:
    """A pass from its class and option text (`a=1 b=true`). Raises UsageError."""
    return cls(**read_options(cls, options, owner=cls.name))


def _check_definition(cls: Any) -> None:
    if not hasattr(cls, "__qualname__"):
        raise PassDefinitionError(f"{cls!r} is not a class", "@register_pass stands above a class of a pass")
    # The file of a user's class is named by whoever imports it.
    who = f"pass class {cls.__qualname__ if is_users(cls) else class_named(cls)}"

    def refuse(why: str) -> None:
        raise PassDefinitionError(f"{who}: {why}")

    if not (isinstance(cls, type) and issubclass(cls, Pass)):
        refuse("a pass derives from fissile's Pass")
    if "__dataclass_fields__" not in vars(cls) or not cls.__dataclass_params__.frozen:
        refuse("a pass is a frozen dataclass: put @dataclass(frozen=True) below @register_pass")
    if not isinstance(cls.name, str):
        refuse(f"its name {cls.name!r} is no text: write lower case words joined by '-'")
    if not _KEBAB.fullmatch(cls.name):
        refuse(f"its name '{cls.name}' is not lower case words joined by '-'")
    # A dataclass without a docstring gets its signature as one: that is no manual page.
    if not (cls.__doc__ or "").strip() or cls.__doc__.startswith(f"{cls.__name__}("):
        refuse("it has no docstring, which is its manual page")
    if cls.run is Pass.run:
        refuse("it does not define run(self, op, report)")
    if not isinstance(cls.anchor, str) or cls.anchor != "any" and not _OP.fullmatch(cls.anchor):
        refuse(f"its anchor {cls.anchor!r} is no op: write its name, as func.func, or any")
    if not cls.__module__.startswith("fissile.") and cls.name in built_in():
        refuse(f"its name '{cls.name}' is the name of a pass of fissile")
    known = _PASSES.get(cls.name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        refuse(f"its name '{cls.name}' belongs to {class_named(known)}")
    if not isinstance(cls.dialects, tuple) or not all(isinstance(name, str) for name in cls.dialects):
        refuse("its dialects are not a tuple of names")
    _check_options(cls, refuse)
    _check_contract(cls.contract, refuse)


def _check_options(cls: type, refuse: Callable[[str], None]) -> None:
    kinds = option_types(cls)
    for field in dataclasses.fields(cls):
        if not is_supported(kinds[field.name]):
            refuse(
                f"option '{field.name}' has type {kinds[field.name]}; supported are int, bool, float, str, "
                "tuple[int, ...] and tuple[str, ...]"
            )
        if field.default is dataclasses.MISSING:
            refuse(f"option '{field.name}' has no default")
        if not is_of_type(field.default, kinds[field.name]):
            refuse(
                f"the default of option '{field.name}', {field.default!r}, is not of its type: {type_name(kinds[field.name])}"
            )
        if not field.metadata.get("doc"):
            refuse(f"option '{field.name}' is not documented: write it as option(default, doc)")


def _check_contract(contract: Any, refuse: Callable[[str], None]) -> None:
    if not isinstance(contract, Contract):
        refuse("its contract is not a Contract")
    parts: Sequence[tuple[str, Any]] = [
        (f.name, getattr(contract, f.name)) for f in dataclasses.fields(contract)
    ]
    for part, properties in parts:
        if not isinstance(properties, tuple):
            refuse(f"contract.{part} is not a tuple of properties")
        for prop in properties:
            if not isinstance(prop, Property) or _PROPERTIES.get(prop.name) is not prop:
                refuse(f"contract.{part} names {prop!r}, which no define_property made")
    both = {p.name for p in contract.establishes} & {p.name for p in contract.invalidates}
    if both:
        refuse(f"its contract both establishes and invalidates {', '.join(sorted(both))}")
