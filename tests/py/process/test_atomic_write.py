"""Outputs appear whole, in the place where stock iree-compile writes them, and never through a link that somebody planted."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fissile.errors import UsageError
from fissile.pipelines.process import atomic_write
from fissile.pipelines.process.atomic_write import place_of, staged, write_atomically
from fissile.pipelines.process.scratch import scratch

BIN = Path(sys.executable).parent
NOBODY = 65534


def written(path: str | os.PathLike, text: str = "new") -> None:
    write_atomically(path, lambda file: file.write_text(text))


def test_of_a_link_the_file_that_it_leads_to_is_written(tmp_path):
    """As stock does: also where that file, or the folder between them, is elsewhere, or is not there yet."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real").write_text("old")
    (tmp_path / "far" / "second").symlink_to("real")
    (tmp_path / "link").symlink_to("far/second")
    (tmp_path / "dangling").symlink_to("far/not yet")
    written(tmp_path / "link")
    written(tmp_path / "dangling")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "far" / "second").is_symlink()
    assert (tmp_path / "far" / "real").read_text() == (tmp_path / "far" / "not yet").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["dangling", "far", "link"]


def test_links_without_end_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UsageError, match="too many links"):
        place_of(tmp_path / "a")


def test_a_file_keeps_its_modes_and_owner_and_a_new_one_has_the_users(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "old").chmod(0o640)
    owner = NOBODY if os.getuid() == 0 else os.getuid()
    os.chown(tmp_path / "old", owner, -1)
    mask = os.umask(0o027)
    try:
        written(tmp_path / "old")
        written(tmp_path / "fresh")
    finally:
        os.umask(mask)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "fresh")]
    assert modes == [0o640, 0o640] and (tmp_path / "old").read_text() == "new"
    assert (tmp_path / "old").stat().st_uid == owner


def test_what_fails_midway_leaves_the_old_file(tmp_path):
    def fails(file: Path) -> None:
        file.write_text("half")
        raise RuntimeError("on purpose")

    (tmp_path / "old").write_text("old")
    with pytest.raises(RuntimeError):
        write_atomically(tmp_path / "old", fails)
    assert (tmp_path / "old").read_text() == "old" and os.listdir(tmp_path) == ["old"]


def test_nothing_is_opened_where_somebody_else_could_have_put_a_link(tmp_path, monkeypatch):
    """The folder is private and new: one that is there already, under a name that was guessed, is refused."""
    with scratch() as folder, staged(place_of(tmp_path / "o"), folder) as first:
        assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700 and first.parent.parent == tmp_path
        with staged(place_of(tmp_path / "o"), folder) as second:
            assert first.parent != second.parent
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    guessed = tmp_path / f".fissile-{bytes(16).hex()}"
    guessed.mkdir()
    (guessed / "o").symlink_to(victim)
    monkeypatch.setattr(atomic_write.os, "urandom", lambda count: bytes(count))
    with pytest.raises(UsageError, match="File exists"), staged(place_of(tmp_path / "o"), tmp_path):
        pytest.fail("a folder of somebody else's was used")
    assert victim.read_text() == "untouched" and (guessed / "o").is_symlink()


def test_devices_pipes_and_descriptors_are_written_to(tmp_path):
    reading, writing = os.pipe()
    with open(tmp_path / "file", "w+") as file:
        for path in (os.devnull, f"/dev/fd/{writing}", f"/dev/fd/{file.fileno()}"):
            assert place_of(path).in_place
            written(path)
        os.unlink(tmp_path / "file")  # a descriptor may be all that there is of a file
        written(f"/proc/self/fd/{file.fileno()}", "newer")
        assert file.read() == "newer"
    os.close(writing)
    assert os.read(reading, 100) == b"new" and not stat.S_ISREG(os.stat(os.devnull).st_mode)
    os.close(reading)


@pytest.mark.parametrize("path, why", [
    ("nothere/o", "no directory nothere"), (".", "it is a directory"), ("/dev/fd/999", "no such descriptor"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_before_there_is_anything_to_write(
    tmp_path, monkeypatch, path, why
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=why):
        place_of(path)


AS_NOBODY = """
import os, sys
from pathlib import Path
from fissile.errors import UsageError
from fissile.pipelines.process.atomic_write import write_atomically
for path in sys.argv[1:]:
    try:
        write_atomically(path, lambda file: file.write_text("new"))
        print("written")
    except UsageError as error:
        print(error.message.rpartition(": ")[2])
"""


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs root, to be somebody else")
def test_an_ordinary_user_writes_what_stock_writes(tmp_path):
    """A file in a folder that takes no new ones, a device, another user's file in a sticky folder; and not what is forbidden."""
    closed, sticky = tmp_path / "closed", tmp_path / "sticky"
    closed.mkdir()
    sticky.mkdir()
    for folder, modes in ((closed, 0o755), (sticky, 0o1777)):
        (folder / "open").write_text("old, and longer")
        (folder / "open").chmod(0o666)
        (folder / "forbidden").write_text("old")
        folder.chmod(modes)
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    reading, writing = os.pipe()  # root's
    paths = [
        f"/dev/fd/{writing}",
        closed / "open",
        "/dev/null",
        sticky / "open",
        closed / "forbidden",
        closed / "fresh",
        sticky / "fresh",
    ]
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    command = [*user, sys.executable, "-c", AS_NOBODY, *paths]
    environment = os.environ | {"TMPDIR": str(sticky)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd="/", pass_fds=[writing]
    )
    os.close(writing)
    with open(reading) as piped:
        received = piped.read()
    if "Permission denied" in done.stderr:
        pytest.skip("another user may not run this environment's Python")
    assert done.stdout.splitlines() == ["written"] * 4 + ["permission denied"] * 2 + ["written"], done.stderr
    assert received == (closed / "open").read_text() == (sticky / "open").read_text() == "new"
    assert sorted(os.listdir(sticky)) == ["forbidden", "fresh", "open"]


ADD = """
func.func @add(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.addf %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
"""


@pytest.mark.parametrize("places", [("/dev/null", "/dev/null"), ("/dev/fd/1", "/dev/stderr")])
def test_a_compile_writes_to_devices_and_descriptors(tmp_path, places):
    from programs import run_program

    (tmp_path / "add.mlir").write_text(ADD)
    output, emitted = places
    done = run_program(
        [BIN / "fissile", "compile", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx",
         "add.mlir", "-o", output, f"--emit-mlir={emitted}"],
        cwd=tmp_path, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0 and os.listdir(tmp_path) == ["add.mlir"], done.stderr
    assert (len(done.stdout) > 1000) == (output != "/dev/null")
    assert (b"util.func" in done.stderr) == (emitted != "/dev/null")
