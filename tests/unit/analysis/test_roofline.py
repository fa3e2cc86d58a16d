"""Where a call stands under a roof of round numbers: 100 TFLOP/s, 1 TB/s, so a ridge of 100 operations a byte."""

from __future__ import annotations

import pytest

from reportgen.analysis.roofline.datasheets import ceilings_of, datasheet_of
from reportgen.analysis.roofline.device_limits import limits_of
from reportgen.analysis.roofline.roofline import beats_roof, compute_type, is_tf32, place
from reportgen.analysis.work_models import Call, Work
from reportgen.recording import Ceilings, Device, Scalar

CEILINGS = Ceilings(
    copy_bytes_per_s=1e12,
    matmul_flops_per_s={"float16": 100e12, "float32": 10e12, "tf32": 50e12},
    method="measured",
)
PRODUCT = Call(name="aten::mm", shapes=((8, 8), (8, 8)), types=("float", "float"))


def test_right_of_the_ridge_arithmetic_limits() -> None:
    placed = place(Work(4e9, 1e6), 80.0, "float16", "matrix product", CEILINGS)

    # 4 GFLOP at 100 TFLOP/s are 40 us, 1 MB at 1 TB/s 1 us.
    assert (placed.bound, placed.roof_us, placed.roof_share, placed.ridge) == ("compute", 40.0, 0.5, 100.0)
    assert placed.flops_per_s == pytest.approx(50e12)


def test_left_of_the_ridge_memory_limits() -> None:
    placed = place(Work(1e9, 40e6), 80.0, "float16", "matrix product", CEILINGS)

    assert (placed.bound, placed.roof_us, placed.intensity) == ("memory", 40.0, 25.0)


@pytest.mark.parametrize(("time_us", "bound"), [(9.0, "latency"), (7.0, "memory"), (11.0, "memory")])
def test_a_call_under_10_us_and_a_quarter_of_the_roof_is_limited_by_latency(time_us: float, bound: str) -> None:
    assert place(Work(0.0, 2e6), time_us, "float32", "copy", CEILINGS).bound == bound


def test_without_ceilings_nothing_is_said() -> None:
    placed = place(Work(4e9, 1e6), 80.0, "float16", "matrix product", Ceilings())

    assert (placed.bound, placed.roof_share, placed.roof_us) == (None, None, None)
    assert placed.flops_per_s == pytest.approx(50e12)


def test_an_elementwise_call_needs_no_peak() -> None:
    bandwidth_only = Ceilings(copy_bytes_per_s=1e12, method="measured")
    assert place(Work(5e6, 40e6), 50.0, "float32", "elementwise", bandwidth_only).bound == "memory"


@pytest.mark.parametrize(("time_us", "bound"), [(50.0, "memory"), (100.0, None)])
def test_a_kernel_of_unknown_arithmetic_is_memory_bound_where_that_is_proven(time_us: float, bound: str | None) -> None:
    assert place(Work(None, 40e6), time_us, "float32", "generated", CEILINGS).bound == bound


@pytest.mark.parametrize(
    ("flags", "ceiling"),
    [({}, "float32"), ({"matmul_tf32": True}, "tf32"), ({"matmul_fp32_precision": "tf32"}, "tf32")],
)
def test_flags_decide_the_ceiling_of_an_fp32_product(flags: dict[str, Scalar], ceiling: str) -> None:
    assert compute_type(PRODUCT, "matrix product", flags) == ceiling


def test_a_convolution_is_called_with_its_own_flag() -> None:
    values = ("", "", "[1]", "[1]", "[1]", "1", "False", "False", "False")
    call = Call(name="aten::cudnn_convolution", shapes=((1, 1, 8), (1, 1, 3)), types=("float", "float"), values=values)

    assert not is_tf32(call, "convolution", {"cudnn_tf32": True})
    assert is_tf32(Call(name="aten::convolution_backward", shapes=()), "convolution", {})


@pytest.mark.parametrize(
    ("name", "half", "bandwidth"),
    [
        ("NVIDIA H200", 989.5e12, 4.8e12),
        ("NVIDIA H100 80GB HBM3", 989.5e12, 3.35e12),
        ("NVIDIA H100 PCIe", 756e12, 2.0e12),
        ("NVIDIA A100-SXM4-80GB", 312e12, 2.039e12),
        ("NVIDIA A100-SXM4-40GB", 312e12, 1.555e12),
        ("A100-PCIE-40GB", 312e12, 1.555e12),
        ("Tesla V100-SXM2-32GB", 125e12, 0.9e12),
        ("Tesla T4", 65e12, 0.32e12),
        ("NVIDIA L4", 121e12, 0.3e12),
        ("NVIDIA GeForce RTX 4090", 165.2e12, 1.008e12),
        ("AMD Instinct MI300X", 1307.4e12, 5.3e12),
        ("AMD Instinct MI250X", 191.5e12, 1.638e12),
    ],
)
def test_datasheets_are_found_by_the_names_of_drivers(name: str, half: float, bandwidth: float) -> None:
    ceilings = ceilings_of(Device(index=0, name=name))

    assert ceilings.method == "datasheet"
    assert ceilings.matmul_flops_per_s["float16"] == pytest.approx(half)
    assert ceilings.copy_bytes_per_s == pytest.approx(bandwidth)


@pytest.mark.parametrize("name", ["NVIDIA A10G", "NVIDIA L40", "MTIA", "device 0", None])
def test_other_devices_are_not_guessed(name: str | None) -> None:
    assert datasheet_of(name) is None


def test_what_was_measured_counts_before_the_datasheet() -> None:
    device = Device(index=0, name="NVIDIA H200", ceilings=CEILINGS)

    assert limits_of([device], 0).ceilings == CEILINGS
    assert limits_of([device, Device(index=1, name="NVIDIA H100 PCIe")], 1).ceilings.copy_bytes_per_s == 2.0e12
    assert limits_of([], 0).ceilings == Ceilings()


def test_writing_alone_may_beat_the_copy_that_measured_the_bandwidth_arithmetic_no_peak() -> None:
    # A fill of 1 MB at 1.1 of 1 TB/s, then at 1.2; a product of 1 GFLOP at 110 of 100 TFLOP/s.
    fill, product = Work(0.0, 1e6), Work(1e9, 1e3)
    assert not beats_roof(place(fill, 1 / 1.1, "float32", "elementwise", CEILINGS))
    assert beats_roof(place(fill, 1 / 1.2, "float32", "elementwise", CEILINGS))
    assert beats_roof(place(product, 10 / 1.1, "float16", "matrix product", CEILINGS))
