"""Where reports are put."""

import dataclasses
import functools
import json
import re
from pathlib import Path

import pytest

from reportgen.errors import UsageError
from reportgen.findings.evaluate import evaluate
from reportgen.findings.rules import RULES
from reportgen.pipeline import Wishes, analyze_path
from reportgen.report import assemble
from tests.trace_builder import base, kernel, launch, op, step, write_trace


def _trace(folder: Path, name: str) -> Path:
    events = (step(1, 0, 10), op("aten::mm", 1, 5), launch(2, 1, c=1), kernel(4, 3, c=1))
    return write_trace(folder, base(*events)).rename(folder / name)


def test_a_trace_with_the_longest_name_that_a_file_can_have_gets_its_report(tmp_path):
    path = _trace(tmp_path, "ü" * 125 + ".json")

    written = analyze_path(path, None, Wishes(output=tmp_path / "reports", formats=("json",)))

    assert written.folder.parent == tmp_path / "reports"
    assert written.folder.name.startswith("ü" * 100 + "-2")
    assert json.loads((written.folder / "report.json").read_text())["cases"][0]["name"] == "ü" * 125


def test_a_folder_that_cannot_be_made_is_a_wrong_usage(tmp_path):
    path = _trace(tmp_path, "small.json")

    with pytest.raises(UsageError, match="choose another folder with -o"):
        analyze_path(path, None, Wishes(output=tmp_path / ("x" * 300), formats=("json",)))


def test_a_rule_that_raises_is_shown_as_failed_in_a_report_that_is_written_all_the_same(tmp_path, monkeypatch):
    def judge(context):
        raise ZeroDivisionError("share of nothing")

    rules = [dataclasses.replace(rule, judge=judge) if rule.id == "host-bound" else rule for rule in RULES]
    monkeypatch.setattr(assemble, "evaluate", functools.partial(evaluate, rules=rules))

    written = analyze_path(_trace(tmp_path, "small.json"), None, Wishes(output=tmp_path, formats=("html", "json")))

    records = json.loads((written.folder / "report.json").read_text())["rules"]
    assert [one["reason"] for one in records if one["outcome"] == "failed"] == ["ZeroDivisionError: share of nothing"]
    assert [one["id"] for one in records] == [rule.id for rule in RULES]
    page = re.sub(r"(<[^>]*>|\s)+", " ", (written.folder / "report.html").read_text())
    assert re.search(r"host-bound failed ZeroDivisionError: share of nothing", page)
