"""No word that a trace cannot support: not in a rule, not in a template, not in a finding of a real trace."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from reportgen.findings import rules
from reportgen.findings.model import Finding
from reportgen.resources import resource_folder
from tests.integration.test_planted_findings import report_of
from tests.planted_truth import FAULTS, TRUE_OF_TWINS

# A kernel trace says what ran and when. It does not say why a kernel is as slow as it is: none of these was seen.
UNSUPPORTED = re.compile(
    r"cache[- ](?:miss|hit|line|thrash)\w*|L[12][- ](?:hit|miss)\w*|occupancy|bank[- ]conflict\w*|coalesc\w*"
    r"|warp[- ](?:divergen\w*|stall\w*)|divergent|register[- ](?:pressure|spill\w*)|spilling|shared[- ]memory"
    r"|instruction[- ](?:mix|stall\w*|cache)|pipeline[- ]stall\w*|\bTLB\b|DRAM utili[sz]ation|SM utili[sz]ation"
    r"|sm[- ]efficiency|memory[- ]latency|uncoalesced|branch\w* mispredict\w*|\bwarps?\b|tail effect"
    r"|wave quanti[sz]ation|L[12] cache",
    re.IGNORECASE,
)
FOLDER = Path(rules.__file__).parent


def texts_in(path: Path) -> list[str]:
    """Return the strings of a module, those that are documentation included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


PACKAGE = FOLDER.parents[1]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_text_of_the_package_says_what_a_trace_cannot_show(path: Path) -> None:
    # That a trace does not hold them, and what does, may be said.
    found = [text for text in texts_in(path) if UNSUPPORTED.search(text)]
    assert [text for text in found if "hardware counters" not in text.lower()] == []


def test_no_template_says_what_a_trace_cannot_show() -> None:
    folder = resource_folder("templates")
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}

    # Markup, styles and scripts alike: whatever a reader may come to see.
    assert {Path(name).suffix for name in texts} >= {".j2", ".css", ".js"}
    assert [name for name, text in texts.items() if UNSUPPORTED.search(text)] == []


def said(finding: Finding) -> list[str]:
    parts = (finding.title, finding.mechanism, finding.action, finding.verify, finding.beware or "")
    return [*parts, *(line.text for line in finding.evidence)]


@pytest.mark.parametrize("name", sorted({fault.trace for fault in FAULTS} | set(TRUE_OF_TWINS)))
def test_findings_of_real_traces_are_well_said(name: str) -> None:
    for finding in report_of(name).findings:
        for text in said(finding):
            assert not UNSUPPORTED.search(text), text
            assert "  " not in text, text
            assert not re.search(r"\b(?:None|nan|inf)\b|\{|\( |^ | $", text.replace("{device}", "")), text
            assert not re.search(r"(?<![\d.,\u202f])1\s(?:times|steps|activities|launches|copies)\b", text), text
        assert len(finding.title) <= 64, finding.title
        assert finding.action.rstrip().endswith((".", "`")), finding.action


def test_the_list_of_words_catches_what_it_is_for() -> None:
    assert UNSUPPORTED.search("low occupancy causes cache misses")
    assert not UNSUPPORTED.search("a growing key-value cache")
