"""Data for the page's script: JSON in an element that no browser runs."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from reportgen.recording import encode_json

# As escapes these mean the same to JSON, and nothing to HTML: no name can end the element or open another.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def inert_json(value: Any) -> Markup:
    """Return `value` as JSON that may stand inside ``<script type="application/json">``."""
    return Markup(encode_json(value).decode("utf-8").translate(_ESCAPES))
