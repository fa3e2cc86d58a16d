"""The data of the page's timeline: what it says, and how large it can become."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import Cut, Source
from reportgen.analysis.one_step.step_export import Slice, StepExport, Track
from reportgen.analysis.replay.changes import operator_key
from reportgen.report.html import render_html
from reportgen.report.inert import inert_json
from reportgen.report.view.anchors import Anchors, find_anchors
from reportgen.report.view.drawings import Drawings
from reportgen.report.view.medium import SCREEN, page
from reportgen.report.view.strips import MOST_SLICES, MOST_THREADS, Strip, view_strips
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator

SOURCE = Source(file="run.py", line=3, line_kind="def", function="main", user=True)


def step(*tracks: Track, case: str = "prefill", duration_us: float = 100.0) -> StepExport:
    return StepExport(
        case=case, trace="t.json", step=7, origin_us=0.0, duration_us=duration_us, tracks=tracks, num_dropped=0
    )


def host(*slices: Slice, name: str = "thread 1") -> Track:
    return Track(group="host", name=name, slices=slices)


def device(*slices: Slice) -> Track:
    return Track(group="device", name="device 0, stream 7", slices=slices)


def opened(name: str, start_us: float, duration_us: float, **fields: Any) -> Slice:
    return Slice(name=name, start_us=start_us, duration_us=duration_us, **({"kind": "operator"} | fields))


def strip(*exports: StepExport) -> Strip:
    report = build.report()
    return view_strips(report, {}, exports, find_anchors(report, SCREEN))[0]


def data(*exports: StepExport) -> dict[str, Any]:
    found = strip(*exports).data
    assert found is not None
    return found


def slices_of(content: dict[str, Any], kind: str) -> list[tuple[str, int, int]]:
    """Undo the compaction: name, start and end of each slice of a lane, in ns."""
    (lane,) = [lane for lane in content["lanes"] if lane["kind"] == kind]
    starts = itertools.accumulate(lane["s"])
    return [
        (content["names"][name], start, start + length)
        for name, start, length in zip(lane["n"], starts, lane["d"], strict=True)
    ]


def test_every_slice_keeps_its_name_and_its_times_to_the_nanosecond() -> None:
    content = data(
        step(
            host(opened("a", 0.0, 50.5), opened("b", 10.25, 20.0), opened("launch", 12.0, 1.001, kind="call", flow=40)),
            device(opened("k", 60.125, 3.2, kind="activity", part="compute", flow=40, operator="b", source=SOURCE)),
        )
    )
    assert content["step"] == 7
    assert content["duration"] == 100_000
    assert slices_of(content, "host") == [("a", 0, 50_500), ("b", 10_250, 30_250)]
    assert slices_of(content, "calls") == [("launch", 12_000, 13_001)]
    assert slices_of(content, "device") == [("k", 60_125, 63_325)]
    calls, work = (next(lane for lane in content["lanes"] if lane["kind"] == kind) for kind in ("calls", "device"))
    assert calls["f"] == work["f"] == [0]
    assert content["parts"][work["p"][0]] == "compute"
    named, shapes, source, *rows = content["details"][work["a"][0]]
    assert (content["names"][named], shapes, content["names"][source]) == ("b", -1, "main (def at run.py:3)")
    assert rows == ["", "", ""]


def test_slices_lead_to_the_rows_that_the_page_has() -> None:
    row = operator("b", device_us_per_step=3.2, share_of_device=1.0, kernels=("k",))
    report = build.report([host_bound_case(operators=Cut(items=(row,), total=1))])
    export = step(
        device(opened("k", 60.0, 3.2, kind="activity", part="compute", operator="b", operator_key=operator_key(row)))
    )
    found = view_strips(report, {}, [export], find_anchors(report, SCREEN))[0]
    assert found.rows == {"operator-1-1"}
    assert found.data is not None
    assert found.data["details"][0][3:] == ("operator-1-1", "", "")


def test_on_paper_rows_have_no_ids() -> None:
    report = build.report()
    assert find_anchors(report, page(1)) == (Anchors(),)


def test_of_too_many_slices_the_longest_of_each_kind_are_kept_and_the_others_counted() -> None:
    number = 4 * MOST_SLICES
    operators = [opened(f"op{n % 7}", float(n), 0.5 + (n % 4 == 0)) for n in range(number)]
    kernels = [opened("k", float(n), 0.25, kind="activity", part="compute") for n in range(10)]
    content = data(step(host(*operators), device(*kernels), duration_us=float(number)))
    # The ten kernels leave the rest of the room to operators, of which as many as there is room for are long.
    kept = slices_of(content, "host")
    assert len(kept) == MOST_SLICES - 10
    assert {end - start for _, start, end in kept} == {1500}
    assert len(slices_of(content, "device")) == 10
    assert content["left_out"] == number - (MOST_SLICES - 10)


@pytest.mark.parametrize("num_names", [100, 16_000])
def test_the_data_is_bounded_whatever_the_number_of_events_and_the_length_of_names(num_names: int) -> None:
    names = [f"{n}-" + "x" * 20_000 for n in range(num_names if num_names < 1000 else 1000)]
    slices = [opened(names[n % len(names)], float(n), 0.9, shapes=f"{n}×{n}") for n in range(num_names)]
    calls = [opened(f"call {n}", float(n), 0.5, kind="call", flow=n) for n in range(num_names)]
    content = data(step(host(*slices, *calls), duration_us=float(num_names)))
    assert len(inert_json(content)) < 800_000
    assert max(map(len, content["names"])) <= 160


def test_only_the_busiest_threads_have_lanes() -> None:
    threads = [host(*[opened("a", float(n), 0.5) for n in range(1 + index)], name=f"t{index}") for index in range(9)]
    content = data(step(*threads))
    assert [lane["name"] for lane in content["lanes"]] == ["t5", "t6", "t7", "t8"]
    assert len(content["lanes"]) == MOST_THREADS
    assert content["left_out"] == 1 + 2 + 3 + 4 + 5


def test_a_case_with_few_slices_leaves_its_room_to_others() -> None:
    names = ["few", "many"]
    report = build.report([host_bound_case(name=name) for name in names])
    sizes = {"few": 100, "many": 2 * MOST_SLICES}
    exports = [step(host(*[opened("a", float(n), 0.5) for n in range(sizes[name])]), case=name) for name in names]
    strips = view_strips(report, {}, exports, find_anchors(report, SCREEN))
    assert [len(slices_of(found.data or {}, "host")) for found in strips] == [100, MOST_SLICES - 100]


def test_cases_share_the_room_of_the_page() -> None:
    names = [f"case{n}" for n in range(4)]
    report = build.report([host_bound_case(name=name) for name in names])
    slices = [opened("a", float(n), 0.5) for n in range(MOST_SLICES)]
    strips = view_strips(report, {}, [step(host(*slices), case=name) for name in names], find_anchors(report, SCREEN))
    assert [len(slices_of(found.data or {}, "host")) for found in strips] == [MOST_SLICES // 4] * 4


@pytest.mark.parametrize("name", ["</script><script>alert(1)//", "<!--", "a&b", "\u2028", "\ud800"])
def test_no_name_ends_the_element_that_holds_it(name: str) -> None:
    html = render_html(build.report(), Drawings(), [step(host(opened(name, 0.0, 10.0)))])
    elements = re.findall(r'<script type="application/json">(.*?)</script>', html, flags=re.DOTALL)
    assert len(elements) == 1
    assert not set("<>&") & set(elements[0])
    expected = {"\ud800": "?", "\u2028": "\\u2028"}.get(name, name)
    assert json.loads(elements[0])["names"] == [expected]


def test_json_in_the_page_means_what_it_did() -> None:
    value = {"a<b": ["</script>", "&amp;", 1.5, None]}
    assert msgspec.json.decode(str(inert_json(value))) == value


def test_an_operator_without_an_activity_in_the_step_is_not_said_to_be_there() -> None:
    report = build.report()  # its operators are mm and add
    mm, add = (operator_key(row) for row in report.cases[0].operators.items)
    opened_alone = opened("aten::mm", 0.0, 5.0, operator_key=mm)
    launched = opened("k", 6.0, 1.0, kind="activity", part="compute", operator="aten::add", operator_key=add)
    anchors = find_anchors(report, SCREEN)
    with_device = view_strips(report, {}, [step(host(opened_alone), device(launched))], anchors)[0]
    assert with_device.rows == {"operator-1-2"}
    # Where the host does the work, being open is being there.
    assert view_strips(report, {}, [step(host(opened_alone))], anchors)[0].rows == {"operator-1-1"}
