"""Completion scripts for bash, zsh and fish, made from the table of commands."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.option import Option

from .declaration import Command


def script(shell: str, commands: Iterable[Command]) -> str:
    """What `fissile completion SHELL` prints. Raises KeyError for another shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(commands))


def _words(command: Command) -> list[str]:
    """What completes a word of ``command`` that begins with a dash: options with a value end in `=`."""
    return [
        f"--{option.name}=" if option.takes_value else f"--{option.name}" for option in command.all_options
    ]


def _choices(commands: list[Command]) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (command.name, option.name): option.choices
        for command in commands
        for option in command.all_options
        if option.choices
    }


def _bash(commands: list[Command]) -> str:
    names = " ".join(command.name for command in commands)
    options = "\n".join(f"    {command.name}) words='{' '.join(_words(command))}' ;;" for command in commands)
    values = "\n".join(
        f"    {command}:--{option}) words='{' '.join(choices)}' ;;"
        for (command, option), choices in _choices(commands).items()
    )
    return f"""\
# bash completion of fissile: source <(fissile completion bash)
_fissile() {{
  local line=${{COMP_LINE:0:COMP_POINT}} command=${{COMP_WORDS[1]}} word words=
  COMPREPLY=()
  word=${{line##* }}
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W '{names}' -- "$word"))
    return
  fi
  case $word in
  --*=*)
    case $command:${{word%%=*}} in
{values}
    *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "${{word#*=}}")); return ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{word#*=}}")) ;;
  -*)
    case $command in
{options}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    case ${{COMPREPLY[0]-}} in *=) compopt -o nospace 2>/dev/null ;; esac ;;
  *)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -F _fissile fissile
"""


def _zsh(commands: list[Command]) -> str:
    named = "\n".join(f"    {_quoted(f'{c.name}:{c.sentence}')}" for c in commands)
    cases = "\n".join(
        f"  {command.name}) _arguments -S {' '.join(_zsh_option(o) for o in command.all_options)} '*:file:_files' ;;"
        for command in commands
    )
    return f"""\
#compdef fissile
# zsh completion of fissile: source <(fissile completion zsh)
_fissile() {{
  local -a commands
  commands=(
{named}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  words=("${{(@)words[2,-1]}}")
  (( CURRENT -= 1 ))
  case $command in
{cases}
  esac
}}
compdef _fissile fissile
"""


def _zsh_option(option: Option) -> str:
    text = "".join("\\" + c if c in "[]:\\" else c for c in option.help)
    head = f"{'*' if option.repeated else ''}--{option.name}"
    if not option.takes_value:
        return _quoted(f"{head}[{text}]")
    action = f"({' '.join(option.choices)})" if option.choices else ("_files" if option.takes_file else " ")
    return _quoted(f"{head}=[{text}]:{(option.value or option.name).replace(':', ' ')}:{action}")


def _fish(commands: list[Command]) -> str:
    lines = [
        "# fish completion of fissile: fissile completion fish > ~/.config/fish/completions/fissile.fish"
    ]
    for command in commands:
        lines.append(
            f"complete -c fissile -n __fish_use_subcommand -f -a {command.name} -d {_fish_quoted(command.sentence)}"
        )
    for command in commands:
        for option in command.all_options:
            value = ""
            if option.takes_value:
                value = " -r" if option.takes_file else " -x"
                value += f" -a {_fish_quoted(' '.join(option.choices))}" if option.choices else ""
            short = f" -s {option.short}" if option.short else ""
            lines.append(
                f"complete -c fissile -n '__fish_seen_subcommand_from {command.name}' -l {option.name}{short}{value}"
                f" -d {_fish_quoted(option.help)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
