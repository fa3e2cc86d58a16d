"""Every operator of a report as CSV, for those who sort and sum for themselves."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.analysis.model import Operator, Source
    from reportgen.report.model import Report

FILE_NAME = "operators.csv"
_COLUMNS = (
    "case", "name", "input_shapes", "input_types", "input_strides", "module", "direction", "calls_per_step",
    "device_calls_per_step", "device_us_per_step", "share_of_device", "host_us_per_step", "share_of_host", "flops",
    "bytes", "intensity",
    "flops_per_s", "bytes_per_s", "bound", "ceiling", "roof_us", "roof_share", "kernels", "source",
)  # fmt: skip
# A spreadsheet takes a text that begins so for a formula, and names come from outside.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def encode_operators(report: Report) -> bytes:
    """Return a row for each operator at each signature of each case, with report.json's names, units and figures.

    What was not recorded is empty, as a figure is never 0 for that. Lists are parted by spaces, and the text of a name
    that a spreadsheet would run as a formula begins with an apostrophe.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for case in report.cases:
        for operator in case.operators.items:
            values = {"case": case.name, **dict(_values(operator))}
            writer.writerow([_cell(values[column]) for column in _COLUMNS])
    return stream.getvalue().encode("utf-8", "replace")


def _values(operator: Operator) -> Iterator[tuple[str, object]]:
    for column in _COLUMNS[1:]:
        yield column, getattr(operator, column)
    yield "input_shapes", _dimensions(operator.input_shapes)
    yield "input_strides", _dimensions(operator.input_strides)
    yield "input_types", " ".join(operator.input_types or ())
    yield "kernels", "; ".join(operator.kernels)
    yield "source", _place(operator.source)


def _dimensions(shapes: Sequence[Sequence[int]] | None) -> str:
    return " ".join("x".join(map(str, shape)) or "scalar" for shape in shapes or ())


def _place(source: Source | None) -> str:
    return f"{source.function} ({source.line_kind} at {source.file}:{source.line})" if source else ""


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
