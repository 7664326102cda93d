"""The file of answers: kept and found again, bounded, shared by processes, and harmless when it is broken."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sqlite3
import subprocess
import sys

import pytest

from fissile.cli.commands import cache as cache_command
from fissile.pipelines.cache import store
from fissile.pipelines.cache.keys import key_of


@pytest.fixture(autouse=True)
def answers(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "answers.sqlite"


def test_what_is_kept_is_found_again(answers):
    assert store.recall("a") is None and not answers.exists()  # to look makes no file
    store.keep("a", {"x": [1, None, "é"]})
    assert store.recall("a") == {"x": [1, None, "é"]} and store.recall("b") is None
    store.keep("a", 2)
    assert store.recall("a") == 2 and store.totals()[0] == 1
    assert answers.parent.stat().st_mode & 0o777 == 0o700


def test_off_keeps_nothing(answers, monkeypatch):
    store.keep("a", 1)
    monkeypatch.setenv(store.VARIABLE, "off")
    store.keep("b", 1)
    assert store.recall("a") is None and store.totals() == (0, 0)
    monkeypatch.setenv(store.VARIABLE, str(answers.parent))
    assert store.recall("a") == 1 and store.recall("b") is None


def test_forgotten_is_gone(answers):
    store.keep("a", 1)
    store.forget_all()
    assert not answers.exists() and store.recall("a") is None
    store.keep("a", 3)
    assert store.recall("a") == 3


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
@pytest.mark.parametrize("what", ["folder", "file", "link", "pipe", "owner", "journal"])
def test_what_another_user_may_have_written_is_no_answer(what, answers, tmp_path, monkeypatch, capsys):
    """A module that is taken from here is loaded with the rights of the user."""
    store.keep("a", 1)
    kept = answers.read_bytes()
    if what == "folder":
        answers.parent.chmod(0o777)
    elif what == "file":
        answers.parent.chmod(0o755)
        answers.chmod(0o666)
    elif what == "link":
        answers.rename(tmp_path / "elsewhere")
        answers.symlink_to(tmp_path / "elsewhere")
    elif what == "pipe":
        answers.unlink()
        os.mkfifo(answers)
    elif what == "journal":
        (tmp_path / "other").write_bytes(b"journal")
        answers.with_name(answers.name + "-journal").symlink_to(tmp_path / "other")
    else:
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)
        if not own:  # root's files are everybody's to trust
            os.chown(answers, 12345, 12345)
    assert store.recall("a") is None and store.totals() == (0, 0)
    store.keep("a", 2)  # and nothing is written there
    if what != "pipe":
        assert answers.read_bytes() == kept
    assert cache_command.run(argparse.Namespace(clear=False, path=False)) == 0
    assert "others than you may write" in capsys.readouterr().out


@pytest.mark.parametrize(("folder", "file"), [(0o750, 0o640), (0o700, 0o664)])
def test_who_may_read_or_not_enter_is_no_reason(answers, folder, file):
    store.keep("a", 1)
    answers.parent.chmod(folder)
    answers.chmod(file)
    assert store.recall("a") == 1


@pytest.mark.parametrize(
    "damage",
    [
        b"this is no database",
        b"",
        b"SQLite format 3\0" + b"\xff" * 5000,
    ],
)
def test_a_file_that_is_no_database_is_a_miss_and_is_replaced(answers, damage):
    store.keep("a", 1)
    answers.write_bytes(damage)
    assert store.recall("a") is None
    store.keep("a", 2)
    store.keep("a", 2)
    assert store.recall("a") == 2


def test_every_place_of_the_file_may_be_broken(answers):
    """A byte that flips leads to the answer that was kept, or to none: never to another one, and never to an error."""
    for number in range(20):
        store.keep(f"key{number}", {"number": number, "text": "x" * 300})
    whole = answers.read_bytes()
    for place in range(0, len(whole), 397):
        answers.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        for number in (0, 7, 19):
            found = store.recall(f"key{number}")
            assert found in (None, {"number": number, "text": "x" * 300})
        for leftover in answers.parent.iterdir():
            leftover.unlink()


def test_an_entry_with_another_checksum_is_a_miss(answers):
    store.keep("a", {"edits": []})
    with sqlite3.connect(answers) as database:
        database.execute("UPDATE answers SET value = ?", (json.dumps({"edits": ["other"]}).encode(),))
    assert store.recall("a") is None and store.totals()[0] == 0


class Executed:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_nothing_in_it_is_executed(answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.keep("a", 1)
    data = pickle.dumps(Executed())
    with sqlite3.connect(answers) as database:
        database.execute("UPDATE answers SET value = ?, sum = ?", (data, store._sum("a", data)))
    assert store.recall("a") is None and not (tmp_path / "executed").exists()


def test_it_is_bounded_and_the_least_used_goes_first(monkeypatch):
    monkeypatch.setattr(store, "MOST_BYTES", 10_000)
    now = iter(range(10**6, 10**7, 10**4))
    monkeypatch.setattr(store.time, "time", lambda: next(now))
    for number in range(9):
        store.keep(f"key{number}", "x" * 1000)
    assert store.recall("key0") is not None  # used just now
    for number in range(9, 12):
        store.keep(f"key{number}", "x" * 1000)
    assert store.totals()[1] <= 10_000
    assert store.recall("key0") is not None and store.recall("key1") is None and store.recall("key11")


def test_a_huge_answer_is_not_kept(monkeypatch):
    monkeypatch.setattr(store, "MOST_ENTRY", 1000)
    store.keep("a", "x" * 1000)
    assert store.totals() == (0, 0)


def test_a_folder_that_cannot_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "file" / "cache"))
    store.keep("a", 1)
    assert store.recall("a") is None and store.totals() == (0, 0)


def test_a_locked_file_is_a_miss(answers, monkeypatch):
    store.keep("a", 1)
    monkeypatch.setattr(store, "_WAIT_SECONDS", 0.01)
    with sqlite3.connect(answers, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert store.recall("a") is None
        store.keep("b", 2)
    assert store.recall("a") == 1 and store.recall("b") is None  # not removed


WRITER = """
import sys
from fissile.pipelines.cache import store
store._WAIT_SECONDS = 120.0
for number in range(40):
    store.keep(f"{sys.argv[1]} {number}", [sys.argv[1], number])
    store.keep("shared", [sys.argv[1], "x" * 1000])
