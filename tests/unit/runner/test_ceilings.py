"""Ceilings: the measuring itself on the host, in small, and the cache it is kept in."""

import pytest

from reportgen.recording import Ceilings, Device, Environment
from reportgen.runner.ceilings_cache import CeilingsKey, read_cached, write_cached
from reportgen.runner.limits import obtain_ceilings
from tests.unit.runner.fake_device import FakeDevice

KEY = CeilingsKey(device="NVIDIA H200", multiprocessors=132, driver="580.65", torch="2.11.0+cu130")
MEASURED = Ceilings(copy_bytes_per_s=4.3e12, matmul_flops_per_s={"bfloat16": 799e12}, launch_us=8.0, method="measured")


def test_what_was_measured_is_found_again_under_the_same_device_driver_and_torch(tmp_path):
    write_cached(KEY, MEASURED, tmp_path)

    assert read_cached(KEY, tmp_path) == MEASURED
    assert [path.name for path in tmp_path.iterdir()] == ["ceilings-nvidia-h200-132-580.65-2.11.0-cu130.json"]


@pytest.mark.parametrize("change", [{"driver": "590.1"}, {"torch": "2.12.0"}, {"multiprocessors": 16}])
def test_another_driver_torch_or_slice_of_the_device_is_measured_anew(tmp_path, change):
    write_cached(KEY, MEASURED, tmp_path)
    other = CeilingsKey(
        **{"device": KEY.device, "multiprocessors": 132, "driver": KEY.driver, "torch": KEY.torch} | change
    )

    assert read_cached(other, tmp_path) is None


def test_a_broken_cache_counts_as_none(tmp_path):
    write_cached(KEY, MEASURED, tmp_path)
    next(tmp_path.iterdir()).write_text("{")

    assert read_cached(KEY, tmp_path) is None


def test_a_cache_that_cannot_be_written_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("")

    write_cached(KEY, MEASURED, tmp_path / "file" / "folder")

    assert read_cached(KEY, tmp_path / "file" / "folder") is None


class EvenClock(FakeDevice):
    """A clock on which 100 us pass between two marks, whatever is done."""

    def mark(self):
        self.host_us += 100.0
        return self.host_us


@pytest.mark.torch
def test_a_copy_counts_what_is_read_and_what_is_written():
    torch = pytest.importorskip("torch")
    from reportgen.runner.ceilings import Effort, copy_rate

    effort = Effort(copy_bytes=2**20, num_blocks=2, block_steps=4)

    # 1 MiB read and 1 MiB written in 25 us.
    assert copy_rate(torch.device("cpu"), EvenClock(), effort) == pytest.approx(2 * 2**20 / 25e-6)


@pytest.mark.torch
def test_the_host_is_measured_in_the_types_that_it_multiplies():
    torch = pytest.importorskip("torch")
    from reportgen.runner.ceilings import Effort, measure_ceilings

    effort = Effort(copy_bytes=2**16, matrix_size=64, num_blocks=1, block_steps=2, num_launches=3)
    found = measure_ceilings(torch.device("cpu"), effort)

    assert found.method == "measured"
    assert set(found.matmul_flops_per_s) == {"float32", "float16", "bfloat16"}
    assert all(rate > 0 for rate in (found.copy_bytes_per_s, found.launch_us, *found.matmul_flops_per_s.values()))


@pytest.mark.torch
def test_tf32_is_switched_back_after_a_measurement():
    torch = pytest.importorskip("torch")
    from reportgen.runner.ceilings import _plain

    before = torch.backends.cuda.matmul.allow_tf32
    with _plain(8, torch.float32, torch.device("cpu"), tf32=not before) as multiply:
        assert torch.backends.cuda.matmul.allow_tf32 is not before
        multiply()

    assert torch.backends.cuda.matmul.allow_tf32 is before


@pytest.mark.torch
def test_a_device_is_measured_in_a_process_of_its_own_and_once(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    device, environment = Device(index=0, name="a host"), Environment(torch="2.13")

    first, measured = obtain_ceilings(device, "cpu", environment, tmp_path / "log.txt")
    second, found = obtain_ceilings(device, "cpu", environment, tmp_path / "log.txt")

    assert (measured.name, measured.outcome, measured.reason) == ("ceilings", "done", None)
    assert first.method == "measured"
    assert second == first
    assert found.reason == "measured earlier with this device, driver and torch"


@pytest.mark.torch
def test_a_device_that_cannot_be_measured_costs_only_its_ceilings(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    ceilings, record = obtain_ceilings(
        Device(index=0, name="none"), "no-such-device", Environment(), tmp_path / "log.txt"
    )

    assert ceilings == Ceilings()
    assert (record.outcome, record.reason) == ("failed", "its process ended itself with exit code 1")
    assert not (tmp_path / "reportgen").exists()
