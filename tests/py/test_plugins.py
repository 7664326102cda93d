"""A package of others brings a check and a remedy: the one in examples/plugin, installed as pip does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fissile.errors import UsageError
from fissile.passes import plugins
from fissile.passes.catalogue import find_pass

ROOT = Path(__file__).resolve().parents[2]
UNEVEN = """\
func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {
  %0 = arith.addf %a, %a : tensor<5xf32>
  return %0 : tensor<5xf32>
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the example package in it."""
    sources = tmp_path_factory.mktemp("sources") / "plugin"
    shutil.copytree(ROOT / "examples" / "plugin", sources)
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--target", str(target), str(sources)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def run(installed: Path, *words) -> subprocess.CompletedProcess:
    """The program itself, in an environment with the package: a forked one has another path."""
    program = Path(sys.executable).with_name("fissile")
    return subprocess.run(
        [program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(installed)},
    )


def test_its_check_runs_in_check_and_in_compile(installed, tmp_path):
    source = tmp_path / "uneven.mlir"
    source.write_text(UNEVEN)
    checked = run(installed, "check", source, "--target=gfx942", "--probe=never")
    assert (
        checked.returncode == 0
        and "note[ACME101] the rows of tensor<5xf32> are no multiple of four elements" in checked.stdout
    ), checked
    cpu = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
    compiled = run(installed, "compile", source, "-o", tmp_path / "with.vmfb", *cpu)
    assert compiled.returncode == 0 and "note[ACME101]" in compiled.stderr, compiled
    plain = run(tmp_path, "compile", source, "-o", tmp_path / "without.vmfb", *cpu)
    assert plain.returncode == 0 and "ACME101" not in plain.stderr
    # A check changes nothing.
    assert (tmp_path / "with.vmfb").read_bytes() == (tmp_path / "without.vmfb").read_bytes()


def test_its_passes_and_rules_are_listed(installed):
    listed = run(installed, "passes")
    assert "acme-report-uneven-rows" in listed.stdout and "acme-cut-everything" in listed.stdout
    assert "Pad the dimension when the model is exported" in run(installed, "explain", "ACME101").stdout
    assert "acme" not in run(installed.parent, "passes").stdout


@pytest.fixture
def on_the_path(monkeypatch):
    """Makes what lies in a folder known to this process, for one test."""
    from fissile.passes.definition import _PASSES

    known = dict(_PASSES)

    def put(folder: Path) -> None:
        monkeypatch.syspath_prepend(str(folder))
        forget()

    def forget() -> None:
        plugins.plugged.cache_clear()
        plugins.declares.cache_clear()

    yield put
    forget()
    _PASSES.clear()
    _PASSES.update(known)
    for name in [name for name in sys.modules if name.startswith(("acme_fissile", "broken_plugin"))]:
        del sys.modules[name]


def test_its_remedy_is_tried_last_for_what_it_cures(installed, on_the_path):
    from fissile.pipelines.repair.strategies import STRATEGIES

    on_the_path(installed)
    tried = []
    case = SimpleNamespace(code="FIS101", each=lambda name: tried.append(name) or ("edit",))
    last = STRATEGIES[-1]
    assert list(last.offer(case)) == [("edit",)] and tried == ["acme-cut-everything"]
    case.code = "FIS106"
    assert list(last.offer(case)) == []
    assert find_pass("acme-cut-everything").cures == ("FIS101", "FIS103")


@pytest.mark.parametrize(
    "text, why",
    [
        ("raise OSError('no licence')", "cannot be loaded: OSError: no licence"),
        ("Check = 7", "is not a class with @register_pass"),
        ("class Check: pass", "is not a class with @register_pass"),
    ],
)
def test_a_broken_package_is_named(tmp_path, on_the_path, text, why):
    (tmp_path / "broken_plugin.py").write_text(text)
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n"
    )
    entry = "[fissile.checks]\nbad = broken_plugin:Check\n"
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_text(entry)
    on_the_path(tmp_path)
    with pytest.raises(UsageError, match=f"fissile.checks 'bad' of broken {why}"):
        find_pass("no-such-pass")


def test_a_check_that_throws_leaves_the_program_as_it_is(tmp_path):
    (tmp_path / "broken_plugin.py").write_text(
        "from dataclasses import dataclass\nfrom typing import ClassVar\n"
        "from fissile.passes.definition import Pass, register_pass\n"
        "@register_pass\n@dataclass(frozen=True)\nclass Check(Pass):\n    'Throws.'\n"
        "    name: ClassVar[str] = 'broken-check'\n\n    def run(self, op, report):\n        return 1 // 0\n"
    )
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n"
    )
    entry = "[fissile.checks]\nbad = broken_plugin:Check\n"
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_text(entry)
    source = tmp_path / "uneven.mlir"
    source.write_text(UNEVEN)
    cpu = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
    done = run(tmp_path, "compile", source, "-o", tmp_path / "out.vmfb", *cpu)
    assert done.returncode == 0 and (tmp_path / "out.vmfb").exists(), done
    assert "FIS902" in done.stderr and "broken-check" in done.stderr and "ZeroDivisionError" in done.stderr
