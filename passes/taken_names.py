"""What IREE says of a user's pass before it runs: whether its name is a pass of IREE's, and its anchor an op that there is."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.errors import closest

from .definition import Pass, PassDefinitionError
from .iree.messages import UNKNOWN_PASS
from .iree.ops import HAL_EXECUTABLE, UTIL_FUNC


def check_against_iree(classes: Iterable[type[Pass]]) -> None:
    """Raises PassDefinitionError for the first of ``classes`` that hides a pass of IREE's, or runs on an op that its dialect does not have.

    An op of a dialect that IREE does not know may stand in a user's program: such an anchor is accepted. This loads IREE's
    bindings; it takes a millisecond where they are loaded.
    """
    from iree.compiler import ir

    context = ir.Context()
    for cls in classes:
        who = f"pass class {cls.__module__}.{cls.__qualname__}"
        if _is_native(cls.name, context):
            raise PassDefinitionError(
                f"{who}: its name '{cls.name}' is the name of a pass of IREE",
                f"choose another name: my-{cls.name}",
            )
        dialect = cls.anchor.partition(".")[0]
        if cls.anchor != "any" and _has(dialect, context) and not context.is_registered_operation(cls.anchor):
            raise PassDefinitionError(
                f"{who}: its anchor '{cls.anchor}' is no op: the dialect '{dialect}' has none of that name",
                closest(cls.anchor, _COMMON) or "an anchor is the op that the pass runs on, as func.func",
            )


_COMMON = ["builtin.module", "func.func", HAL_EXECUTABLE, UTIL_FUNC, "any"]
"""Anchors to suggest: IREE's bindings do not list the ops of a dialect."""


def _is_native(name: str, context) -> bool:
    from iree.compiler.passmanager import PassManager

    try:
        PassManager.parse(f"any({name})", context=context)
    except ValueError as error:  # it does not run on any op, or it needs options: it is one
        return not UNKNOWN_PASS.search(str(error))
    return True


def _has(dialect: str, context) -> bool:
    try:
        context.get_dialect_descriptor(dialect)
    except ValueError:
        return False
    return True
