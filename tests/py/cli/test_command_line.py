"""The table of commands: every option is read, every example parses, help and completion are made from it."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from fissile.cli.command_line.completion import script
from fissile.cli.command_line.help_text import WIDTH, help_text
from fissile.cli.command_line.parser import parser_of
from fissile.cli.command_line.reference import reference
from fissile.cli.command_line.table import COMMANDS
from fissile.cli.main import main
from fissile.errors import UsageError
from fissile.passes.iree.flags import TARGET_FLAGS
from fissile.pipelines.compile.options import OWN
from fissile.pipelines.compile.request import CompileRequest, parse_command_line
from fissile.pipelines.process.limits import limits_taken
from fissile.shared_options import LIMITS

ALL = list(COMMANDS.values())
LLVM_STYLE = {"compile", "reduce"}
"""Commands whose words are iree-compile's."""


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_every_example_is_taken_by_the_command(command):
    assert command.examples
    for example in command.examples:
        words = shlex.split(example.command.removeprefix("source <(").removesuffix(")").split(" > ")[0])
        assert words[0] == "fissile" and words[1] == command.name
        if command.name in LLVM_STYLE:
            request = parse_command_line([word for word in words[2:] if not word.startswith("--dispatch=")])
            assert request.input == "model.mlir" and not request.stock
        else:
            parser_of(command).parse_args(words[2:])


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_help_shows_every_option_and_example_and_fits_a_screen(command, capsys):
    assert main([command.name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text == help_text(command)
    for option in command.all_options:
        assert option.shown in text
    for example in command.examples:
        assert example.command in text
    examples = {example.command for example in command.examples}
    assert [line for line in text.splitlines() if len(line) > WIDTH and line.strip() not in examples] == []


def test_every_command_has_a_module_and_a_sentence(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in ALL:
        assert re.search(rf"^  {command.name} ", text, re.M) and command.sentence.split(":")[0] in text


def test_options_of_compile_are_fields_of_its_request():
    names = {field.name for field in dataclasses.fields(CompileRequest)}
    assert {option.attribute for option in OWN.values()} <= names


@pytest.mark.parametrize("name", sorted(name for name, option in OWN.items() if name != option.name))
def test_old_and_short_spellings_mean_the_same(name):
    option = OWN[name]
    values = {
        "pipelines_after": "=flow:builtin.module(cse)",
        "time_limit": "=5",
        "verify_seeds": "=5",
        "load_passes": "=mine.py",
        "save_temps": "=folder",
        "match_device": "=vulkan",
    }
    value = values[option.attribute] if option.takes_value else ""
    old, new = (parse_command_line(["a.mlir", f"--{spelling}{value}"]) for spelling in (name, option.name))
    assert dataclasses.replace(old, argv=()) == dataclasses.replace(new, argv=())
    assert getattr(old, option.attribute) != getattr(CompileRequest(), option.attribute)


@pytest.mark.parametrize("option", LIMITS, ids=lambda option: option.name)
def test_limits_are_taken_from_every_command(option):
    with limits_taken([f"--{option.name}=0", "check"]) as rest:
        assert rest == ["check"]


@pytest.mark.parametrize(
    "name, flags",
    [
        ("gfx942", ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")),
        ("sm_86", ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_86")),
        ("vulkan", ("--iree-hal-target-device=vulkan",)),
    ],
)
def test_a_target_by_name_sets_the_flags_of_iree(name, flags):
    request = parse_command_line(["a.mlir", "--target", name, "--iree-opt-level=O2"])
    assert request.flags == (*flags, "--iree-opt-level=O2")
    assert any(re.match(TARGET_FLAGS, flag.lstrip("-")) for flag in flags)


def test_the_device_that_is_present_is_a_target():
    request = parse_command_line(["a.mlir", "--target=vulkan:device"])
    assert request.match_device == "vulkan" and "--iree-hal-target-device=vulkan" in request.flags


@pytest.mark.parametrize(
    "words, printed",
    [
        (["--target=gfx9"], "gfx9"),
        (["--target=gfx942", "--iree-hal-target-device=vulkan"], "both name a target"),
        (
            ["--target=gfx942", "--target", "vulkan"],
            "--target=gfx942 and --target=vulkan: a compile is for one",
        ),
        (["--fissile-match-devise=vulkan"], "unknown option"),
    ],
)
def test_a_wrong_target_or_option_is_refused(words, printed):
    with pytest.raises(UsageError, match=re.escape(printed)):
        parse_command_line(["a.mlir", *words])


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1e400", "-inf", "1e12", "", "soon"])
@pytest.mark.parametrize(
    "command, option",
    [(c, o) for c in ALL for o in c.all_options if o.value == "SECONDS"],
    ids=lambda one: one.name,
)
def test_no_command_takes_a_time_without_an_end_or_below_zero(command, option, value, capsys):
    words = [argument.name for argument in command.arguments if argument.count in ("", "+")]
    assert main([command.name, *words, f"--{option.name}={value}"]) == 2
    printed = capsys.readouterr().err
    assert f"{option.name}" in printed and "number of seconds" in printed and "error" in printed


@pytest.mark.parametrize("words", [["verify", "a.mlir", "--seeds=0"], ["compile", "a.mlir", "--verify-seeds=0"],
    ["compile", "a.mlir", "--verify-seeds=1.5"], ["sweep", "a.mlir", "--jobs=0"],
    ["verify", "a.mlir", "--timeout=0"],  # a deadline under test
])  # fmt: skip
def test_a_number_that_leaves_nothing_to_do_is_a_usage_error(words, capsys):
    assert main(words) == 2
    assert f"option '{words[-1].partition('=')[0]}' takes a" in capsys.readouterr().err


def test_zero_is_no_limit_where_the_help_says_so():
    for option in (o for c in ALL for o in c.all_options if o.value == "SECONDS" and "0: none" in o.help):
        assert option in LIMITS or option.read("0") == 0
    assert parse_command_line(["a.mlir", "--dispatch-timeout=2.5"]).dispatch_timeout == 2.5


def test_python_dash_m_is_the_same_program():
    done = subprocess.run([sys.executable, "-m", "fissile", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and re.match(r"fissile \d+\.\d+\.\d+ \(IREE \d", done.stdout)


def test_the_reference_has_every_option():
    text = reference(ALL)
    for command in ALL:
        assert f"## {command.title}" in text
        for option in command.all_options:
            assert f"| `{option.shown.replace('|', chr(92) + '|')}` |" in text


def completed(line: str) -> list[str]:
    """What bash offers at the end of ``line``."""
    words = line.split(" ")
    shown = " ".join(map(shlex.quote, words))
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{script('bash', ALL)}\nCOMP_WORDS=({shown})\nCOMP_CWORD={len(words) - 1}\nCOMP_LINE={shlex.quote(line)}\n"
            'COMP_POINT=${#COMP_LINE}\n_fissile\nprintf "%s\\n" "${COMPREPLY[@]}"',
        ],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    return done.stdout.split()


def test_bash_completes_commands_options_and_values():
    assert completed("fissile ch") == ["check"]
    assert set(completed("fissile ")) == set(COMMANDS)
    assert "--target=" in completed("fissile check --ta")
    assert completed("fissile compile --repair=a") == ["auto"]
    assert completed("fissile explain --str") == ["--strategies"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_take_their_scripts(shell, tmp_path):
    text = script(shell, ALL)
    for command in ALL:
        assert command.name in text and all(option.name in text for option in command.all_options)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its script is not parsed")
    file = tmp_path / "script"
    file.write_text(text)
    subprocess.run([shell, "-n", file], check=True)


@pytest.mark.parametrize("form", [["--dispatch=a_0"], ["--dispatch", "a_0"], ["-dispatch", "a_0"]])
def test_reduce_takes_its_dispatch_in_both_forms(form):
    from fissile.cli.commands.reduce import _without_dispatch

    assert _without_dispatch(["m.mlir", *form, "--target=x"]) == (["m.mlir", "--target=x"], "a_0")
    assert _without_dispatch(["m.mlir", "--dispatch-timeout=3"]) == (["m.mlir", "--dispatch-timeout=3"], "")
    with pytest.raises(UsageError, match="'--dispatch' needs a value"):
        _without_dispatch(["m.mlir", "--dispatch"])


def test_a_value_behind_an_iree_flag_of_verify(tmp_path, monkeypatch):
    """As iree-compile takes it; what is a program stays one."""
    from fissile.cli.commands.verify import _joined

    (tmp_path / "model").write_text("")
    monkeypatch.chdir(tmp_path)
    given = ["a.mlir", "--iree-hal-target-device", "local", "b.mlir", "--iree-opt-const-eval", "model"]
    assert _joined(given) == [
        "a.mlir",
        "--iree-hal-target-device=local",
        "b.mlir",
        "--iree-opt-const-eval",
        "model",
    ]
    assert _joined(["--iree-opt-level=O1", "x", "--seeds", "2", "--iree-x", "--quiet", "c.vmfb"]) == [
        "--iree-opt-level=O1",
        "x",
        "--seeds",
        "2",
        "--iree-x",
        "--quiet",
        "c.vmfb",
    ]
