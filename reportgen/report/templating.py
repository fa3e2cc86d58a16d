"""The templates' engine: strict, escaping, with the few filters that turn plain texts into markup."""

from __future__ import annotations

import base64
import functools
import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reportgen.formatting import NBSP, TIMES
from reportgen.report.inert import inert_json
from reportgen.resources import font_path, resource_folder

if TYPE_CHECKING:
    from pathlib import Path

_FONTS = (
    ("Report Sans", "LiberationSans-Regular", "400", "normal"),
    ("Report Sans", "LiberationSans-Bold", "700", "normal"),
    ("Report Sans", "LiberationSans-Italic", "400", "italic"),
    ("Report Mono", "LiberationMono-Regular", "400", "normal"),
    ("Report Mono", "LiberationMono-Bold", "700", "normal"),
)
_FONT_SCHEME = "reportgen-font:"
# Where a long name may be broken: after punctuation that separates its parts.
_BREAKS = re.compile(r"[_./:,\-<>(]+")
_COUNTED = re.compile(rf"(?<=\d) {TIMES} ")
_IN_FIGURES = frozenset(".,:/-")
_FIGURE_BEFORE = re.compile(r"\d[eE]?$")
_BREAK_FROM = 16


@functools.cache
def environment() -> Environment:
    """Return the engine; templates are compiled once in a process."""
    made = Environment(
        loader=FileSystemLoader(resource_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    made.filters["prose"] = prose
    made.filters["breakable"] = breakable
    made.filters["data_uri"] = data_uri
    made.filters["inert_json"] = inert_json
    return made


def render(name: str, **values: Any) -> str:
    """Render the template `name`; half a character, as names of traces and of files may hold, as a question mark."""
    page = environment().get_template(name).render(**values)
    return page.encode("utf-8", "replace").decode("utf-8")


def prose(text: str) -> Markup:
    """Escape `text` and set what stands between backticks as code; a backtick without its partner stays."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = [f"{pieces[-2]}`{pieces[-1]}"]
    return Markup("").join(
        Markup("<code>{}</code>").format(breakable(piece)) if number % 2 else breakable(piece)
        for number, piece in enumerate(pieces)
    )


def breakable(text: str) -> Markup:
    """Escape `text` and let long names break after their punctuation; a count keeps to its "×"."""
    text = _COUNTED.sub(f"{NBSP}{TIMES} ", text)
    marked = " ".join(_BREAKS.sub(_with_break, word) if len(word) >= _BREAK_FROM else word for word in text.split(" "))
    return Markup(str(escape(marked)).replace("\0", "<wbr>"))


def _with_break(found: re.Match[str]) -> str:
    """Return the punctuation with a break behind it; without one where it stands inside a figure: 2.11, 1e-05."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    in_figure = found[0] in _IN_FIGURES and after[:1].isdigit() and _FIGURE_BEFORE.search(before)
    return found[0] if in_figure else f"{found[0]}\0"


def data_uri(content: str | bytes, kind: str) -> str:
    """Return `content` as a data URI of media type `kind`."""
    data = content.encode() if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def stylesheet(*names: str) -> str:
    """Return the style sheets `names` of the templates, one after another."""
    folder = resource_folder("templates")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def font_file(address: str) -> Path | None:
    """Return the font of the package that `font_faces` gives this address; None for any other."""
    known = {f"{_FONT_SCHEME}{file}": file for _, file, _, _ in _FONTS}
    return font_path(known[address]) if address in known else None


def font_faces() -> str:
    """Return the rules that bring the package's own fonts into the PDF, each by an address of its own."""
    return "\n".join(
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {style}; '
        f'src: url("{_FONT_SCHEME}{file}") format("truetype"); }}'
        for family, file, weight, style in _FONTS
    )
