"""The command for many programs at once: sweep."""

from __future__ import annotations

import os

from fissile.option import Argument, Option
from fissile.option_values import at_least_one, seconds_or_none
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
                    "options of `fissile compile`, quoted as one word; each repetition adds a column",
                    value="WORDS",
                    repeated=True,
                ),
                Option(
                    "python",
                    "the Python interpreter of an environment with fissile and another version of IREE; may be repeated (default: this one)",
                    value="FILE",
                    repeated=True,
                ),
            ),
        ),
        (
            "results",
            (
                Option("out", "the results folder; created if it does not exist", value="FOLDER", default=""),
                Option("keep-modules", "keep the compiled modules, in FOLDER/modules"),
                Option(
                    "again",
                    "compile again what failed, or everything",
                    choices=("failed", "all"),
                    default="",
                ),
                Option(
                    "fail-on",
                    "exit status 1 if any model does not compile, or only if one got worse since the last run",
                    choices=("any", "worse"),
                    default="any",
                ),
                Option("format", "the report on standard output", choices=("text", "json"), default="text"),
                Option(
                    "report",
                    "write the report as one HTML page as well",
                    value="FILE.html",
                    default="",
                    field="page",
                    aliases=("html",),
                ),
            ),
        ),
        (
            "where it runs",
            (
                Option(
                    "jobs",
                    "number of parallel compiles on this machine (default: one per core)",
                    value="N",
                    kind=at_least_one,
                    default=len(os.sched_getaffinity(0)),
                ),
                Option(
                    "scheduler",
                    "run on the Dask cluster whose scheduler is at ADDRESS; use only a network that you trust",
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
                    "time limit of one compile (default 3600; 0: none)",
                    value="SECONDS",
                    kind=seconds_or_none,
                    default=3600.0,
                ),
                *LIMITS,
            ),
        ),
    ),
    examples=(
        Example("fissile sweep models/ --target gfx942 --target vulkan --out results/", "two targets"),
        Example(
            "fissile sweep models/ --target llvm-cpu --out results/ --fail-on=worse --report sweep.html",
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
    description="Each compile runs in its own process and writes one file to the results folder, identified by the model's bytes and suffix, the "
    "target, the options and the versions. A sweep that was interrupted continues where it stopped, and machines that share the folder share "
    "results.",
    exit_status="0 every model compiles (with --fail-on=worse: none got worse); 1 one does not; 2 usage; 3 fissile itself failed on one",
)
