"""The finished example: what lies beside its recording still follows from it."""

import msgspec
import pytest

from reportgen.pipeline import open_recording
from reportgen.report.assemble import assemble_recording
from reportgen.report.model import Report
from tests.integration.command import ROOT

EXAMPLE = ROOT / "reports" / "example-gpt2-h200"
pytestmark = pytest.mark.skipif(not (EXAMPLE / "report.json").is_file(), reason="the example is not in this checkout")


def _leaves(value, path=""):
    """Return every leaf of plain data by its path."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {path: value}
    return {key: leaf for name, item in items for key, leaf in _leaves(item, f"{path}/{name}").items()}


def test_report_json_follows_from_the_recording():
    written = msgspec.json.decode((EXAMPLE / "report.json").read_bytes())
    given = msgspec.json.decode((EXAMPLE / "report.json").read_bytes(), type=Report).input
    report, _ = assemble_recording(open_recording(EXAMPLE), given)
    made = msgspec.json.decode(msgspec.json.encode(report))

    # The version rises with each release; everything else is what the recording says.
    made["generator"] = written["generator"]
    made, written = _leaves(made), _leaves(written)
    assert made.keys() == written.keys()
    # Sums may differ in their last digits from one build of NumPy to another.
    assert made == {
        path: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for path, value in written.items()
    }


def test_the_device_limits_a_step_that_its_own_work_fills():
    report = msgspec.json.decode((EXAMPLE / "report.json").read_bytes(), type=Report)
    report, _ = assemble_recording(open_recording(EXAMPLE), report.input)
    left = {sequence.case: (sequence.fixes[-1], sequence.device_after_us) for sequence in report.fixes}

    assert left
    for fix, device_us in left.values():
        if device_us is not None and device_us >= 0.9 * fix.step_after_us:
            assert fix.limits_next == "device"


def test_the_example_is_complete_and_small():
    assert {path.name for path in EXAMPLE.iterdir()} >= {"report.html", "report.pdf", "report.json", "recording"}
    size_bytes = sum(path.stat().st_size for path in (EXAMPLE / "recording").rglob("*") if path.is_file())
    assert size_bytes < 2_000_000
