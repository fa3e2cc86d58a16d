"""What is said of a failure, in one line that every file and terminal takes."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from reportgen.runner.failures import explain


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("\n  the first line\nthe second", "ValueError: the first line"),
        ("", "ValueError"),
        ("\x1b[31mred\ud800", "ValueError: \ufffd[31mred\ufffd"),
        ("z" * 1_000_000, "ValueError: " + "z" * 500 + "…"),
    ],
)
def test_a_reason_is_one_short_printable_line(message, said):
    assert explain(ValueError(message), Path("workload.py")) == said
