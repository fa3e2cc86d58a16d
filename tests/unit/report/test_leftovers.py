"""What is said not to be worth optimising, of a step of 1 ms."""

from __future__ import annotations

import re

from reportgen.analysis.model import Cut
from reportgen.report.view.leftovers import view_leftovers
from tests import report_builder as build
from tests.case_builder import budget, host_bound_case, operator

NORM = operator("aten::norm", device_us_per_step=40.0, calls_per_step=4.0, roof_us=5.0)  # 20 over its roof
PRODUCT = operator("aten::mm", device_us_per_step=200.0, calls_per_step=1.0, roof_us=100.0)  # 100, over 3 % of the step
ADD = operator("aten::add", device_us_per_step=6.0, calls_per_step=2.0, roof_us=2.0)  # 2


def said(**parts_us: float) -> str:
    case = host_bound_case(budget=budget(1000.0, **parts_us), operators=Cut(items=(PRODUCT, NORM, ADD), total=3))
    (text,) = view_leftovers(build.report([case], [build.finding()]))
    return re.sub("[\u00a0\u202f]", " ", text)


def test_what_costs_little_is_named_with_the_most_that_it_could_give() -> None:
    text = said(compute=246.0, sync=4.0, copy=12.0, launch=738.0, input=0.0, allocator=0.0)
    assert text == (
        "prefill, of 1.00 ms: at most 12.0 µs in copies between host and device, 4.00 µs in synchronizations and "
        "20.0 µs in `norm` at its roof, nothing in waits for data and the allocator's calls."
    )


def test_what_costs_much_or_has_a_finding_is_not_belittled() -> None:
    assert "synchronizations" not in said(compute=200.0, sync=100.0, launch=700.0)

    case = host_bound_case(budget=budget(1000.0, compute=990.0, sync=10.0))
    assert view_leftovers(build.report([case])) == (
        "prefill, of 1.00\u00a0ms: at most 10.0\u00a0µs in synchronizations.",
    )
    assert view_leftovers(build.report([case], [build.finding(rule="sync-point")])) == ()
