import pytest

from reportgen.analysis.steps.window import count
from reportgen.analysis.totals.regions import measure_regions
from reportgen.trace.reader import read_trace
from tests.trace_builder import base, kernel, launch, span, step, write_trace


def region(name, ts, dur):
    return span("user_annotation", name, ts, dur)


@pytest.fixture
def measured(tmp_path):
    """Two steps of 100 µs: a forward whose second half is "head", and a backward that launches from another thread."""
    events = []
    for number, start in enumerate((0, 100)):
        events += [
            step(number, start, 95),
            region("forward", start + 10, 40),
            region("head", start + 30, 20),
            region("backward", start + 55, 30),
            launch(start + 12, 2, c=10 * number + 1),
            launch(start + 32, 2, c=10 * number + 2),
            {**launch(start + 60, 2, c=10 * number + 3), "tid": 2},
            launch(start + 90, 2, c=10 * number + 4),
            kernel(start + 15, 4, c=10 * number + 1),
            kernel(start + 35, 6, c=10 * number + 2),
            # Runs after its region has closed, which changes nothing.
            kernel(start + 86, 8, c=10 * number + 3),
            kernel(start + 94, 2, c=10 * number + 4),
        ]
    trace = read_trace(write_trace(tmp_path, base(*events)))
    return {one.name: one for one in measure_regions(trace, count(trace)).items}


def test_a_region_has_what_was_launched_while_it_was_open_nested_ones_included(measured):
    assert {name: one.device_us_per_step for name, one in measured.items()} == {
        "forward": 10.0,
        "head": 6.0,
        "backward": 8.0,
    }
    assert measured["forward"].share_of_device == pytest.approx(0.5)  # 10 of 4 + 6 + 8 + 2


def test_a_region_has_its_own_time_on_the_host(measured):
    assert {name: one.host_us_per_step for name, one in measured.items()} == {
        "forward": 40.0,
        "head": 20.0,
        "backward": 30.0,
    }
    assert measured["head"].count_per_step == 1.0


def test_the_largest_comes_first_and_step_marks_are_none(measured):
    assert list(measured) == ["forward", "backward", "head"]


def test_without_a_device_regions_have_host_time_only(tmp_path):
    trace = read_trace(write_trace(tmp_path, base(step(0, 0, 50), region("forward", 5, 10))))

    (one,) = measure_regions(trace, count(trace)).items

    assert (one.host_us_per_step, one.device_us_per_step, one.share_of_device) == (10.0, None, None)
