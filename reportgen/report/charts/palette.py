"""Colours: Okabe-Ito for what a stretch of step time is, ink and grey for everything else.

Work is solid; a wait is the same palette at half strength with an outline at full strength, so that grey print keeps
work dark and waits light. Rarer waits share the colour of a related one and take a hatch.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.analysis.model import BudgetPart


@dataclasses.dataclass(frozen=True, kw_only=True)
class Paint:
    """How an area is painted; `text` is legible on it. Where `hatch` is set its lines have the outline's colour."""

    fill: str
    outline: str
    text: str
    hatch: bool = False
    dashed: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Theme:
    """The colours of one page, light or dark."""

    ink: str
    muted: str
    paper: str
    grid: str  # hairlines behind marks
    axis: str  # what marks stand on
    accent: str  # text and rules about the device's work
    bracket: str  # rules about its waits
    mark: str  # a single series
    area: str  # what stands under a curve, from dark to light
    area_light: str
    area_lightest: str
    on_mark: str  # text on a mark
    parts: Mapping[BudgetPart, Paint]


_Coloured = TypeVar("_Coloured", Paint, Theme)


def _solid(colour: str, text: str) -> Paint:
    return Paint(fill=colour, outline=colour, text=text)


def _parts(waits: Mapping[str, tuple[str, str]], paper: str, ink: str) -> dict[BudgetPart, Paint]:
    """Return the paint of every budget part; `waits` gives fill and outline of a colour."""
    wait = {name: Paint(fill=fill, outline=outline, text=ink) for name, (fill, outline) in waits.items()}
    grey = waits["turnaround"][1]
    return {
        "compute": _solid("#0072b2", "#ffffff"),
        "communication": _solid("#009e73", "#16191d"),
        "copy": _solid("#56b4e9", "#16191d"),
        "launch": wait["launch"],
        "launch-call": wait["launch-call"],
        "turnaround": wait["turnaround"],
        "sync": wait["sync"],
        "input": dataclasses.replace(wait["sync"], hatch=True),
        "allocator": dataclasses.replace(wait["build"], hatch=True),
        "build": wait["build"],
        "stall": dataclasses.replace(wait["launch"], hatch=True),
        "profiler": Paint(fill=paper, outline=grey, text=ink, hatch=True),
        "unexplained": Paint(fill=paper, outline=grey, text=ink, dashed=True),
    }


LIGHT = Theme(
    ink="#16191d",
    muted="#565e68",
    paper="#ffffff",
    grid="#e6e9ec",
    axis="#b9c0c8",
    accent="#0072b2",
    bracket="#b9c0c8",
    mark="#565e68",
    area="#7d8794",
    area_light="#d9dee3",
    area_lightest="#eceff2",
    on_mark="#ffffff",
    parts=_parts(
        {
            "launch": ("#eaaf80", "#d55e00"),
            "launch-call": ("#f3cf80", "#e69f00"),
            "build": ("#e6bcd3", "#cc79a7"),
            "sync": ("#f8f2a1", "#f0e442"),
            "turnaround": ("#ccced2", "#565e68"),
        },
        paper="#ffffff",
        ink="#16191d",
    ),
)
DARK = Theme(
    ink="#e8eaed",
    muted="#a6aeb8",
    paper="#14171b",
    grid="#2a3037",
    axis="#4a525c",
    accent="#56b4e9",
    bracket="#4a525c",
    mark="#a6aeb8",
    area="#8b95a1",
    area_light="#333b44",
    area_lightest="#252b32",
    on_mark="#14171b",
    # The light fills' full-strength colours, mixed into the page.
    parts=_parts(
        {
            "launch": ("#7e3e0c", "#d55e00"),
            "launch-call": ("#7a570c", "#e69f00"),
            "build": ("#794d68", "#cc79a7"),
            "sync": ("#6e692a", "#f0e442"),
            "turnaround": ("#50565d", "#9aa3ad"),
        },
        paper="#14171b",
        ink="#ffffff",
    ),
)


def _coded() -> tuple[Theme, dict[str, tuple[str, str]]]:
    """Return a theme in which every role has a colour of its own, and what that is on a light and on a dark page."""
    meanings: dict[str, tuple[str, str]] = {}

    def code(light: str, dark: str) -> str:
        name = f"#c0de{len(meanings):02x}"
        meanings[name] = light, dark
        return name

    def coded(light: _Coloured, dark: _Coloured) -> _Coloured:
        roles = [field.name for field in dataclasses.fields(light) if field.type == "str"]
        codes: dict[str, Any] = {role: code(getattr(light, role), getattr(dark, role)) for role in roles}
        return dataclasses.replace(light, **codes)

    parts = {part: coded(paint, DARK.parts[part]) for part, paint in LIGHT.parts.items()}
    return dataclasses.replace(coded(LIGHT, DARK), parts=parts), meanings


# A chart is drawn once, in the colours of CODED, and then coloured in for either page.
CODED, MEANINGS = _coded()


def coloured(svg: str, *, page: int) -> str:
    """Put the colours of the light page (0) or the dark page (1) in the place of their codes."""
    return re.sub("|".join(MEANINGS), lambda match: MEANINGS[match[0]][page], svg)
