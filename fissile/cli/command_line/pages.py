"""The commands that print what fissile knows: explain, passes, targets, completion."""

from __future__ import annotations

from fissile.option import Argument, Option
from fissile.shared_options import (
    LIMITS,
    LOAD_PASSES,
)

from .declaration import Command, Example

EXPLAIN = Command(
    "explain",
    "fissile.cli.commands.explain",
    "the manual page of a finding: fissile explain FIS101",
    arguments=(
        Argument("CODE", "FIS101, or a rule's name; without one all rules are listed", count="*", default=[]),
    ),
    options=(
        (
            "other pages",
            (
                Option("strategies", "the order in which repairs are tried, as a table"),
                Option(
                    "json-schema", "the JSON Schema (2020-12) of what every command writes with --format=json"
                ),
            ),
        ),
    ),
    examples=(
        Example("fissile explain", "all rules, a line each"),
        Example("fissile explain FIS101", "one, by its code"),
        Example("fissile explain workgroup-memory", "one, by its name"),
        Example("fissile explain --strategies", "which repairs are tried for what, in their order"),
    ),
)
PASSES = Command(
    "passes",
    "fissile.cli.commands.passes",
    "the passes there are, with options and contracts",
    arguments=(Argument("NAME", "one pass, as its manual page", count="?", default=""),),
    options=(("passes of your own", (LOAD_PASSES,)), ("limits", LIMITS)),
    examples=(
        Example("fissile passes", "all, a line each"),
        Example("fissile passes fissile-place-boundaries", "one, with its options and contract"),
    ),
)
TARGETS = Command(
    "targets",
    "fissile.cli.commands.targets",
    "the targets there are, with each limit's source",
    arguments=(Argument("NAME", "show these only", count="*", default=[]),),
    options=(
        (
            "output",
            (
                Option(
                    "format", "a table, or JSON with every figure", choices=("text", "json"), default="text"
                ),
            ),
        ),
    ),
    examples=(
        Example("fissile targets", "all, a line each"),
        Example("fissile targets gfx942 vulkan --format=json", "two, with every figure"),
    ),
)
SUPPORT = Command(
    "support",
    "fissile.cli.commands.support",
    "which ops on which element types a target takes, measured with small programs",
    options=(
        (
            "what is measured",
            (
                Option("target", "gfx942, vulkan, llvm-cpu, …; may be repeated", value="NAME", repeated=True),
                Option("op", "this op alone (linalg.matmul); may be repeated", value="NAME", repeated=True),
                Option(
                    "element", "this element type alone (bf16); may be repeated", value="TYPE", repeated=True
                ),
                Option("again", "measure what was measured before"),
            ),
        ),
        (
            "output",
            (
                Option(
                    "format",
                    "a table for a terminal or a page, or JSON with what stock IREE says",
                    choices=("text", "markdown", "json"),
                    default="text",
                ),
            ),
        ),
        ("limits", LIMITS),
    ),
    examples=(
        Example("fissile support --target llvm-cpu", "all ops; minutes the first time"),
        Example("fissile support --target vulkan --target gfx942 --op linalg.matmul", "one op, two targets"),
        Example("fissile support --target gfx942 --element bf16 --format=json", "one type, with the reasons"),
    ),
    description="Every entry is measured: a small program is compiled by stock IREE and, if that refuses it, by fissile; where a runtime of "
    "the target is here, it is run and compared with NumPy. Programs are compiled many at a time. What was measured is kept for the "
    "versions of IREE and fissile that are installed; --again measures it anew, FISSILE_CACHE=off keeps nothing. "
    "`right`: compiles and runs right; `yes`: compiles; `wrong`: compiles, and computes something else; `fissile`: only fissile compiles "
    "it; `no`: neither does; `right (f32)`: IREE changes the function to that type.",
)
REPORT = Command(
    "report",
    "fissile.cli.commands.report",
    "a report that was written as JSON, as an HTML page that works offline",
    arguments=(Argument("RESULTS", "what --format=json wrote"),),
    options=(
        ("output", (Option("output", "the page (default: RESULTS.html)", value="FILE.html", short="o"),)),
    ),
    examples=(Example("fissile report results.json -o results.html", "what a run in CI has left"),),
)
CACHE = Command(
    "cache",
    "fissile.cli.commands.cache",
    "answers of earlier runs: where they are kept, and how many",
    options=(
        (
            "what to do",
            (
                Option("clear", "remove them"),
                Option("path", "print the name of the file alone"),
            ),
        ),
    ),
    examples=(
        Example("fissile cache", "the file, and how much is in it"),
        Example("fissile cache --clear", "forget everything"),
    ),
    description="Kept are the reports of checks and of programs that are repaired or refused, repaired modules, and dispatches whose code "
    "generation does not end; by content, flags, and the versions of IREE and fissile. FISSILE_CACHE=off keeps nothing, "
    "FISSILE_CACHE=FOLDER is another place.",
)
COMPLETION = Command(
    "completion",
    "fissile.cli.commands.completion",
    "completion of commands and options for a shell",
    arguments=(Argument("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),),
    examples=(
        Example("source <(fissile completion bash)", "bash and zsh, in ~/.bashrc or ~/.zshrc"),
        Example("fissile completion fish > fissile.fish", "fish, in ~/.config/fish/completions"),
    ),
)
