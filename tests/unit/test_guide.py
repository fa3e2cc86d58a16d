"""docs/guide.md lists every command and every option of it, and nothing else."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from reportgen.arguments import Command, make_parser
from reportgen.cli import COMMANDS

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## .*\n", GUIDE.split(f"## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(title: str) -> list[list[str]]:
    """Return the cells of the table in a section, its head left out."""
    lines = [line for line in section(title).splitlines() if line.startswith("| ")]
    return [
        [cell.replace(r"\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[1:]
        if not line.startswith("| ---")
    ]


def actions(command: Command) -> list[argparse.Action]:
    parser = argparse.ArgumentParser(add_help=False)
    for add in command.options:
        add(parser)
    return parser._actions


def documented() -> set[tuple[str, str]]:
    """Return each (command, option) of the guide's table; `nightly` takes those of `run` too, as it says below it."""
    found = set()
    for options, commands, _ in rows("Options"):
        names = COMMANDS if commands == "all" else commands.split(", ")
        found |= {(name, option) for name in names for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", options)}
    assert "`nightly` takes the options of `run` too" in section("Options")
    return found | {("nightly", option) for name, option in found if name == "run"}


def test_the_guide_names_every_option_of_every_command_and_no_other() -> None:
    real = {
        (name, option) for name, one in COMMANDS.items() for action in actions(one) for option in action.option_strings
    }
    real |= {(name, "--debug") for name in COMMANDS}

    assert documented() == real


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_debug(name: str) -> None:
    words = [name, "--debug", *("x" for _ in positionals(COMMANDS[name]))]

    assert make_parser(COMMANDS).parse_args(words).debug


def test_what_an_option_takes_is_called_the_same_in_the_guide_and_in_the_help() -> None:
    takes = {
        option: action.metavar
        for command in COMMANDS.values()
        for action in actions(command)
        for option in action.option_strings
        if action.metavar
    }
    takes["--format"] = "html,pdf,json"  # `compare` also knows md, as the guide says
    pattern = re.compile(r"`(?:-o`, `)?(--[a-z-]+)(?: ([^`]+))?`")
    written = {match[1]: match[2] for cells in rows("Options") for match in pattern.finditer(cells[0])}

    assert {option: metavar for option, metavar in written.items() if metavar} == {
        option: metavar for option, metavar in takes.items() if option.startswith("--")
    }


def test_the_guide_names_every_command_with_what_it_takes() -> None:
    written = {}
    for words, _ in rows("Commands"):
        name, *takes = words.strip("`").removeprefix("python -m reportgen ").split(maxsplit=1)
        written[name.strip("[]")] = "".join(takes)

    assert written == {name: " ".join(map(takes_word, positionals(command))) for name, command in COMMANDS.items()}


def positionals(command: Command) -> list[argparse.Action]:
    return [action for action in actions(command) if not action.option_strings]


def takes_word(action: argparse.Action) -> str:
    return f"[{action.metavar} …]" if action.nargs in ("*", argparse.REMAINDER) else str(action.metavar)
