"""A clock that stood still while steps were timed."""

from reportgen.analysis.steps.timing import _throughput
from reportgen.recording import RecordedCase


def test_steps_of_no_time_have_no_throughput():
    case = RecordedCase(name="a", phase="forward", folder="a", tokens_per_step=4.0)

    assert _throughput(case, 0.0) is None
    assert _throughput(case, 2e6).value == 2.0
