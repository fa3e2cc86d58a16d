"""The workloads that ship, and what makes each small enough for a test."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "workloads"
PATHS = sorted(FOLDER.glob("*.py"))
_SMALL = {
    "preset": "tiny",
    "batch": "2",
    "seq_len": "32",
    "past_len": "32",
    "max_len": "48",
    "size": "64",
    "new_tokens": "4",
    "num_texts": "16",
    "workers": "1",
}
SMALL = tuple(f"{name}={value}" for name, value in _SMALL.items())


def small_settings(outline):
    """Return the settings that make the cases of `outline` small, of those that each declares."""
    return tuple(
        f"{case.name}.{name}={value}"
        for case in outline.cases
        for name, value in _SMALL.items()
        if name in case.parameters
    )
