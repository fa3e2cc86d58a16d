"""What may be typed to compare reports and to run workloads night after night."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.errors import did_you_mean

if TYPE_CHECKING:
    from reportgen.history.model import ReportDifference

COMPARISON_FORMATS = ("html", "pdf", "json", "md")
_GATES = ("regression", "memory")
_FINDING_GATE = "finding:"


def add_two_reports(parser: argparse.ArgumentParser) -> None:
    """Add BASE and NEW."""
    parser.add_argument("base", type=Path, metavar="BASE", help="a report's folder, or its report.json")
    parser.add_argument("new", type=Path, metavar="NEW", help="the report to compare with it")


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add what says how a comparison is wanted."""
    parser.add_argument(
        "--format",
        type=_formats,
        dest="formats",
        metavar="html,pdf,json,md",
        help="the documents to write (default: all)",
    )
    add_gates(parser)
    parser.add_argument("--quiet", action="store_true", help="no summary: paths and errors only")
    parser.add_argument("--open", action="store_true", help="open the comparison when it is written")


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


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in formats:
        if name not in COMPARISON_FORMATS:
            hint = did_you_mean(name, COMPARISON_FORMATS)
            raise argparse.ArgumentTypeError(f"no format {name!r}; there are {', '.join(COMPARISON_FORMATS)}.{hint}")
    if not formats:
        raise argparse.ArgumentTypeError(f"name at least one of {', '.join(COMPARISON_FORMATS)}")
    return formats


def _gate(text: str) -> str:
    from reportgen.findings.rules import RULES

    rules = [f"{_FINDING_GATE}{rule.id}" for rule in RULES]
    if text not in (*_GATES, *rules):
        hint = did_you_mean(text, [*_GATES, *rules])
        raise argparse.ArgumentTypeError(f"no gate {text!r}; there are regression, memory and finding:RULE.{hint}")
    return text
