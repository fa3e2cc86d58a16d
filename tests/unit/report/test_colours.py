"""The page and the charts paint the same things in the same colours, on a light page and on a dark one."""

from __future__ import annotations

import re

import pytest

from reportgen.report.charts.palette import DARK, LIGHT, Theme
from reportgen.resources import resource_folder

TEMPLATES = resource_folder("templates")
# A theme's role, and the variable of the stylesheets that has its colour.
ROLES = {
    "ink": "ink",
    "muted": "muted",
    "paper": "paper",
    "mark": "call",
    "area": "area",
    "area_light": "area-lasting",
    "area_lightest": "area-before",
}
RULE = re.compile(r"([^{}]+)\{((?:\s*(?:color-scheme|--[\w-]+)\s*:[^;{}]+;)+)\s*\}")


def blocks() -> dict[str, dict[str, str]]:
    """Return the variables that each selector of the stylesheets sets; a media query counts as part of its selector."""
    found: dict[str, dict[str, str]] = {}
    for name in ("shared.css", "screen.css"):
        text = re.sub(r"/\*.*?\*/", "", (TEMPLATES / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        for selector, body in RULE.findall(text.replace("dark) {", "dark)")):
            found.setdefault(" ".join(selector.split()), {}).update(re.findall(r"--([\w-]+)\s*:\s*([^;]+);", body))
    return found


LIGHT_PAGE = blocks()[":root"]
DARK_PAGES = [blocks()[name] for name in blocks() if "dark" in name]


def colour(variables: dict[str, str], name: str, default: str) -> str:
    """Return the colour of a variable, one that leads to another followed; the scripts have a `default` for none."""
    value = variables.get(name, default)
    further = re.fullmatch(r"var\(--([\w-]+)\)", value)
    return colour(variables, further[1], default) if further else value


def test_a_dark_page_is_asked_for_in_two_ways_that_agree() -> None:
    by_system, by_choice = DARK_PAGES
    assert by_system == by_choice


@pytest.mark.parametrize(("theme", "changes"), [(LIGHT, {}), (DARK, DARK_PAGES[0])], ids=["light", "dark"])
def test_the_page_has_the_colours_of_the_charts(theme: Theme, changes: dict[str, str]) -> None:
    variables = LIGHT_PAGE | changes
    expected: dict[str, object] = {role: getattr(theme, role) for role in ROLES}
    actual: dict[str, object] = {role: colour(variables, name, "") for role, name in ROLES.items()}
    for part, paint in theme.parts.items():
        expected[part] = (paint.fill, paint.outline)
        actual[part] = (colour(variables, part, theme.paper), colour(variables, f"rim-{part}", paint.fill))

    assert actual == expected


@pytest.mark.parametrize(("theme", "changes"), [(LIGHT, {}), (DARK, DARK_PAGES[0])], ids=["light", "dark"])
def test_what_is_written_on_work_has_the_colour_that_the_charts_write_it_in(
    theme: Theme, changes: dict[str, str]
) -> None:
    variables = LIGHT_PAGE | changes
    for part in ("compute", "communication", "copy"):
        assert colour(variables, f"on-{part}", theme.ink) == theme.parts[part].text
