"""What may be typed: the options, each defined once, and what a first word means."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from reportgen import __version__
from reportgen.errors import UsageError, did_you_mean
from reportgen.pipeline.wishes import FORMATS
from reportgen.recording import ALTERNATIVES, VARIANT_PREFIX
from reportgen.resources import DEFAULT_OUTPUT, is_folder

DEFAULT_COMMAND = "run"
_ALONE = ("-h", "--help", "--version")

AddOption = Callable[[argparse.ArgumentParser], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """One command: its line in the help, what it takes, and what it does; `call` returns the exit code."""

    summary: str
    options: Sequence[AddOption]
    call: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are usage errors of reportgen, in one line."""

    _words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as ever, but complain of what is left over here, where this command's own options are known."""
        self._words = tuple(args or ())
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return parsed, left

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` in place of printing the usage, with the option that may be meant."""
        hint = self._meant() if message.startswith(("unrecognized", "the following arguments are required")) else ""
        raise UsageError(f"{message}{f'.{hint}' if hint else ';'} {self.prog} --help says more")

    def _meant(self) -> str:
        """Return "Did you mean …?" for the first word that looks like an option, is none, and is close to one."""
        options = [*self._option_string_actions, *_ALONE]
        written = (word.partition("=")[0] for word in self._words if word.startswith("--"))
        hints = (did_you_mean(option, options) for option in written if option not in options)
        return next(filter(None, hints), "")


def make_parser(commands: Mapping[str, Command]) -> Parser:
    """Return the parser of all `commands`; what it returns has the command's function as ``call``."""
    parser = Parser(
        prog="reportgen",
        description="Profile a PyTorch workload and write the report of what limits its step. "
        "The command run may be left out: reportgen workloads/gpt2.py",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"reportgen {__version__}")
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in commands.items():
        its_parser = chosen.add_parser(name, help=command.summary, description=command.summary, allow_abbrev=False)
        for add_option in command.options:
            add_option(its_parser)
        its_parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
        its_parser.set_defaults(call=command.call)
    return parser


def with_command(
    words: Sequence[str], commands: Collection[str], workload_names: Callable[[], Sequence[str]]
) -> list[str]:
    """Return `words` with the default command put before a workload or its options.

    `workload_names` is asked only where the first word is neither a command nor a path. Raises `UsageError` for a word
    that is nothing at all.
    """
    if not words or not words[0].strip():
        raise UsageError("name a workload or a command; reportgen --help lists the commands")
    first = words[0]
    if first in commands or first in _ALONE:
        return list(words)
    if first.startswith("-"):
        return [DEFAULT_COMMAND, *words]
    path = Path(first)
    if first.endswith((".json", ".json.gz")) or is_folder(path):
        raise UsageError(f"{first} is no workload. Did you mean reportgen analyze {first}?")
    if path.suffix == ".py" or len(path.parts) > 1:
        return [DEFAULT_COMMAND, *words]
    names = workload_names()
    if first in names:
        return [DEFAULT_COMMAND, *words]
    hint = did_you_mean(first, [*commands, *names]) or " reportgen --help lists the commands, reportgen list workloads."
    raise UsageError(f"{first!r} is neither a path, a workload nor a command.{hint}")


# The options, each under the one name that it has in every command


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Add WORKLOAD."""
    parser.add_argument("workload", metavar="WORKLOAD", help="a .py file, or a name that reportgen list prints")


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add PATH and --memory."""
    parser.add_argument(
        "path", type=Path, metavar="PATH", help="a torch.profiler trace (.json, .json.gz) or a recording"
    )
    parser.add_argument(
        "--memory", type=Path, metavar="SNAPSHOT", help="the allocator's history beside it (.pickle, .pickle.gz)"
    )


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add RECORDING."""
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="a recording, or the folder of its report")


def add_whatif(parser: argparse.ArgumentParser) -> None:
    """Add REPORT and --remove."""
    parser.add_argument("report", type=Path, metavar="REPORT", help="a report's folder, or its report.json")
    parser.add_argument(
        "--remove",
        type=_names,
        default=(),
        metavar="RULE,…",
        help="only the fixes of these rules, in this order (default: all, the one that gives most first)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress: the table and errors only")


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def add_script(parser: argparse.ArgumentParser) -> None:
    """Add SCRIPT with its own arguments, and how its steps are told."""
    parser.add_argument("--device", default="auto", metavar="auto|cuda|cuda:N|cpu", help="default: auto")
    parser.add_argument(
        "--step-of",
        metavar="FUNCTION",
        help="each call of it is a step; a function of the script, or module.function (default: what repeats)",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a .py file, run unchanged")
    parser.add_argument("script_arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="passed on to it")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add --output."""
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", default=DEFAULT_OUTPUT, help="where reports go (default: reports/)"
    )


def add_output_beside(parser: argparse.ArgumentParser) -> None:
    """Add --output for a command that writes beside its input."""
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="where reports go (default: beside the recording)"
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add what chooses device, cases and parameters of a run."""
    parser.add_argument("--device", default="auto", metavar="auto|cuda|cuda:N|cpu", help="default: auto")
    parser.add_argument(
        "--case", action="append", default=[], dest="cases", metavar="NAME", help="only this case (repeatable)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="[CASE.]KEY=VALUE",
        help="a parameter of the cases that declare it; VALUE is JSON, else text (repeatable)",
    )
    parser.add_argument(
        "--sweep",
        action="append",
        default=[],
        dest="sweeps",
        metavar="[CASE.]KEY=V1,V2,…",
        help="a case for each value; several sweeps multiply (repeatable)",
    )
    parser.add_argument(
        "--try",
        type=_alternatives,
        dest="alternatives",
        metavar="NAME,…|none",
        help="the alternatives to measure, also variant:NAME (default: those that a finding suggests)",
    )
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="end a case that takes longer")


def _alternatives(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    names = _names(text)
    for name in names:
        if name not in ALTERNATIVES and not name.startswith(VARIANT_PREFIX):
            hint = did_you_mean(name, ALTERNATIVES)
            raise argparse.ArgumentTypeError(f"no alternative is called {name!r}; there are {', '.join(ALTERNATIVES)}."
                                             f"{hint}")  # fmt: skip
    return names


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add what says how a report is wanted."""
    parser.add_argument(
        "--format",
        type=formats_of(FORMATS),
        dest="formats",
        metavar="html,pdf,json",
        help="the documents to write (default: all)",
    )
    parser.add_argument(
        "--threshold",
        action="append",
        default=[],
        type=_threshold,
        dest="thresholds",
        metavar="RULE.NAME=VALUE",
        help="judge by another threshold (repeatable)",
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="leave host, user and home directories out of the documents"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary: paths and errors only")
    parser.add_argument("--open", action="store_true", help="open the report when it is written")


def formats_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what reads "html,pdf", each one of the `known` formats and named once."""

    def read(text: str) -> tuple[str, ...]:
        formats = _names(text)
        for name in formats:
            if name not in known:
                hint = did_you_mean(name, known)
                raise argparse.ArgumentTypeError(f"no format {name!r}; there are {', '.join(known)}.{hint}")
        if not formats:
            raise argparse.ArgumentTypeError(f"name at least one of {', '.join(known)}")
        return formats

    return read


def _threshold(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    number = number_of(value)
    if not equals or "." not in name or number is None:
        raise argparse.ArgumentTypeError(f"{text!r}: write RULE.NAME=VALUE with a number")
    return name, number


def _seconds(text: str) -> float:
    number = number_of(text)
    if number is None or number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def number_of(text: str) -> float | None:
    """Return a finite number, or None where `text` is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
