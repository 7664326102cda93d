"""Dataclasses of fissile's modules, made in a fifth of the time: for the start of a process that is fissile's own.

A short compile loads a hundred of them, and `dataclasses` compiles up to six methods of each from text: 0.06 s of a compile that
takes 0.8 s. Here ``__init__`` alone is compiled; equality, hash, text and the refusal to assign read the fields. Fields and
parameters are those of `dataclasses`, so `fields`, `replace`, `asdict` and msgspec see no difference. What is not spelled as
fissile's modules spell it (other options, fields with options beyond a default, a class of somebody else) goes to `dataclasses`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any

_stock = dataclasses.dataclass
_OWN = "fissile."


def make_dataclasses_quickly() -> None:
    """From now on `dataclass` is `_quick` in each module that is loaded. Called once, before those modules are."""
    dataclasses.dataclass = _quick


def _quick(cls: type | None = None, /, **options: bool) -> Any:
    if cls is None:
        return lambda decorated: _quick(decorated, **options)
    plain = (
        set(options) <= {"frozen", "eq"} and cls.__module__.startswith(_OWN) and "__slots__" not in vars(cls)
    )
    if not plain or any(_is_special(value) for value in vars(cls).values()):
        return _stock(cls, **options)
    return _made(cls, options.get("frozen", False), options.get("eq", True))


def _is_special(value: object) -> bool:
    return isinstance(value, dataclasses.Field) and (
        not value.init or value.hash is not None or value.kw_only not in (False, dataclasses.MISSING)
    )


def _made(cls: type, frozen: bool, eq: bool) -> type:
    own = vars(cls)
    explicit_hash = own.get("__hash__", dataclasses) is not dataclasses and not (
        own["__hash__"] is None and "__eq__" in own
    )
    undocumented = cls.__doc__ is None
    if undocumented:
        cls.__doc__ = "…"  # or `dataclasses` looks for the signature, which is half of its time
    bases = [base for base in cls.__mro__[1:] if "__dataclass_fields__" in vars(base)]
    if any(not base.__module__.startswith(_OWN) for base in bases):
        return _stock(cls, frozen=frozen, eq=eq)
    # `dataclasses` refuses a class that is not frozen below one that is.
    _stock(cls, init=False, repr=False, eq=False, frozen=frozen and bool(bases))
    parameters: Any = cls.__dataclass_params__  # type: ignore[attr-defined]
    parameters.init = parameters.repr = True
    parameters.frozen, parameters.eq = frozen, eq
    fields = dataclasses.fields(cls)
    names = tuple(field.name for field in fields)
    if undocumented:
        cls.__doc__ = f"{cls.__name__}({', '.join(names)})"
    if "__init__" not in own:
        cls.__init__ = _init(cls, fields)  # type: ignore[misc]
    _set_new(cls, "__repr__", _repr(tuple(field.name for field in fields if field.repr)))
    if eq:
        values = _values(tuple(field.name for field in fields if field.compare))
        _set_new(cls, "__eq__", _eq(values))
        if not explicit_hash:
            cls.__hash__ = _hash(values) if frozen else None  # type: ignore[assignment]
    if frozen and not bases:
        cls.__setattr__, cls.__delattr__ = _refusals(cls, frozenset(names))  # type: ignore[method-assign]
    return cls


def _set_new(cls: type, name: str, method: object) -> None:
    if name not in vars(cls):
        setattr(cls, name, method)


def _init(cls: type, fields: tuple[dataclasses.Field, ...]) -> Callable[..., None]:
    """``__init__`` as `dataclasses` writes it, but that it puts values into the instance's dictionary."""
    known: dict[str, Any] = {"_MADE": _MADE}
    parameters, lines = ["self"], ["d = self.__dict__"] if fields else []
    for number, field in enumerate(fields):
        value = field.name
        if field.default is not dataclasses.MISSING:
            known[f"_d{number}"] = field.default
            parameters.append(f"{field.name}=_d{number}")
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_d{number}"] = field.default_factory
            parameters.append(f"{field.name}=_MADE")
            value = f"_d{number}() if {field.name} is _MADE else {field.name}"
        else:
            parameters.append(field.name)
        lines.append(f"d[{field.name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, known)
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return made


_MADE = object()
"""The default of a field that a factory makes a value for."""


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple]:
    """Reads the fields of an instance as a tuple."""
    if not names:
        return lambda _instance: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda instance: (get(instance),)


def _eq(values: Callable[[Any], tuple]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _refusals(cls: type, names: frozenset[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    return __setattr__, __delattr__
