"""What a property says of IR. One of a user's is code of the user's own: what it does wrong is reported with its name, file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fissile.errors import FissileError, InternalError

from .definition import Offence, Property
from .progress import running
from .user_code import as_typed, cause, is_ctrl_c

if TYPE_CHECKING:
    from iree.compiler import ir


def offences_of(prop: Property, op: ir.Operation, needed_by: str = "") -> list[Offence]:
    """Why ``prop`` does not hold of ``op``; nothing where it holds. ``needed_by`` says what it is evaluated for, as in `pass 'mine' requires`.

    Raises InternalError where a user's predicate fails, or returns something else than a list of `Offence`.
    """
    if is_own(prop):
        return prop.offences(op)
    code = getattr(prop.offences, "__code__", None)
    file = code.co_filename if code else None
    where = f" ({as_typed(file)}:{code.co_firstlineno})" if code and file else ""
    step = f"property '{prop.name}'{where}" + (f", which {needed_by}," if needed_by else "")
    try:
        with op.context, running(step, users=True):
            found = prop.offences(op)
    except FissileError:
        raise
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        raise InternalError(f"{step} failed: {cause(error, file)}") from error
    if (wrong := _not_offences(found)) is not None:
        raise InternalError(
            f"{step} returned {wrong}, not a list of Offence",
            "return one Offence for each op that breaks it, and [] where it holds",
        )
    return list(found)


def is_own(prop: Property) -> bool:
    """Whether ``prop`` is fissile's, and not a user's."""
    return getattr(prop.offences, "__module__", "").startswith("fissile.")


def _not_offences(found: Any) -> str | None:
    """What a predicate returned, in words, where it is no list of offences."""
    if not isinstance(found, (list, tuple)):
        return type(found).__name__
    return next((f"a list of {type(one).__name__}" for one in found if not isinstance(one, Offence)), None)
