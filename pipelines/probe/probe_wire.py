"""What a probe server answers, as JSON values and back."""

from __future__ import annotations

from fissile.plain import from_plain, to_plain

from .diagnostics import Diagnostic
from .one_dispatch import Probed


def encode(value: Probed | Diagnostic | None) -> object:
    return to_plain(value)


def decode_diagnostic(data: object) -> Diagnostic | None:
    return from_plain(Diagnostic | None, data)


def decode_probed(data: object) -> Probed:
    """What `encode` made of a `Probed`, all of its fields."""
    return from_plain(Probed, data)
