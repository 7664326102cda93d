"""Options that several commands have."""

from __future__ import annotations

from fissile.option import Option
from fissile.option_values import seconds_or_none

FORMATS = ("text", "json", "sarif", "github")

REPORT = (
    Option(
        "format",
        "format of the report: text (default), JSON, SARIF 2.1.0, or GitHub Actions annotations",
        choices=FORMATS,
        default="text",
    ),
    Option(
        "report-file",
        "write the report in --format to FILE and print the text as well",
        value="FILE",
        default="",
    ),
)

NO_CACHE = Option("no-cache", "neither use nor keep answers of earlier runs (`fissile cache`)")

PAGE = Option(
    "report",
    "write the report as one HTML page that works offline: verdict, dispatches, bytes against limits, repairs",
    value="FILE.html",
    default="",
    field="page",
)

LIMITS = (
    Option(
        "memory-limit",
        "memory limit of each process that the command starts, for example 8G (default: the machine's memory)",
        value="SIZE",
    ),
    Option(
        "phase-timeout",
        "limit on the processor time of one step: the parse, a phase of IREE, a pass of yours "
        "(default 600, plus 10 for each MiB of the input; 0: none)",
        value="SECONDS",
    ),
)
"""Every command takes them; `fissile.pipelines.process.limits` reads them before a command sees its words."""

VOICE = (
    Option("quiet", "print errors and warnings only", short="q"),
    Option(
        "verbose",
        "also print IREE's own messages, the passes and the time of each step",
        short="v",
        aliases=("fissile-verbose",),
    ),
)

DISPATCH_TIMEOUT = Option(
    "dispatch-timeout",
    "time limit for the code generation of one dispatch (default 30; 0: none)",
    value="SECONDS",
    kind=seconds_or_none,
    default=30.0,
)

ALLOW_PIPELINES = Option(
    "allow-pipelines-in-input",
    "run pass pipelines and native code in the input (FIS005, FIS006); use it only for input that you trust",
    field="allow_pipelines",
)

LOAD_PASSES = Option(
    "load-passes",
    "load your own passes; may be repeated",
    value="FILE.py",
    repeated=True,
    aliases=("fissile-load-passes",),
)

STRICT = Option(
    "strict",
    "if something could not be checked (FIS902, FIS903, FIS008), exit with status 3 and write no output",
)
