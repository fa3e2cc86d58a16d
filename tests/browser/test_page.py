"""The page: its tables, the search, the theme, what is copied, and who can read it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.conftest import NUM_OPERATORS

pytestmark = pytest.mark.browser

DESCENDING = list(range(NUM_OPERATORS, 0, -1))


def operators(page):
    return page.locator("table", has=page.locator("#operator-1-1"))


def calls(page, state: str = ":visible") -> list[int]:
    """Return the calls of the rows in sight."""
    texts = operators(page).locator(f"tbody tr[id]{state} > :nth-child(3)").all_inner_texts()
    return [int(text) for text in texts]


def told(page) -> str:
    text: str = page.locator("#search output").inner_text()
    return re.sub(r"\s", " ", text)


def search(page, words: str) -> str:
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_timeout(300)
    return told(page)


def test_a_long_table_shows_its_first_rows_and_all_on_request(opened, long: Path) -> None:
    page = opened(long)
    assert calls(page) == DESCENDING[:12]
    buttons = page.locator("#operators")
    buttons.get_by_role("button", name="Show all 30 rows").click()
    assert calls(page) == DESCENDING
    buttons.get_by_role("button", name="Show 12 rows").click()
    assert calls(page) == DESCENDING[:12]


def test_a_column_sorts_down_and_up_and_the_total_stays_last(opened, long: Path) -> None:
    page = opened(long)
    head = operators(page).locator("thead th", has_text="Calls")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert calls(page) == DESCENDING[:12]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert calls(page) == list(range(1, 13))
    assert operators(page).locator("tbody tr").last.inner_text().startswith("device time")


def test_a_filter_keeps_the_rows_that_carry_the_words_and_counts_them(opened, long: Path) -> None:
    page = opened(long)
    box = page.locator("label.filter input").first
    box.fill("step_2")
    assert calls(page) == [*range(29, 19, -1), 2]
    assert "11 of 30" in page.locator("label.filter").first.inner_text()
    box.fill("")
    assert calls(page) == DESCENDING[:12]
    operators(page).locator("thead th", has_text="Calls").locator("button").dblclick()
    box.fill("step_2")
    assert calls(page) == [2, *range(20, 30)]


def test_search_finds_folded_rows_and_names_broken_over_lines(opened, long: Path) -> None:
    page = opened(long)
    assert search(page, "part_of_step_3") == "2 on this page"
    page.keyboard.press("Enter")
    assert told(page) == "1 of 2: 3 Operators and kernels by device time"
    page.keyboard.press("Enter")
    assert told(page).startswith("2 of 2")
    assert page.locator("#operator-1-28").is_visible()
    assert page.evaluate("[...CSS.highlights.get('hit')].map(String)") == ["part_of_step_3"]
    assert page.evaluate("CSS.highlights.get('hits').size") == 2
    page.keyboard.press("Enter")
    assert told(page).startswith("1 of 2")
    page.keyboard.press("Shift+Enter")
    assert told(page).startswith("2 of 2")
    page.keyboard.press("Escape")
    assert not page.locator("#search").is_visible()
    assert page.evaluate("CSS.highlights.get('hits').size") == 0


def test_search_takes_a_space_for_any_space_and_says_where_nothing_is(opened, long: Path) -> None:
    page = opened(long)
    # In the page a no-break space stands before the unit.
    assert re.match(r"\d+ on this page", search(page, "1.00 ms"))
    assert search(page, "no such words anywhere") == "Nothing on this page"


def test_search_counts_the_slices_of_the_timeline(opened, small: Path) -> None:
    # On the host gemm does not occur; on the device it is one kernel. The operators mm and add have one slice each.
    page = opened(small)
    assert search(page, "gemm").endswith(", 1 in the timelines")
    page.locator("#search").get_by_role("button", name="Close").click()
    assert search(page, "aten::").endswith("2 in the timelines")


def test_search_passes_over_what_links_say_of_where_they_lead(opened, small: Path) -> None:
    page = opened(small)
    assert page.locator("#operators a.show", has_text="timeline").count() >= 2
    number = int(search(page, "timeline").split()[0])
    for _ in range(number):
        page.keyboard.press("Enter")
        assert "Operators" not in told(page)


def test_a_link_to_a_folded_row_brings_it_back(opened, long: Path) -> None:
    page = opened(long)
    assert not page.locator("#operator-1-30").is_visible()
    page.evaluate("location.hash = '#operator-1-30'")
    page.locator("#operator-1-30").wait_for(state="visible")
    box = page.locator("#operator-1-30").bounding_box()
    assert 50 < box["y"] < 900

    # Once more by a link with the address that the page has already, after the row was folded away.
    page.locator("#operators").get_by_role("button", name="Show 12 rows").click()
    assert not page.locator("#operator-1-30").is_visible()
    page.evaluate("document.querySelector('#h-operators').innerHTML += ' <a href=\"#operator-1-30\">last</a>'")
    page.locator("#h-operators a").click()
    assert page.locator("#operator-1-30").is_visible()


@pytest.mark.parametrize(("scheme", "papers"), [("dark", (20, 255)), ("light", (255, 20))])
def test_the_theme_follows_the_reader_and_can_be_changed(opened, small: Path, scheme: str, papers) -> None:
    page = opened(small, color_scheme=scheme)
    picture = page.locator("picture img:visible").first

    def seen():
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(re.search(r"\d+", paper)[0]), picture.evaluate("image => image.currentSrc")

    before = seen()
    page.locator("#theme").click()
    page.wait_for_timeout(100)
    after = seen()
    assert (before[0], after[0]) == papers
    assert before[1] != after[1]


def test_a_command_is_copied(opened, long: Path) -> None:
    page = opened(long, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".card button.copy").click()
    page.locator("button.copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "python -m reportgen gpt2 --case prefill"


def test_without_javascript_all_of_it_is_there(opened, small: Path, long: Path) -> None:
    for path in (small, long):
        page = opened(path, java_script_enabled=False)
        rows = page.locator("tbody tr")
        assert page.locator("tbody tr:visible").count() == rows.count()
        assert page.locator("button:visible, input:visible, canvas, details:visible").count() == 0
    pictures = opened(small, java_script_enabled=False).locator("picture img")
    assert pictures.count() >= 3
    assert all(pictures.nth(number).is_visible() for number in range(pictures.count()))


@pytest.mark.parametrize(
    ("scheme", "width"), [("dark", 1100), ("light", 390), pytest.param("light", 1100, marks=pytest.mark.full)]
)
@pytest.mark.parametrize("which", ["small", pytest.param("gpt2", marks=pytest.mark.full)])
def test_axe_finds_nothing_serious(opened, request, which: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(request.getfixturevalue(which), color_scheme=scheme, width=width)
    page.keyboard.press("/")
    page.wait_for_timeout(100)
    found = axe.Axe().run(page).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"]) for one in grave] == []


def test_the_policy_forbids_the_network_and_all_scripts_but_the_pages_own(opened, small: Path) -> None:
    page = opened(small)
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["script-src"])
    assert "connect-src" not in rules


@pytest.mark.full
@pytest.mark.parametrize("width", [390, 768, 1920])
def test_gpt2s_report_does_not_run_over_the_side_of_the_screen(opened, gpt2: Path, width: int) -> None:
    page = opened(gpt2, width=width)
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.full
def test_gpt2s_findings_lead_into_its_timelines(opened, gpt2: Path) -> None:
    page = opened(gpt2)
    # What cuDNN prepares for each new length takes 43.7 ms of the step that is drawn, of the operator around it.
    page.locator("#F1 a.show").click()
    assert re.match(r"F1: 43\.8\sms at", page.locator("#timeline-2 .readout").inner_text())
    page.locator("#F2 a.show").click()
    assert page.locator("#timeline-1 .readout").inner_text().startswith("F2: 291\u00a0µs")
    assert page.locator(".explorer canvas").count() == 4


@pytest.mark.full
def test_gpt2s_page_stays_small(gpt2: Path) -> None:
    assert gpt2.stat().st_size < 2_000_000


def test_the_tab_key_stops_at_a_table_only_where_there_is_something_to_scroll(opened, small: Path) -> None:
    wide, narrow = opened(small), opened(small, width=390)
    for page in (wide, narrow):
        page.wait_for_timeout(100)
    assert wide.locator(".scroll[tabindex]").count() == 0
    assert narrow.locator(".scroll[tabindex='0']").count() > 5
