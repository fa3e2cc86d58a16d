"""Parse, call, and turn whatever is raised into one line and an exit code."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen import __version__, arguments
from reportgen.cli.commands import COMMANDS
from reportgen.cli.options import workload_names
from reportgen.cli.output import complain
from reportgen.cli.streams import settle_errors, steady_streams
from reportgen.errors import ReportgenError

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFECT = 70
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever is raised becomes one line on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    steady_streams()
    try:
        return _run(words)
    except ReportgenError as error:
        if debug:
            traceback.print_exc()
        complain(str(error), error)
        return error.exit_code
    except KeyboardInterrupt as error:
        complain("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; a traceback at the interpreter's exit would be noise.
        sys.stdout = None
        return 0
    except Exception as error:  # noqa: BLE001 - a boundary (docs/design.md): a defect is one line and a log
        if debug:
            traceback.print_exc()
        complain(f"a defect in reportgen: {type(error).__name__}: {error}; {_write_log(words)}", error)
        return DEFECT
    finally:
        settle_errors()


def _run(words: list[str]) -> int:
    words = arguments.with_command(words, COMMANDS, workload_names)
    parsed = arguments.make_parser(COMMANDS).parse_args(words)
    # What the report repeats as the way to make it again; how it was watched is no part of that.
    repeated = [word for word in words if word not in ("--quiet", "--open", "--debug")]
    parsed.command_line = shlex.join(["python", "-m", "reportgen", *repeated])
    code: int = parsed.call(parsed)
    return code


def _write_log(words: Sequence[str]) -> str:
    """Keep the current traceback in a file of its own, and say where."""
    log = Path(tempfile.gettempdir()) / f"reportgen-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.log"
    content = f"reportgen {__version__}, Python {sys.version}\narguments: {list(words)}\n\n{traceback.format_exc()}"
    try:
        log.write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return "run it again with --debug to see where"
    return f"the log is {log}"
