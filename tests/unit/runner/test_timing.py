import statistics

import pytest

from reportgen.runner.stepping import Stepper
from reportgen.runner.timing import Timekeeper
from reportgen.workload import NUM_FIRST_VISITS, Step
from tests.unit.runner.fake_device import FakeDevice


class GrowingCache:
    """A step that builds a plan of 37 ms for each length it meets for the first time, and works for 8 ms."""

    def __init__(self, device):
        self.device = device
        self.length = 0
        self.planned = set()

    def before(self, index):
        if index == 0:
            self.length = 0
        assert index == self.length

    def run(self):
        self.device.issue(host_us=0 if self.length in self.planned else 37_000, device_us=8_000)
        self.planned.add(self.length)
        self.length += 1


def _measured(step, device):
    keeper = Timekeeper(Stepper(step, device), lambda: None)
    keeper.settle()
    keeper.measure_block()
    keeper.measure_block()
    keeper.measure_until_settled()
    keeper.measure_revisits()
    return keeper.timing({})


def test_first_visits_and_revisits_of_growing_shapes_come_out_apart():
    device = FakeDevice()
    cache = GrowingCache(device)

    timing = _measured(Step(cache.run, model=None, before=cache.before), device)

    assert timing.mode == "drained"
    assert timing.pipelined is None
    assert set(timing.drained.samples_us) == {45_000}
    assert set(timing.revisit.samples_us) == {8_000}


def test_a_lap_that_runs_out_does_not_mix_visits():
    device = FakeDevice()
    cache = GrowingCache(device)
    stepper = Stepper(Step(cache.run, model=None, before=cache.before), device)
    keeper = Timekeeper(stepper, lambda: None)
    keeper.settle()
    while stepper.is_first_lap:
        keeper.measure_block()
    keeper.measure_block()

    timing = keeper.timing({})
    assert set(timing.drained.samples_us) == {45_000}
    assert len(timing.drained.samples_us) < NUM_FIRST_VISITS


def test_a_pipelined_case_reports_both_times_and_no_revisit():
    device = FakeDevice()
    step = Step(lambda: device.issue(host_us=1_000, device_us=3_000), model=None)

    timing = _measured(step, device)

    assert (timing.mode, timing.revisit) == ("pipelined", None)
    assert statistics.median(timing.pipelined.samples_us) == 3_000
    assert statistics.median(timing.drained.samples_us) == 4_000
    assert timing.pipelined.settled
    assert timing.pipelined.blocks == (0,) * 48 + (1,) * 48 + (2,) * 48


def test_the_workload_says_which_time_counts():
    device = FakeDevice()
    step = Step(lambda: device.issue(host_us=1_000, device_us=3_000), model=None, mode="drained")

    assert _measured(step, device).mode == "drained"


def test_steps_that_warm_up_are_not_measured():
    device = FakeDevice()
    costs = iter([5_000, 4_000, 3_000, 2_000])
    step = Step(lambda: device.issue(host_us=0, device_us=next(costs, 1_000)), model=None)

    timing = _measured(step, device)

    assert set(timing.pipelined.samples_us) == {1_000}


def test_blocks_are_added_while_the_step_drifts_and_the_drift_is_said():
    device = FakeDevice()
    cost = [10_000.0]

    def run():
        cost[0] *= 1.001
        device.issue(host_us=0, device_us=cost[0])

    timing = _measured(Step(run, model=None), device)

    # It slows down without end, so time decides: more than the three blocks, about 15 seconds in all.
    assert max(timing.pipelined.blocks) > 2
    assert not timing.pipelined.settled
    assert sum(timing.pipelined.samples_us) + sum(timing.drained.samples_us) == pytest.approx(15e6, rel=0.2)


def test_the_device_s_conditions_are_read_once_a_block():
    device = FakeDevice()
    clocks = []
    keeper = Timekeeper(
        Stepper(Step(lambda: device.issue(host_us=1, device_us=1), model=None), device), lambda: clocks.append(1980)
    )
    keeper.settle()
    keeper.measure_block()
    keeper.measure_block()

    assert keeper.timing({"clock_mhz": clocks}).conditions == {"clock_mhz": [1980, 1980]}
