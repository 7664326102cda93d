"""What every test run shares: the environment's programs come first, drawn examples are the same each time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import settings

# An environment need not be activated: `iree-compile`, `fissile-opt` and `lit` are those beside this interpreter.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

# No deadline: a loaded machine is no failure. The same examples each time: a failure is there again on the next run.
settings.register_profile("fissile", derandomize=True, deadline=None, database=None)
settings.load_profile("fissile")

VULKAN_DEVICE = """
import iree.runtime as runtime
print(runtime.get_driver("vulkan").query_available_devices()[0]["name"])
"""


def pytest_terminal_summary(terminalreporter):
    """Says which Vulkan device the tests ran on: without one they skip, and that should be seen."""
    try:
        # In a process of its own: a driver that crashes must not take the test report with it.
        asked = subprocess.run(
            [sys.executable, "-c", VULKAN_DEVICE], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        terminalreporter.write_line("vulkan device: the driver did not answer")
    else:
        terminalreporter.write_line(
            f"vulkan device: {asked.stdout.strip() or 'none; tests that need one were skipped'}"
        )
