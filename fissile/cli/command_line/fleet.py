"""The command for many programs at once: sweep."""

from __future__ import annotations

import os

from fissile.option import Argument, Option
from fissile.shared_options import LIMITS

from .declaration import Command, Example

SWEEP = Command(
    "sweep",
    "fissile.cli.commands.sweep",
    "compile many models for many targets, and report what changed since the last run",
    arguments=(Argument("MODEL", "model files, and folders that are searched for models", count="+"),),
    options=(
        (
            "the matrix",
            (
                Option(
                    "target",
                    "gfx942, sm_86, vulkan, llvm-cpu, …; may be repeated",
                    value="NAME",
                    repeated=True,
                ),
                Option(
                    "options",
                    "options of `fissile compile` in one word; each repetition is one more column",
                    value="WORDS",
                    repeated=True,
                ),
                Option(
                    "python",
                    "the interpreter of another environment, with fissile and the IREE wanted; may be repeated (default: this one)",
                    value="FILE",
                    repeated=True,
                ),
            ),
        ),
        (
            "results",
            (
                Option("out", "the results folder; created if it does not exist", value="FOLDER", default=""),
                Option("keep-modules", "keep what is compiled, in FOLDER/modules"),
                Option(
                    "again",
                    "compile once more what failed, or everything",
                    choices=("failed", "all"),
                    default="",
                ),
                Option(
                    "fail-on",
                    "exit status 1 where any model is not built, or only where one got worse since the last run",
                    choices=("any", "worse"),
                    default="any",
                ),
                Option("format", "the report on standard output", choices=("text", "json"), default="text"),
                Option("html", "write the report as one HTML page as well", value="FILE", default=""),
            ),
        ),
        (
            "where it runs",
            (
                Option(
                    "jobs",
                    "compiles at once on this machine (default: one a core)",
                    value="N",
                    kind=int,
                    default=len(os.sched_getaffinity(0)),
                ),
                Option(
                    "scheduler",
                    "run on the Dask cluster whose scheduler is at ADDRESS; only on a network that you trust",
                    value="ADDRESS",
                    default="",
                ),
            ),
        ),
        (
            "limits",
            (
                Option(
                    "timeout",
                    "of one compile (default 3600; 0: none)",
                    value="SECONDS",
                    kind=float,
                    default=3600.0,
                ),
                *LIMITS,
            ),
        ),
    ),
    examples=(
        Example("fissile sweep models/ --target gfx942 --target vulkan --out results/", "two targets"),
        Example(
            "fissile sweep models/ --target llvm-cpu --out results/ --fail-on=worse --html sweep.html",
            "a nightly run",
        ),
        Example(
            "fissile sweep models/ --target gfx942 --out results/ --options='' --options=--repair=off",
            "two sets of options",
        ),
        Example(
            "fissile sweep models/ --target gfx942 --out results/ --scheduler tcp://10.0.0.1:8786",
            "on a cluster",
        ),
    ),
    description="Each compile runs in a process of its own and is one file in the results folder, named by the model's bytes, the "
    "target, the options and the versions: the same command goes on where it was stopped, and machines that share the folder share results.",
    exit_status="0 every model is built (with --fail-on=worse: none got worse); 1 one is not; 2 usage; 3 fissile itself failed on one",
)
