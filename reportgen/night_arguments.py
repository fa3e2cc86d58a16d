"""What may be typed to compare reports and to run workloads night after night."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.arguments import formats_of, number_of
from reportgen.errors import did_you_mean
from reportgen.pipeline.wishes import FORMATS

if TYPE_CHECKING:
    from reportgen.history.model import ReportDifference

COMPARISON_FORMATS = (*FORMATS, "md")
_GATES = ("regression", "memory")
_FINDING_GATE = "finding:"
# Nobody is there to end a case that hangs.
CASE_LIMIT_S = 1800.0
_MOST_DAYS = 36500


def add_two_reports(parser: argparse.ArgumentParser) -> None:
    """Add BASE and NEW."""
    parser.add_argument("base", type=Path, metavar="BASE", help="a report's folder, or its report.json")
    parser.add_argument("new", type=Path, metavar="NEW", help="the report to compare with it")


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add what says how a comparison is wanted."""
    parser.add_argument(
        "--format",
        type=formats_of(COMPARISON_FORMATS),
        dest="formats",
        metavar="html,pdf,json,md",
        help="the documents to write (default: all)",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        help="the history that knows the spread between nights: a file or postgresql://… (default: 8 %% is assumed)",
    )
    add_gates(parser)
    parser.add_argument("--quiet", action="store_true", help="no summary: paths and errors only")
    parser.add_argument("--open", action="store_true", help="open the comparison when it is written")


def add_workloads(parser: argparse.ArgumentParser) -> None:
    """Add WORKLOAD, any number of times."""
    parser.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help="a .py file or a name (default: all that are found)",
    )


def add_night(parser: argparse.ArgumentParser) -> None:
    """Add what a night is told beside what is run."""
    add_gates(parser)
    parser.add_argument(
        "--store", metavar="URL", help="the history: a file or postgresql://… (default: history.sqlite in DIR)"
    )
    parser.add_argument(
        "--repeats",
        type=_repeats,
        default=1,
        metavar="N",
        help="measure each workload N times: smaller changes of the step time are told in fewer nights (default: 1)",
    )
    parser.add_argument(
        "--notify",
        metavar="COMMAND",
        help="a shell command that gets the night's summary as JSON on its stdin",
    )
    parser.add_argument(
        "--wait",
        type=_seconds,
        default=600.0,
        metavar="SECONDS",
        help="for another night to end and for other processes to leave the GPU (default: 600)",
    )
    parser.add_argument(
        "--keep-traces",
        type=_days,
        default=14,
        metavar="DAYS",
        help="then a report keeps only its documents (default: 14)",
    )
    parser.add_argument(
        "--keep-history", type=_days, default=730, metavar="DAYS", help="then a night is forgotten (default: 730)"
    )


def add_gates(parser: argparse.ArgumentParser) -> None:
    """Add --fail-on."""
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        type=_gate,
        dest="gates",
        metavar="regression|memory|finding:RULE",
        help="end with exit code 1 where that came up (repeatable)",
    )


def fails(difference: ReportDifference, gates: Sequence[str]) -> bool:
    """Tell whether a comparison shows what one of the `gates` asks for."""
    rows = [row for case in difference.cases for row in case.differences if row.verdict == "worse"]
    came = {f"{_FINDING_GATE}{row.rule}" for row in difference.findings if row.state == "new"}
    came |= {"regression"} if rows else set()
    came |= {"memory"} if any(row.quantity == "peak_memory" for row in rows) else set()
    return not came.isdisjoint(gates)


def _seconds(text: str) -> float:
    number = number_of(text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return number


def _repeats(text: str) -> int:
    from reportgen.history.store.reading import MOST_REPEATS

    if not text.isdecimal() or not 1 <= int(text) <= MOST_REPEATS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {MOST_REPEATS}")
    return int(text)


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of days up to {_MOST_DAYS}")
    return int(text)


def _gate(text: str) -> str:
    from reportgen.findings.rules import RULES

    rules = [f"{_FINDING_GATE}{rule.id}" for rule in RULES]
    if text not in (*_GATES, *rules):
        hint = did_you_mean(text, [*_GATES, *rules])
        raise argparse.ArgumentTypeError(f"no gate {text!r}; there are regression, memory and finding:RULE.{hint}")
    return text
