"""What docs/ says of report.json, against the model that it is written from."""

import re
import runpy
import typing
from pathlib import Path

import msgspec
import pytest

from reportgen.analysis.model import BUDGET_PARTS, CaseAnalysis, MemoryCategory
from reportgen.errors import InputUnreadable
from reportgen.history.compare import read_report
from reportgen.recording import PassName
from reportgen.report.json import read_input
from reportgen.report.model import Report

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


def _structs(hint):
    """Return the names of the structs that a type is made of, the outermost first."""
    parts = [part for part in (typing.get_origin(hint), hint, *typing.get_args(hint)) if part is not None]
    own = [part.__name__ for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)]
    return own or [name for part in typing.get_args(hint) for name in _structs(part)]


@pytest.mark.parametrize(("title", "model"), [("The whole", Report), ("cases[]", CaseAnalysis)])
def test_every_key_is_explained_and_leads_to_its_fields(title, model):
    text = (DOCS / "report-json.md").read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (?:\[(\w+)\]\(report-json-fields\.md#(\w+)\))? ?\| \S.* \|$", text, re.MULTILINE)
    hints = typing.get_type_hints(model)

    assert [key for key, _, _ in rows] == list(hints)
    fields = (DOCS / "report-json-fields.md").read_text(encoding="utf-8")
    for key, name, anchor in rows:
        # Of a list that was cut, what stands in it.
        assert ([name] if name else []) == [struct for struct in _structs(hints[key]) if struct != "Cut"]
        assert anchor == name.lower()
        assert not name or f"\n## {name}\n" in fields


@pytest.mark.parametrize("read", [read_report, read_input])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"schema_version": "2.0", "input": {"kind": "trace", "path": "x"}}', r"schema version '2\.0'"),
        (b'{"a":' * 200_000, "nested too deep"),
        (b'{"schema_version": null}', "Expected `str`, got `null`"),
        (b"", "no report of this version"),
    ],
)
def test_a_report_that_cannot_be_understood_is_refused_in_a_line(tmp_path, read, content, message):
    (tmp_path / "report.json").write_bytes(content)
    with pytest.raises(InputUnreadable, match=message) as raised:
        read(tmp_path)
    assert "\n" not in str(raised.value)
