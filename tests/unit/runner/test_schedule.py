import pytest

from reportgen.runner import schedule


@pytest.mark.parametrize(
    ("step_us", "steps"),
    [
        (10.0, 48),  # short steps: as many as a block has
        (50_000.0, 20),  # one second of them
        (900_000.0, 3),  # long ones: as few as tell anything
        (1e8, 3),
    ],
)
def test_a_block_lasts_a_second_within_its_limits(step_us, steps):
    assert schedule.block_steps(step_us) == steps


def test_b2_windows_shrink_with_the_step_and_keep_what_an_interval_needs():
    assert schedule.timeline_window(1000.0) == schedule.Window(warmup_steps=1, recorded_steps=5)
    assert schedule.timeline_window(1.5e6) == schedule.Window(warmup_steps=1, recorded_steps=4)
    assert schedule.timeline_window(60e6) == schedule.Window(warmup_steps=1, recorded_steps=3)
    assert schedule.detail_window(1000.0) == schedule.Window(warmup_steps=3, recorded_steps=3)
    assert schedule.detail_window(60e6) == schedule.Window(warmup_steps=1, recorded_steps=2)


@pytest.mark.parametrize(
    ("medians", "drifts"),
    [
        ([100.0, 90.0], False),  # two blocks show no trend
        ([100.0, 90.0, 80.0], True),
        ([80.0, 90.0, 100.0], True),
        ([100.0, 99.0, 98.0], False),  # a trend of 2 %
        ([100.0, 80.0, 100.0], False),  # wandering, no trend
        ([200.0, 150.0, 100.0, 99.0, 100.0], False),  # it drifted once
    ],
)
def test_blocks_drift_where_the_last_three_move_one_way_by_more_than_a_twentieth(medians, drifts):
    assert schedule.is_drifting(medians) is drifts
