"""report.html: one file that reaches for nothing outside itself."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from markupsafe import Markup

from reportgen.report import templating
from reportgen.report.view.document import view
from reportgen.report.view.drawings import Drawings, draw
from reportgen.report.view.medium import SCREEN
from reportgen.resources import resource_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.report.model import Report

_SCRIPTS = ("window.js", "lanes.js", "timeline.js", "curve.js", "search.js", "report.js")


def render_html(report: Report, drawings: Drawings | None = None, steps: Sequence[StepExport] = ()) -> str:
    """Return `report` as one HTML page.

    `drawings` are its charts where they were drawn already, `steps` the step of each case whose events are known.
    """
    script = _script()
    return templating.render(
        "screen.html.j2",
        document=view(report, drawings if drawings is not None else draw(report), SCREEN, steps),
        styles=Markup(templating.stylesheet("shared.css", "screen.css", "explore.css")),
        script=Markup(script),
        policy=_policy(script),
    )


def _script() -> str:
    """Return the files of the page's script as one function, in the order in which each needs the one before."""
    folder = resource_folder("templates")
    files = "\n".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{files}}})();\n'


def _policy(script: str) -> str:
    """Forbid everything but the page's own styles, its one script and its images."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
