"""Levels, changes and noise, on series short enough to follow by hand."""

import math

import pytest

from reportgen.history import noise, wording
from reportgen.history.quantities import BY_NAME, crowding, step_time
from reportgen.history.series import changes, night_value, read_last
from tests.night_builder import night_case, timed

DEVICE, STEP, KERNELS = BY_NAME["device_time"], BY_NAME["step_time"], BY_NAME["kernels"]
# Ten nights around 1000 us that differ by one per cent either way.
QUIET = [1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0, 1010.0, 990.0, 1000.0]


def test_the_first_night_has_nothing_to_be_compared_with():
    assert read_last([1000.0], DEVICE).verdict == "not-comparable"


def test_device_time_that_wanders_by_a_thousandth_is_noise():
    reading = read_last([1000.0, 1001.0, 999.0, 1000.5], DEVICE)

    assert (reading.verdict, reading.base) == ("within-noise", 1000.0)


def test_five_per_cent_more_device_time_is_told_on_the_night_it_comes_and_only_then():
    values = [1000.0] * 5 + [1050.0] * 3

    assert read_last(values[:6], DEVICE).verdict == "worse"
    assert read_last(values[:7], DEVICE).verdict == "unchanged"
    assert [(change.start, change.known) for change in changes(values, DEVICE)] == [(5, 5)]


def test_device_time_cannot_creep_up_unseen():
    values = [1000.0 * 1.003**night for night in range(30)]

    assert changes(values, DEVICE)


def test_another_kind_of_activity_is_changed_and_not_worse():
    assert read_last([10.0, 10.0, 12.0], KERNELS).verdict == "changed"


def test_one_wild_night_changes_nothing_and_asks_for_more():
    reading = read_last([*QUIET, 1300.0], STEP)

    assert reading.verdict == "within-noise"
    assert reading.needs_nights == 3
    assert not changes([*QUIET, 1300.0, 1000.0, 1000.0], STEP)
    assert not changes([*QUIET, 1300.0, 1300.0, 1000.0], STEP)


def test_what_ten_nights_would_not_tell_is_said_to_need_more():
    # The nights before wander by 4.9 %, of which 13 % more is 2.6 deviations.
    values = [1000.0, 1050.0, 950.0, 1000.0, 1060.0, 940.0, 1000.0, 1050.0, 950.0, 1000.0, 1130.0]

    reading = read_last(values, STEP)

    assert reading.needs_nights == 11
    assert wording.needs(11).replace("\u00a0", " ") == (
        ", needs more than 10 nights, or more --repeats, to be told from noise"
    )


def test_nights_that_lie_as_far_off_as_the_last_are_no_part_of_its_level():
    first, second = read_last([*QUIET, 1120.0], STEP), read_last([*QUIET, 1120.0, 1120.0], STEP)

    assert second.base == first.base == pytest.approx(1000.0, rel=1e-4)
    assert second.needs_nights == first.needs_nights == 3


def test_a_wild_night_among_those_before_does_not_hide_a_change():
    assert changes([*QUIET, 2000.0, *QUIET, 1200.0, 1200.0, 1200.0], STEP)


def test_a_step_that_stays_longer_is_told_with_the_night_it_began():
    values = [*QUIET, 1200.0, 1210.0, 1190.0]
    (change,) = changes(values, STEP)

    assert change.start == 10
    assert change.known == 12
    assert change.new == pytest.approx(1200.0, rel=0.001)


def test_a_step_that_stays_shorter_is_better():
    assert read_last([*QUIET, 800.0, 805.0, 795.0], STEP).verdict == "better"


def test_too_few_nights_before_decide_nothing():
    assert not changes([*QUIET[:6], 1500.0, 1500.0], STEP)


def test_one_per_cent_is_nobodys_concern_however_sure():
    assert not changes([1000.0] * 30 + [1012.0] * 10, STEP)


def test_what_does_not_come_twice_in_a_night_is_no_change_of_device_time():
    assert night_value([1050.0, 1001.0], 1000.0, DEVICE) == 1001.0
    assert night_value([1050.0, 1049.0], 1000.0, DEVICE) == 1049.0
    assert night_value([1100.0, 1000.0], 1000.0, STEP) == 1050.0


def test_nights_needed_follow_from_effect_and_spread():
    # (4.265 + 2.326) x 0.02 x sqrt(pi/2/n + 1/20) <= ln 1.1 = 0.0953 from n = 4 on (0.0877; three: 0.0998).
    assert noise.nights_needed(math.log(1.1), 0.02, 20) == 4
    assert noise.nights_needed(math.log(1.01), 0.05, 20) is None


def test_the_tail_of_students_t_is_heavier_the_fewer_the_nights():
    assert noise.critical(None) == pytest.approx(4.265, abs=0.001)
    assert noise.critical(9) > noise.critical(30) > noise.critical(None)


def test_on_a_busy_host_the_step_is_the_median_of_the_steps_that_had_their_cores():
    # Ten steps of 100 to 109 us were left alone; of nine the threads waited for 3 % of it and more.
    samples = [*(100.0 + number for number in range(10)), *[900.0] * 9]
    case = night_case(timing=timed(*samples, starved_us=[*[2.0] * 10, *[27.0] * 9]))

    assert case.timing.step_us == 109.0
    assert step_time(case) == 104.5
    assert crowding(case) is None


def test_nine_undisturbed_steps_are_too_few_to_tell_a_step_time():
    case = night_case(timing=timed(*[100.0] * 9, *[900.0] * 11, starved_us=[*[0.0] * 9, *[500.0] * 11]))

    assert step_time(case) == 900.0
    assert crowding(case).replace("\u00a0", " ") == "others had the cores (9 of 20 steps ran undisturbed)"


def test_where_the_system_does_not_tell_who_had_the_cores_the_step_is_the_median_of_all():
    case = night_case(timing=timed(*[100.0] * 9, *[900.0] * 11))

    assert (step_time(case), crowding(case)) == (900.0, None)
