import pytest

from reportgen.runner.stepping import Stepper, time_block
from reportgen.workload import NUM_FIRST_VISITS, Step
from tests.unit.runner.fake_device import FakeDevice


def _step(device, *, host_us, device_us, **options):
    return Step(lambda: device.issue(host_us=host_us, device_us=device_us), model=None, **options)


def test_a_device_bound_step_is_pipelined_at_the_device_s_pace_and_drained_at_the_sum():
    device = FakeDevice()
    block = time_block(Stepper(_step(device, host_us=10, device_us=30), device), 4)

    # Back to back the device does one step every 30; from an idle device the host's 10 come first.
    assert block.intervals_us == (30, 30, 30, 30)
    assert block.latencies_us == (40, 40, 40, 40)


def test_a_host_bound_step_is_pipelined_at_the_host_s_pace():
    device = FakeDevice()
    block = time_block(Stepper(_step(device, host_us=30, device_us=10), device), 3)

    assert block.intervals_us == (30, 30, 30)
    assert block.latencies_us == (40, 40, 40)


def test_a_step_whose_host_ends_after_its_device_is_complete_when_the_host_is():
    device = FakeDevice()

    def run():
        device.issue(host_us=5, device_us=1)
        device.issue(host_us=20, device_us=0)

    block = time_block(Stepper(Step(run, model=None), device), 2)

    assert block.intervals_us == (25, 25)


def test_where_the_host_is_the_device_one_run_gives_both_times():
    device = FakeDevice(is_synchronous=True)
    stepper = Stepper(_step(device, host_us=10, device_us=30), device)

    block = time_block(stepper, 3)

    assert block.latencies_us == (40, 40, 40)
    assert block.intervals_us == (40, 40)
    assert stepper.num_run == 3


def test_what_prepares_a_step_is_not_timed_and_leaves_no_pipelined_time():
    device = FakeDevice()
    step = _step(device, host_us=10, device_us=30, before=lambda index: device.issue(host_us=500, device_us=500))

    block = time_block(Stepper(step, device), 3)

    assert block.latencies_us == (40, 40, 40)
    assert block.intervals_us == ()


def test_preparation_runs_on_a_drained_device():
    device = FakeDevice()
    seen = []
    step = _step(device, host_us=1, device_us=100, before=lambda index: seen.append(device.host_us >= device.device_us))
    stepper = Stepper(step, device)
    for _ in range(3):
        stepper.prepare()
        stepper.run()

    assert seen == [True, True, True]


def test_the_index_counts_through_a_lap_and_starts_over():
    seen = []
    stepper = Stepper(Step(lambda: None, model=None, before=seen.append), FakeDevice())

    for number in range(NUM_FIRST_VISITS + 2):
        stepper.prepare()
        assert stepper.is_first_lap is (number < NUM_FIRST_VISITS)
        stepper.run()

    assert seen == [*range(NUM_FIRST_VISITS), 0, 1]


def test_a_lap_that_is_started_anew_is_no_first_lap():
    seen = []
    stepper = Stepper(Step(lambda: None, model=None, before=seen.append), FakeDevice())
    for _ in range(2):
        stepper.prepare()
        stepper.run()
    stepper.start_lap()
    stepper.prepare()

    assert seen == [0, 1, 0]
    assert not stepper.is_first_lap
    assert stepper.num_first_visits_left == 0


@pytest.mark.parametrize(("mode", "num_drains"), [("pipelined", 0), ("drained", 1)])
def test_the_device_is_waited_for_before_a_step_only_where_steps_start_on_an_idle_one(mode, num_drains):
    device = FakeDevice()
    Stepper(_step(device, host_us=1, device_us=1, mode=mode), device).prepare()

    assert device.num_drains == num_drains
