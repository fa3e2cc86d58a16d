"""Links between the tables: from a kernel to its operators, from those to their function, and back."""

from __future__ import annotations

import re

import pytest

from reportgen.analysis.model import Cut, Kernel, Source, SourceRow
from reportgen.analysis.one_step.step_export import Slice, StepExport, Track
from reportgen.analysis.replay.changes import operator_key
from reportgen.report.html import render_html
from reportgen.report.view.drawings import Drawings
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator

SOURCE = Source(file="run.py", line=3, line_kind="call", function="main", user=True)


def kernel(name: str) -> Kernel:
    return Kernel(
        name=name, category="kernel", calls_per_step=1.0, us_per_step=50.0, share_of_device=0.25, mean_us=50.0,
        min_us=50.0, max_us=50.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def html() -> str:
    operators = (
        operator("aten::mm", device_us_per_step=120.0, share_of_device=0.6, kernels=("gemm", "splitk"), source=SOURCE),
        operator("aten::add", device_us_per_step=80.0, share_of_device=0.4, kernels=("fused",)),
        operator("aten::mul", device_us_per_step=10.0, share_of_device=0.1, kernels=("fused",)),
        operator("aten::sub", device_us_per_step=5.0, share_of_device=0.1, kernels=("fused",)),
    )
    function = SourceRow(
        file="run.py", line=3, line_kind="call", function="main", device_us_per_step=120.0, host_us_per_step=200.0
    )
    case = host_bound_case(
        operators=Cut(items=operators, total=4),
        kernels=Cut(items=(kernel("gemm"), kernel("fused")), total=3),
        sources=Cut(items=(function,), total=1),
    )
    activity = Slice(name="gemm", start_us=1.0, duration_us=2.0, kind="activity", part="compute", operator="aten::mm",
                     operator_key=operator_key(operators[0]))  # fmt: skip
    track = Track(group="device", name="device 0, stream 7", slices=(activity,))
    export = StepExport(
        case="prefill", trace="t.json", step=1, origin_us=0.0, duration_us=9.0, tracks=(track,), num_dropped=0
    )
    return render_html(build.report([case]), Drawings(), [export])


def row(html: str, id_: str) -> str:
    match = re.search(rf'<tr id="{id_}">.*?</tr>', html, flags=re.DOTALL)
    assert match is not None
    return match[0]


def links(text: str) -> list[tuple[str, str]]:
    found = re.findall(r'<a href="#([^"]+)"[^>]*>(.*?)</a>', text)
    return [(href, re.sub(r"<[^>]+>", "", words)) for href, words in found]


def test_an_operator_leads_to_function_kernels_and_timeline(html: str) -> None:
    # The kernel splitk has no row that a link could lead to.
    assert links(row(html, "operator-1-1")) == [
        ("function-1-1", "main"), ("kernel-1-1", "kernel"), ("timeline-1", "timeline"),
    ]  # fmt: skip
    assert 'data-row="operator-1-1"' in row(html, "operator-1-1")


def test_what_is_not_in_the_step_has_no_link_into_its_timeline(html: str) -> None:
    assert links(row(html, "operator-1-2")) == [("kernel-1-2", "kernel")]


def test_a_kernel_leads_to_its_operators_and_counts_those_without_room(html: str) -> None:
    assert links(row(html, "kernel-1-1")) == [("operator-1-1", "mm"), ("timeline-1", "timeline")]
    assert links(row(html, "kernel-1-2")) == [("operator-1-2", "add"), ("operator-1-3", "mul")]
    assert "and 1 more" in row(html, "kernel-1-2")


def test_a_function_leads_to_the_operators_under_it(html: str) -> None:
    assert links(row(html, "function-1-1")) == [("operator-1-1", "mm")]


def test_every_link_inside_the_page_leads_somewhere(html: str) -> None:
    ids = set(re.findall(r' id="([^"]+)"', html))
    assert {href for href, _ in links(html)} <= ids


def test_rows_that_read_alike_have_ids_of_their_own() -> None:
    half = operator("aten::mm", device_us_per_step=120.0, share_of_device=0.6, input_types=("c10::Half",))
    single = operator("aten::mm", device_us_per_step=80.0, share_of_device=0.4, input_types=("float",))
    case = host_bound_case(operators=Cut(items=(half, single), total=2))
    piece = Slice(
        name="gemm", start_us=1.0, duration_us=2.0, kind="activity", part="compute", operator="aten::mm", shapes="2×3",
        operator_key=operator_key(single),
    )  # fmt: skip
    track = Track(group="device", name="device 0, stream 7", slices=(piece,))
    export = StepExport(
        case="prefill", trace="t.json", step=1, origin_us=0.0, duration_us=9.0, tracks=(track,), num_dropped=0
    )
    html = render_html(build.report([case]), Drawings(), [export])
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    # Only the product in single precision runs in the step.
    assert links(row(html, "operator-1-1")) == []
    assert links(row(html, "operator-1-2")) == [("timeline-1", "timeline")]
