"""What docs/ says of report.json, against the model that it is written from."""

import runpy
import typing
from pathlib import Path

from reportgen.analysis.model import BUDGET_PARTS, MemoryCategory
from reportgen.recording import PassName

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_list_of_fields_is_that_of_the_model():
    made = runpy.run_path(str(DOCS / "reference.py"))["reference"]()

    assert "| `affects_conclusions` | `bool` |" in made
    hint = "the model has changed: run python docs/reference.py"
    assert (DOCS / "report-json-fields.md").read_text(encoding="utf-8") == made, hint


def test_the_closed_lists_are_those_of_the_model():
    text = " ".join((DOCS / "report-json.md").read_text(encoding="utf-8").split())
    for names in (BUDGET_PARTS, typing.get_args(MemoryCategory), typing.get_args(PassName)):
        assert ", ".join(names) in text
