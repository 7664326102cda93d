"""`fissile` and stock `iree-compile`, run with words."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from programs import run_program

BIN = Path(sys.executable).parent


def fissile(*words, cwd=None, **kwargs):
    return run_program(
        [BIN / "fissile", *map(str, words)], capture_output=True, text=True, timeout=300, cwd=cwd, **kwargs
    )


def stock(*words):
    return run_program([BIN / "iree-compile", *map(str, words)], capture_output=True, text=True, timeout=300)


def compile_json(*words):
    done = fissile("compile", *words, "--format=json")
    return done, json.loads(done.stdout)
