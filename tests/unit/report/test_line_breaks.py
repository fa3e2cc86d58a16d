"""Where lines of the PDF end: never inside a figure, between a figure and its unit, or inside a word of ours."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import pytest
from weasyprint.formatting_structure import boxes

from reportgen.report import pdf, templating
from reportgen.report.html import render_html
from reportgen.report.model import Report
from reportgen.report.view.drawings import draw
from tests import report_builder as build
from tests.integration.test_planted_findings import report_of
from tests.unit.findings.test_pairs import report as report_of_pairs

UNIT = re.compile(r"(?:[µm]?s|%|[KMGT]?i?B|T?FLOP/s|TB/s|GB/s|m?J|×)(?!\w)")


def wide_gain() -> Report:
    """Return a report of a gain whose bounds are far apart, beside steps that need many digits."""
    gain = msgspec.structs.replace(
        build.gain(1000.0, 337.1, "replay"), at_most_us_per_step=962.9, at_least_us_per_step=306.2
    )
    return build.report(findings=[build.finding(gain=gain, severity="medium", confidence="medium")])


REPORTS: dict[str, Callable[[], Report]] = {
    "wide gain": wide_gain,
    "pairs": report_of_pairs,
    "training": lambda: report_of("train_opt_forloop"),
}


@cache
def laid_out(name: str) -> tuple[list[list[str]], frozenset[str]]:
    """Return the lines of each block of the PDF, and the words of the same report's HTML, where no line is broken."""
    report = REPORTS[name]()
    drawings = draw(report)
    # The list of contents is of links beside each other, whose ends are no ends of words.
    blocks = [
        block
        for page in pdf.lay_out(report, drawings).pages
        for block in blocks_of(page._page_box)
        if " p. " not in block[0]
    ]
    page = re.sub(r"<script.*?</script>|<style.*?</style>", "", render_html(report, drawings), flags=re.DOTALL)
    words = html.unescape(re.sub(r"<wbr>|</?(?:b|code|a|span|i)\b[^>]*>", "", page))
    return blocks, frozenset(re.findall(r"[^\W_]+(?:[.,]\d+)*", re.sub(r"<[^>]+>", " ", words)))


def blocks_of(box: Any) -> Iterator[list[str]]:
    children = getattr(box, "children", ())
    if lines := [text_of(child) for child in children if isinstance(child, boxes.LineBox)]:
        yield lines
    for child in children:
        yield from blocks_of(child)


def text_of(line: Any) -> str:
    return "".join(part.text for part in line.descendants() if isinstance(part, boxes.TextBox))


def ends(name: str) -> Iterator[tuple[str, str]]:
    for lines in laid_out(name)[0]:
        yield from itertools.pairwise(lines)


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_no_line_ends_inside_a_figure_or_before_its_unit(name: str) -> None:
    assert len(list(ends(name))) > 20
    words = laid_out(name)[1]
    for line, following in ends(name):
        assert not (re.search(r"\d[\s]?$", line) and UNIT.match(following.lstrip())), (line, following)
        end, start = re.search(r"\d[\d.,]*$", line), re.match(r"[\d.,]+", following)
        assert not (end and start and (end[0] + start[0]).strip(".,") in words), (line, following)
        assert not (line.endswith(("n =", "n\u00a0="))), (line, following)


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_no_line_ends_inside_a_word(name: str) -> None:
    words = laid_out(name)[1]
    for line, following in ends(name):
        end, start = re.search(r"[^\W_]+$", line), re.match(r"[^\W_]+", following)
        if end and start and end[0] + start[0] in words:
            # "in" and "to" stand side by side in many a line, and "into" in another.
            assert {end[0], start[0]} <= words, (line, following)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("cudnn_batch_normalization", "cudnn_|batch_|normalization"),
        ("12,345.678/2.11-1:30,5", "12,345.678/2.11-1:30,5"),
        ("learning_rate=1e-05,eps", "learning_|rate=1e-05,|eps"),
        ("at::native::add<float>", "at::|native::|add<|float>|"),
        ("64x64_64x13_4x2_bias", "64x64_|64x13_|4x2_|bias"),
        ("a short one", "a short one"),
    ],
)
def test_long_names_break_after_their_punctuation_and_never_inside_a_figure(text: str, broken: str) -> None:
    assert html.unescape(str(templating.breakable(text)).replace("<wbr>", "|")) == broken
