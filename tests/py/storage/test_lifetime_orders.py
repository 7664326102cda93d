"""Passes around releases in any order, and the example that shows two of them."""

import subprocess
import sys
from pathlib import Path

from bench.lifetime import orders

ROOT = Path(__file__).resolve().parents[3]


def test_sequences_are_right_or_refused():
    """A sample; `python -m bench.lifetime.orders` tries every permutation."""
    ended, wrong = orders.check_all(40, seed=3, most=30)
    assert wrong == []
    assert sum(ended.values()) == 60


def test_two_empty_tensors_that_cse_makes_one_are_still_two_values():
    sequence = ("fissile-lower-storage", "cse")
    assert orders.check_sequence(
        orders.STORAGE, orders.EXPECTED["storage"], sequence, orders.new_context()
    ) == (
        "ran",
        "",
    )


def test_a_wrong_result_is_seen():
    context = orders.new_context()
    how, complaint = orders.check_sequence(orders.BUFFERS, (0.0, 0.0), ("fissile-insert-kills",), context)
    assert how == "ran" and "and not 0.0" in complaint


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "release_order.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("status 0: 1 release; computes [3.0, 4.0, 5.0, 6.0]") == 2
    assert "error[FIS306]" in done.stdout
