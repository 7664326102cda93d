"""What every test run shares: the environment's programs come first, drawn examples are the same each time."""

from __future__ import annotations

import compileall
import importlib.util
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("msgspec") is None:  # added after the first environments were made
    raise SystemExit(
        "the environment is older than pyproject.toml: `make setup` brings what it lacks (msgspec)"
    )

from fissile.passes.iree.late_imports import DIALECTS
from fissile.start.late_modules import load_late

load_late(DIALECTS)  # a test reads ops as a process of fissile's own does: without the classes of a dialect

import effort  # noqa: E402
import programs  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from fissile.passes.definition import _PASSES  # noqa: E402
from fissile.pipelines.compile import entry as api  # noqa: E402

# No test takes an answer of another one, or of the user's.
os.environ["FISSILE_CACHE"] = "off"

# An environment need not be activated: `iree-compile`, `fissile-opt` and `lit` are those beside this interpreter.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

# No deadline: a loaded machine is no failure. The same examples each time: a failure is there again on the next run.
settings.register_profile("fissile", derandomize=True, deadline=None, database=None)
settings.load_profile("fissile")

# What a test starts gets its signals, also where this run was started with them ignored (nohup, a script's `&`): a handler,
# unlike that, is not inherited.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda _number, _frame: None)

COSTLY = Path(__file__).parents[1] / "costly_tests.txt"
"""The tests that cost the most processor time, one a line: tools/costly_tests.py writes it."""
VULKAN_DEVICE = """
import iree.runtime as runtime
print(runtime.get_driver("vulkan").query_available_devices()[0]["name"])
"""


def pytest_addoption(parser):
    parser.addoption(
        "--slow", action="store_true", help="the tests marked slow as well, and every sweep whole"
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="without the tests that tests/costly_tests.txt lists (`make test`)",
    )
    parser.addoption(
        "--cost-file", metavar="FILE", help="append each test's processor seconds, children included"
    )


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # once, before xdist starts its workers
        # Where Python is not to write bytecode, each program that a test starts compiles fissile's modules again: 0.3 s.
        for folder in ("fissile", "dialect", "passes", "pipelines"):
            compileall.compile_dir(Path(__file__).parents[2] / folder, quiet=2)
    if config.getoption("--slow"):
        os.environ[effort.VARIABLE] = "all"


def pytest_collection_modifyitems(config, items):
    """Leaves the slow tests out, unless they are wanted or named one by one, and with --quick the costly ones."""
    if effort.everything() or any("::" in word for word in config.args):
        return
    costly = set(COSTLY.read_text(encoding="utf-8").splitlines()) if config.getoption("--quick") else set()
    left_out = {item for item in items if item.get_closest_marker("slow") or item.nodeid in costly}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def processor_seconds() -> float:
    """What this process and the children it has waited for have used; a loaded machine does not change it."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + programs.forked_seconds()


@pytest.fixture(autouse=True, scope="session")
def forked_compiles():
    """`fissile.compile` compiles in a forked process for the whole run (programs.py)."""
    compiled, api.run_compile = api.run_compile, programs.run_compile
    yield
    api.run_compile = compiled


@pytest.fixture(autouse=True)
def registered_passes_end_with_their_test():
    """A pass that a test registers is sent along with each compile of its process: not with those of other tests.

    Those of fissile's own modules stay: such a module is imported once, and registers its pass then.
    """
    before = dict(_PASSES)
    yield
    if before != _PASSES:
        own = {name: cls for name, cls in _PASSES.items() if cls.__module__.startswith("fissile.")}
        _PASSES.clear()
        _PASSES.update(own | before)


COSTS: dict[str, float] = {}
"""Test -> the processor seconds of it alone."""
SHARED_COSTS: dict[tuple[str, str, int], float] = {}
"""Fixture that several tests share (its name, its place, the number of its parameter) -> what setting it up took."""


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    before = processor_seconds()
    result = yield
    if fixturedef.scope != "function":
        key = (fixturedef.argname, fixturedef.baseid, getattr(request, "param_index", 0))
        SHARED_COSTS[key] = processor_seconds() - before
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    before, shared_before = processor_seconds(), sum(SHARED_COSTS.values())
    result = yield
    shared = sum(SHARED_COSTS.values()) - shared_before
    COSTS[item.nodeid] = processor_seconds() - before - shared
    return result


def shares(items) -> dict[str, float]:
    """Test -> its part of what the fixtures took that it shares: leaving one of their tests out saves nothing, leaving all out does."""
    parts: dict[str, float] = {}
    for (name, place, number), seconds in SHARED_COSTS.items():
        users = [
            item.nodeid
            for item in items
            if name in item.fixturenames
            and item.nodeid.startswith(place)
            and getattr(getattr(item, "callspec", None), "indices", {}).get(name, 0) == number
        ]
        for user in users:
            parts[user] = parts.get(user, 0.0) + seconds / len(users)
    return parts


def pytest_sessionfinish(session):
    """With `--cost-file`, one line a test: seconds, tab, the test. Workers of xdist append to the same file."""
    programs.end_server()
    if path := session.config.getoption("--cost-file"):
        parts = shares(session.items)
        with open(path, "a", encoding="utf-8") as costs:
            for test, seconds in COSTS.items():
                costs.write(f"{seconds + parts.get(test, 0.0):.2f}\t{test}\n")


def pytest_terminal_summary(terminalreporter):
    """Says which Vulkan device the tests ran on: without one they skip, and that should be seen."""
    try:
        # In a process of its own: a driver that crashes must not take the test report with it.
        requested = subprocess.run(
            [sys.executable, "-c", VULKAN_DEVICE], capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        terminalreporter.write_line("vulkan device: the driver did not answer")
    else:
        terminalreporter.write_line(
            f"vulkan device: {requested.stdout.strip() or 'none; tests that need one were skipped'}"
        )
