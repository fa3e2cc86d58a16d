"""docs/report-json.md against the model that report.json is written from."""

import re
import typing
from pathlib import Path

import msgspec

from reportgen.analysis.model import BUDGET_PARTS, MemoryCategory
from reportgen.recording import PassName
from reportgen.report.model import Report

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "report-json.md").read_text(encoding="utf-8")


def _structs(kind, seen):
    """Gather every struct that `kind` is made of."""
    for part in (typing.get_origin(kind), *typing.get_args(kind)):
        if part is not None:
            _structs(part, seen)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in seen:
        seen.add(kind)
        for hint in typing.get_type_hints(kind).values():
            _structs(hint, seen)
    return seen


def test_every_field_of_the_report_is_in_its_description():
    words = set(re.findall(r"\w+", TEXT))
    fields = {(kind.__name__, name) for kind in _structs(Report, set()) for name in kind.__struct_fields__}

    assert len(fields) > 150
    assert sorted(field for field in fields if field[1] not in words) == []


def test_the_closed_lists_are_those_of_the_model():
    for names in (BUDGET_PARTS, typing.get_args(MemoryCategory), typing.get_args(PassName)):
        assert ", ".join(names) in " ".join(TEXT.split())
