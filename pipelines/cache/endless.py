"""Dispatches that were seen not to end code generation, by fingerprint: they are not waited for again, in any program."""

from __future__ import annotations

from collections.abc import Sequence

from .keys import files_in, key_of
from .store import has_answers, keep, recall


def known_endless(flags: Sequence[str], seconds: float) -> tuple[str, ...]:
    """The fingerprints of dispatches that did not end within ``seconds`` or more, compiled with ``flags``."""
    found = _found(flags)
    return tuple(sorted(name for name, waited in found.items() if 0 < seconds <= waited))


def remember_endless(flags: Sequence[str], fingerprint: str, seconds: float) -> None:
    """Dispatch ``fingerprint`` was ended after ``seconds``."""
    found = _found(flags)
    if fingerprint and seconds > found.get(fingerprint, 0.0):
        keep(_key(flags), found | {fingerprint: seconds})


def _found(flags: Sequence[str]) -> dict[str, float]:
    found = recall(_key(flags)) if has_answers() else None
    return found if isinstance(found, dict) else {}


def _key(flags: Sequence[str]) -> str:
    return key_of("endless", list(flags), files_in(flags))
