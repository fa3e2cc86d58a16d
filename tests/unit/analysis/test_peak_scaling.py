from __future__ import annotations

import pytest

from reportgen.analysis.allocations.scaling import fit_peaks
from reportgen.analysis.model import CaseAnalysis, Headroom, Memory

MIB = 2**20


def case(peak_mib: float, *, batch: int = 1, seq_len: int = 128, dtype: str = "float16") -> CaseAnalysis:
    return CaseAnalysis(
        name=f"b{batch}-s{seq_len}",
        phase="prefill",
        parameters={"batch": batch, "seq_len": seq_len, "dtype": dtype},
        device=None,
        device_kind="device",
        memory=Memory(
            peak_allocated_bytes=int(peak_mib * MIB),
            peak_reserved_bytes=None,
            start_bytes=None,
            growth_bytes_per_step=None,
            headroom=Headroom(device_bytes=1000 * MIB, reserved_share=0.1),
        ),
    )


def test_a_line_through_the_batches_says_which_one_fills_the_device() -> None:
    # 200 MiB of weights and 10 MiB a sequence: 80 sequences fill 1000 MiB.
    (fit,) = fit_peaks([case(240, batch=4), case(210, batch=1), case(280, batch=8)])

    assert fit.axis == "batch"
    assert [point.value for point in fit.points] == [1, 4, 8]
    assert fit.fixed_bytes == pytest.approx(200 * MIB)
    assert fit.linear_bytes == pytest.approx(10 * MIB)
    assert fit.quadratic_bytes == 0
    assert fit.fits_until in (79, 80)


def test_a_peak_that_grows_with_the_square_of_the_length_is_told_from_four_lengths() -> None:
    # 100 MiB and 1 MiB for each (length / 128)².
    lengths = (128, 512, 1024, 2048)
    (fit,) = fit_peaks([case(100 + (length / 128) ** 2, seq_len=length) for length in lengths])

    assert fit.axis == "seq_len"
    assert fit.quadratic_bytes == pytest.approx(MIB / 128**2)
    assert fit.fits_until == 3840  # 30 x 128: 900 MiB


def test_cases_that_differ_in_more_are_no_series() -> None:
    cases = [case(210, batch=1), case(220, batch=2, dtype="float32"), case(240, batch=4, seq_len=256)]

    assert fit_peaks(cases) == ()


def test_a_peak_that_does_not_follow_the_size_is_not_predicted() -> None:
    assert fit_peaks([case(300, batch=1), case(100, batch=2), case(300, batch=4)]) == ()
