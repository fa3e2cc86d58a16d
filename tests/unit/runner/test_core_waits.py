"""Waits for a core, as Linux counts them; two threads that want one core wait for each other."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reportgen.runner.core_waits import CoreWaits
from reportgen.runner.stepping import Stepper, time_block
from reportgen.workload import Step
from tests.unit.runner.fake_device import FakeDevice

KEPT = Path("/proc/thread-self/schedstat").is_file()
needs_accounts = pytest.mark.skipif(not KEPT, reason="this kernel keeps no accounts of waits for a core")


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@needs_accounts
def test_a_thread_whose_core_another_process_wants_has_waited_for_about_half_the_time():
    cores = os.sched_getaffinity(0)
    core = min(cores)
    program = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    waits = CoreWaits()
    os.sched_setaffinity(0, {core})
    try:
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as rival:
            assert rival.stdout is not None
            rival.stdout.readline()
            waits.watch()
            before, start, worked = waits.total_us(), time.perf_counter(), time.thread_time()
            spin(0.4)
            waited, spent = (waits.total_us() - before) / 1e6, time.perf_counter() - start
            worked = time.thread_time() - worked
            rival.kill()
    finally:
        os.sched_setaffinity(0, cores)
        waits.close()

    # The clock's time is what the thread worked and what it waited; nothing else happened to it.
    assert worked + waited == pytest.approx(spent, rel=0.1)
    assert waited > 0.2 * spent


@needs_accounts
def test_a_thread_that_sleeps_waits_for_no_core():
    waits = CoreWaits()
    waits.watch()
    before = waits.total_us()
    time.sleep(0.2)

    assert waits.total_us() - before < 100_000
    waits.close()


@needs_accounts
def test_the_threads_that_work_are_watched_and_one_that_ends_harms_nothing():
    done = threading.Event()
    thread = threading.Thread(target=lambda: (spin(0.05), done.wait()))
    thread.start()
    time.sleep(0.2)
    waits = CoreWaits(most_threads=64)
    waits.watch()
    assert thread.native_id in waits._files
    done.set()
    thread.join()

    assert waits.total_us() is not None
    waits.close()
    assert waits.total_us() is None


class Waits(CoreWaits):
    """Each step waits for a core for 7 µs."""

    def watch(self):
        self.total = 0.0

    def total_us(self):
        self.total += 7.0
        return self.total


@pytest.mark.parametrize("is_synchronous", [True, False])
def test_every_time_of_a_block_has_its_waits_beside_it(is_synchronous):
    device = FakeDevice(is_synchronous=is_synchronous)
    step = Step(lambda: device.issue(host_us=10, device_us=30), model=None)

    block = time_block(Stepper(step, device, Waits()), 4)

    assert block.latencies_starved_us == (7.0,) * len(block.latencies_us) == (7.0,) * 4
    assert block.intervals_starved_us == (7.0,) * len(block.intervals_us)


def test_where_the_system_does_not_tell_there_are_none(monkeypatch, tmp_path):
    monkeypatch.setattr("reportgen.runner.core_waits._TASKS", tmp_path / "none")
    device = FakeDevice()
    step = Step(lambda: device.issue(host_us=10, device_us=30), model=None)

    block = time_block(Stepper(step, device), 4)

    assert (block.latencies_starved_us, block.intervals_starved_us) == ((), ())
    assert len(block.intervals_us) == 4
