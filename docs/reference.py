"""Write report-json-fields.md from the model: every struct of a report, each field with its type and its comment.

Run it after a change of the model: ``python docs/reference.py``. A test says when that was forgotten.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from pathlib import Path
from typing import Any

import msgspec

from reportgen.report.model import Report

TARGET = Path(__file__).with_name("report-json-fields.md")
HEAD = """# report.json, every field

Made from the model by `python docs/reference.py`; what the keys mean together is in [report-json.md](report-json.md).
`T | None` may be null: not measured, or not applicable.
"""


def reference() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(_section(struct) for struct in _structs(Report, []))])


def _structs(kind: Any, seen: list[type]) -> list[type]:
    """Gather every struct that `kind` is made of, each before those inside it."""
    for part in (typing.get_origin(kind), *typing.get_args(kind)):
        if part is not None:
            _structs(part, seen)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in seen:
        seen.append(kind)
        for hint in typing.get_type_hints(kind).values():
            _structs(hint, seen)
    return seen


def _section(struct: type) -> str:
    source = textwrap.dedent(inspect.getsource(struct)).splitlines()
    tree = ast.parse("\n".join(source)).body[0]
    assert isinstance(tree, ast.ClassDef)
    summary = " ".join((ast.get_docstring(tree) or "").split())
    rows = [
        f"| `{field.target.id}` | `{_type(field)}` | {_comment(source, field)} |"
        for field in tree.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    ]
    return "\n".join(
        [f"## {struct.__name__}\n", f"{summary}\n", "| field | type | |", "| --- | --- | --- |", *rows, ""]
    )


def _type(field: ast.AnnAssign) -> str:
    return ast.unparse(field.annotation).replace("|", "\\|").replace("tuple[", "[").replace(", ...]", ", …]")


def _comment(source: list[str], field: ast.AnnAssign) -> str:
    """Return what stands behind a field, or in the lines of comment above it."""
    behind = source[(field.end_lineno or field.lineno) - 1][field.end_col_offset :].partition("# ")[2]
    above: list[str] = []
    row = field.lineno - 2
    while source[row].lstrip().startswith("# "):
        above.insert(0, source[row].lstrip()[2:])
        row -= 1
    return " ".join(part for part in (" ".join(above), behind.strip()) if part).replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
