"""The timeline and the memory curve, on a step whose figures can be checked by hand (see conftest.py)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

GUTTER = 104


def timeline(page: Any) -> Any:
    return page.locator("[data-explore=timeline]").first


def canvas(page: Any, kind: str = "timeline") -> Any:
    found = page.locator(f"[data-explore={kind}] canvas").first
    found.scroll_into_view_if_needed()
    return found


def readout(page: Any, kind: str = "timeline") -> str:
    text: str = page.locator(f"[data-explore={kind}] .readout").first.inner_text()
    return re.sub(r"\s+", " ", text)


def seen(page: Any, kind: str = "timeline") -> str:
    page.wait_for_timeout(60)
    text: str = page.locator(f"[data-explore={kind}] .seen").first.inner_text()
    return re.sub(r"\s+", " ", text)


def hover(page: Any, at_us: float, wanted: str) -> str:
    """Move down over the lanes at a moment of the step of 60 µs until the readout names `wanted`."""
    box = canvas(page).bounding_box()
    x = box["x"] + GUTTER + at_us / 60 * (box["width"] - GUTTER)
    for down in range(8, int(box["height"]) - 20, 6):
        page.mouse.move(x, box["y"] + down)
        if wanted in readout(page):
            return readout(page)
    return readout(page)


def test_hovering_names_activity_operator_function_and_times(opened, small: Path) -> None:
    page = opened(small)
    # The kernel begins 20 µs into the step and 12 µs after its launch call, [103, 108], has ended.
    assert (
        hover(page, 35, "gemm")
        == "gemm 30.0 µs at 20.0 µs · 12.0 µs after its launch · by mm · 2×3, 3×4 · in main (def at run.py:1)"
    )


def test_the_strip_of_parts_says_what_the_device_does_or_waits_for(opened, small: Path) -> None:
    assert "the device works, 30.0 µs at 20.0 µs" in hover(opened(small), 35, "the device works")


def test_arrow_keys_walk_from_slice_to_slice_and_between_lanes(opened, small: Path) -> None:
    page = opened(small)
    canvas(page).focus()
    page.keyboard.press("ArrowRight")
    assert readout(page).startswith("run.py(1): main 60.0 µs at 0 µs")
    page.keyboard.press("ArrowDown")
    walked = [readout(page)]
    page.keyboard.press("ArrowLeft" if "add" in walked[0] else "ArrowRight")
    walked.append(readout(page))
    assert sorted(text.split(" · ")[0] for text in walked) == [
        "aten::add 6.00 µs at 40.0 µs",
        "aten::mm 10.0 µs at 2.00 µs",
    ]
    assert page.locator("[data-explore=timeline] [role=status]").first.inner_text() != ""


def test_keys_wheel_drag_and_buttons_zoom_and_move(opened, small: Path) -> None:
    page = opened(small)
    assert seen(page) == "60.0 µs, all of step 2"
    canvas(page).focus()
    page.keyboard.press("+")
    assert seen(page) == "30.0 µs from 15.0 µs on"
    page.keyboard.press("Shift+ArrowRight")
    assert seen(page) == "30.0 µs from 22.5 µs on"
    page.keyboard.press("0")
    assert seen(page) == "60.0 µs, all of step 2"

    timeline(page).get_by_role("button", name="Zoom in").click()
    assert seen(page) == "30.0 µs from 15.0 µs on"
    box = canvas(page).bounding_box()
    width, y = box["width"] - GUTTER, box["y"] + 40
    page.mouse.move(box["x"] + GUTTER + width * 0.75, y)
    page.mouse.down()
    page.mouse.move(box["x"] + GUTTER + width * 0.5, y, steps=5)
    page.mouse.up()
    assert seen(page) == "30.0 µs from 22.5 µs on"
    timeline(page).get_by_role("button", name="Zoom out").click()
    assert seen(page) == "60.0 µs, all of step 2"

    canvas(page).focus()
    page.mouse.move(box["x"] + GUTTER + 1, y)
    page.mouse.wheel(0, -200)
    assert re.fullmatch(r"27\.0 µs from [0-9.]+ (µs|ns) on", seen(page))  # 60 · exp(−0.8)


def test_the_wheel_scrolls_the_page_until_the_timeline_has_the_focus(opened, small: Path) -> None:
    page = opened(small)
    box = canvas(page).bounding_box()
    before = page.evaluate("scrollY")
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.wheel(0, 120)
    for _ in range(50):
        if page.evaluate("scrollY") > before:
            break
        page.wait_for_timeout(20)
    assert page.evaluate("scrollY") > before
    assert seen(page) == "60.0 µs, all of step 2"


def test_a_finding_leads_to_its_place_in_the_timeline(opened, small: Path) -> None:
    page = opened(small)
    link = page.locator("#F1 a.show")
    assert link.inner_text().replace("\u00a0", " ") == "Show in the timeline: 20.0 µs of step 2"
    link.click()
    # [5, 25] of the step with three fifths of its length on either side, as far as the step reaches.
    assert seen(page) == "44.0 µs from 0 µs on"
    assert readout(page).startswith("F1: 20.0 µs at 5.00 µs")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    rect = canvas(page).bounding_box()
    assert 0 <= rect["y"] < 900
    page.locator("[data-explore=timeline] .readout a").first.click()
    assert page.evaluate("location.hash") == "#F1"


def test_a_finding_in_another_step_or_file_promises_no_place(opened, small: Path) -> None:
    assert opened(small).locator("#F2 a.show").count() == 0


def test_a_kernel_leads_to_its_operator_and_both_to_the_timeline(opened, small: Path) -> None:
    page = opened(small)
    row = page.locator("tr[id^=kernel-]", has_text="gemm")
    link = row.locator("a", has_text="mm").first
    link.click()
    operator = page.locator(page.evaluate("location.hash"))
    assert operator.locator("th").inner_text().split("\n")[0] == "mm"
    assert operator.locator("a", has_text="main").get_attribute("href").startswith("#function-")
    operator.locator("a.show").click()
    assert readout(page).startswith("mm: 1 on the device in this step, 30.0 µs in all")


def test_the_curve_says_what_was_allocated_at_each_moment(opened, small: Path) -> None:
    page = opened(small)
    # Unprovoked it is about the peak: 20 MiB, from 110 on.
    assert readout(page, "curve").startswith("20.0 MiB allocated")
    canvas(page, "curve").focus()
    page.keyboard.press("ArrowRight")
    texts = []
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        texts.append(readout(page, "curve"))
    assert any(text.startswith("8.00 MiB allocated") for text in texts)
    page.keyboard.press("Enter")
    assert "the peak" in readout(page, "curve")
    assert "all of" not in seen(page, "curve")


def test_every_name_in_the_data_stays_a_name(opened, small: Path) -> None:
    page = opened(small)
    data = page.locator("[data-explore=timeline] script").first
    assert data.get_attribute("type") == "application/json"
    assert "gemm" in page.evaluate("element => JSON.parse(element.textContent).names", data.element_handle())


def test_a_launch_names_what_it_launches(opened, small: Path) -> None:
    text = hover(opened(small), 5, "cudaLaunchKernel")
    assert text == "cudaLaunchKernel 5.00 µs at 3.00 µs · launches gemm"


def test_a_word_that_is_on_the_page_alone_leaves_the_timeline_as_it_is(opened, small: Path) -> None:
    page = opened(small)
    before = readout(page)
    page.keyboard.press("/")
    page.keyboard.type("checklist")
    page.locator("#search output", has_text="on this page").wait_for()
    assert readout(page) == before
    page.locator("#search input").fill("gemm")
    page.locator("#search output", has_text="1 in the timelines").wait_for()
    assert "“gemm”: 1 in this timeline" in readout(page)
