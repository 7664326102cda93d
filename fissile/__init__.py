"""fissile: a compile guard for IREE. The names below are the whole public face; each is loaded on first use."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Finding", "Report", "Session", "Target", "check", "compile", "register_pass", "verify"]

_HOMES = {
    "Finding": "fissile.finding",
    "Report": "fissile.report",
    "Session": "fissile.pipelines.session",
    "Target": "fissile.target",
    "check": "fissile.pipelines.check.entry",
    "compile": "fissile.pipelines.compile.entry",
    "register_pass": "fissile.passes.definition",
    "verify": "fissile.pipelines.numerics.verify",
}


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'fissile' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
