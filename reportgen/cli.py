"""The command line: parse, call, print. What the commands do is in `pipeline` and `doctor`.

Nothing heavy is imported before the command that needs it runs, so ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from reportgen import __version__
from reportgen.errors import ReportgenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130
DEFECT = 70
_DEFAULT_OUTPUT = Path("reports")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever is raised becomes one line on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    try:
        return _run(words)
    except ReportgenError as error:
        if debug:
            traceback.print_exc()
        _complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; a traceback at the interpreter's exit would be noise.
        sys.stdout = None
        return 0
    except Exception as error:  # noqa: BLE001 - a boundary named in the design: a defect is one line and a log
        if debug:
            traceback.print_exc()
        _complain(f"a defect in reportgen: {type(error).__name__}: {error}; {_write_log(words)}")
        return DEFECT


def _run(words: list[str]) -> int:
    arguments = _parser().parse_args(_with_command(words))
    code: int = arguments.call(arguments)
    return code


def _complain(text: str) -> None:
    print(f"reportgen: {text}", file=sys.stderr)  # noqa: T201 - the command line prints


def _print(text: str) -> None:
    print(text)  # noqa: T201 - the command line prints


def _write_log(words: Sequence[str]) -> str:
    """Keep the current traceback in a file of its own, and say where."""
    log = Path(tempfile.gettempdir()) / f"reportgen-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.log"
    content = f"reportgen {__version__}, Python {sys.version}\narguments: {list(words)}\n\n{traceback.format_exc()}"
    try:
        log.write_text(content, encoding="utf-8")
    except OSError:
        return "run it again with --debug to see where"
    return f"the log is {log}"


# What was typed


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are usage errors of reportgen, in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; {self.prog} --help says more")


def _with_command(words: list[str]) -> list[str]:
    """Return `words` with the default command put before a workload; raise `UsageError` for a word that is nothing."""
    if not words:
        raise UsageError("name a workload or a command; reportgen --help lists the commands")
    if words[0] in COMMANDS or words[0] in ("-h", "--help", "--version"):
        return words
    return words


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="reportgen",
        description="Profile a PyTorch workload and write the report of what limits its step.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"reportgen {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (summary, add_arguments, call) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        add_arguments(command)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
        command.set_defaults(call=call)
    return parser


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="the folder that reports are written to (default: reports/)"
    )


# The commands


def _doctor(arguments: argparse.Namespace) -> int:
    from reportgen import doctor

    ready = True
    for check in doctor.examine(arguments.output or _DEFAULT_OUTPUT):
        _print(f"{check.state:<8} {check.subject:<13} {check.text}")
        ready = ready and check.state != "missing"
    return 0 if ready else 1


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "doctor": ("is this machine ready: each line says what to do", _add_output, _doctor),
}
