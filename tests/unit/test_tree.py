"""What the documents say of the tree, held to it: conditions and their tests, where every exception is caught."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_every_condition_has_a_test_of_its_name_and_every_such_test_a_condition() -> None:
    described = re.findall(r"^\| ([A-I]\d) \|", read(ROOT / "docs" / "conditions.md"), re.MULTILINE)
    tests = "\n".join(read(path) for path in (ROOT / "tests").rglob("test_*.py"))
    tested = {name.upper() for name in re.findall(r"^def test_([a-i]\d)_", tests, re.MULTILINE)}

    assert described == sorted(tested)


def test_every_exception_is_caught_only_where_the_design_says() -> None:
    package = ROOT / "reportgen"
    caught = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"except(?: \(?Exception\b.*)?:", read(path))
    }
    (words,) = re.findall(r"^\*\*Errors\*\*.*?\n\n|^\*\*Errors\*\*.*\Z", read(ROOT / "docs" / "design.md"), re.S | re.M)

    assert caught == set(re.findall(r"`(\w+(?:/\w+)+\.py)`", words))
    assert len(caught) == 5
    assert "five places" in words