"""


def test_processes_share_it():
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, name]) for name in "abcd"]
    assert [writer.wait(300) for writer in writers] == [0] * 4
    for name in "abcd":
        for number in range(40):
            assert store.recall(f"{name} {number}") == [name, number]
    assert store.recall("shared")[1] == "x" * 1000 and store.totals()[0] == 161


def test_a_key_depends_on_everything_that_it_is_given(monkeypatch):
    from fissile.pipelines.cache import keys

    known = {
        key_of("check", b"program", ["--flag"]),
        key_of("repair", b"program", ["--flag"]),
        key_of("check", b"program", ["--other"]),
        key_of("check", b"Program", ["--flag"]),
        key_of("check", b"program", "--flag"),
        key_of("check", b'program5:["a"]', []),
    }
    assert len(known) == 6 and key_of("check", b"program", ["--flag"]) in known
    monkeypatch.setattr(keys, "ours", lambda: ["another version"])
    assert key_of("check", b"program", ["--flag"]) not in known


def test_a_change_of_fissiles_source_is_another_version(tmp_path, monkeypatch):
    from fissile.pipelines.cache import keys

    (tmp_path / "a.py").write_text("1")
    monkeypatch.setattr(keys, "_roots", lambda: [str(tmp_path)])
    keys.ours.cache_clear()
    before = keys.ours()
    (tmp_path / "a.py").write_text("12")
    keys.ours.cache_clear()
    assert keys.ours() != before
    keys.ours.cache_clear()
