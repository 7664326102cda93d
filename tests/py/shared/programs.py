"""How a test runs a program: fissile's are forked (warm_programs), stock's answers are kept (stock_answers)."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import stock_answers
import warm_programs

from fissile.pipelines.process import supervisor

BIN = Path(sys.executable).parent
WARM = ("fissile", "fissile-opt")


@cache
def server() -> warm_programs.Server:
    """Started by the first test that needs it; conftest.py ends it."""
    return warm_programs.Server()


def run_program(words, **options) -> subprocess.CompletedProcess:
    """`subprocess.run`, faster where the program is fissile's or `iree-compile`."""
    words = [os.fspath(word) for word in words]
    name = Path(words[0]).name
    if name in WARM:
        return server().run([name, *words[1:]], **options)
    if name == "iree-compile" and not {"input", "env"} & options.keys():
        return stock_answers.run([str(BIN / name), *words[1:]], **options)
    return subprocess.run(words, check=options.pop("check", False), **options)


def run_compile(request):
    """`fissile.pipelines.process.supervisor.run_compile` in a forked process."""
    return server().call(supervisor.run_compile, request)


def end_server() -> None:
    if server.cache_info().currsize:
        server().end()


def forked_seconds() -> float:
    """The processor time of what the server ran; the operating system counts it elsewhere."""
    return server().seconds if server.cache_info().currsize else 0.0
