"""What is named behind a step time that changed."""

from reportgen.history.compare import compare_reports
from reportgen.nightly.telling import explaining
from tests.night_builder import night, night_case


def names(new, change_us):
    (case,) = compare_reports(night(), night([new])).cases
    return [(row.name, row.basis) for row in explaining(case, change_us)]


def test_a_longer_step_is_explained_by_what_got_longer_on_the_device_first():
    slower = night_case(mm_us=220.0, forward_us=1800.0)  # 100 us on the device, 900 under the profiler's host

    assert names(slower, 100.0) == [("aten::mm", "device")]


def test_what_got_shorter_explains_no_longer_step():
    assert names(night_case(mm_us=20.0), 100.0) == []
    assert names(night_case(mm_us=20.0, forward_us=1800.0), 100.0) == [("forward", "host")]


def test_less_than_a_tenth_of_the_change_explains_nothing():
    assert names(night_case(mm_us=129.0), 100.0) == []
    assert names(night_case(mm_us=131.0), 100.0) == [("aten::mm", "device")]
