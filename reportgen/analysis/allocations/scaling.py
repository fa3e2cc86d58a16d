"""How the peak grows with the batch and with the length, from cases that differ in nothing else."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis

Axis = Literal["batch", "seq_len"]
_AXES: tuple[Axis, ...] = ("batch", "seq_len")
# Two sizes give a line through both of them, which explains nothing: the third proves it.
LEAST_CASES = 3
# Far more than the allocator's rounding: above it the peak does not follow the size alone.
_MOST_ERROR = 0.05


class PeakPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One case of a sweep: its size, its peak, and what the fit says of it."""

    case: str
    value: int
    peak_bytes: int
    predicted_bytes: float


class PeakScaling(msgspec.Struct, frozen=True, kw_only=True):
    """The peak as ``fixed + linear * size + quadratic * size²`` of one parameter, in bytes.

    `quadratic_bytes` is 0 where a line fits. `fits_until` is the largest size whose predicted peak fits the device.
    """

    axis: Axis
    points: tuple[PeakPoint, ...]
    fixed_bytes: float
    linear_bytes: float
    quadratic_bytes: float
    largest_error: float  # share of the measured peak
    fits_until: int | None = None


def fit_peaks(cases: Sequence[CaseAnalysis]) -> tuple[PeakScaling, ...]:
    """Fit the peak of each series of cases that differ in one of batch and seq_len alone.

    A series needs `LEAST_CASES` sizes. With four or more, a square is tried where a line misses by over 5 %, as
    attention in whole matrices does. Nothing is returned for a series that neither describes.
    """
    fits = (_fit(axis, series) for axis in _AXES for series in _series(cases, axis))
    return tuple(fit for fit in fits if fit is not None)


def _series(cases: Sequence[CaseAnalysis], axis: Axis) -> list[list[CaseAnalysis]]:
    """Group the cases that have a peak by everything but the parameter `axis`, in order of it."""

    def fixed(case: CaseAnalysis) -> str:
        others = {name: value for name, value in sorted(case.parameters.items()) if name != axis}
        return f"{case.phase} {others}"

    known = [
        case
        for case in cases
        if case.memory is not None and case.memory.peak_allocated_bytes and isinstance(case.parameters.get(axis), int)
    ]
    known.sort(key=lambda case: (fixed(case), case.parameters[axis]))
    groups = [list(group) for _, group in itertools.groupby(known, fixed)]
    return [group for group in groups if len({case.parameters[axis] for case in group}) >= LEAST_CASES]


def _fit(axis: Axis, series: list[CaseAnalysis]) -> PeakScaling | None:
    sizes = np.array([case.parameters[axis] for case in series], dtype=np.float64)
    peaks = np.array([_peak(case) for case in series], dtype=np.float64)
    for degree in (1, 2):
        if len(set(sizes.tolist())) < degree + 2:
            break
        # Relative errors are what counts: a small case must not drown in a large one.
        powers = np.stack([sizes**power for power in range(degree + 1)], axis=1)
        coefficients, *_ = np.linalg.lstsq(powers / peaks[:, None], np.ones(len(peaks)), rcond=None)
        predicted = powers @ coefficients
        error = float(np.abs(predicted / peaks - 1).max())
        if error <= _MOST_ERROR and coefficients[-1] > 0:
            return _scaling(axis, series, [*coefficients.tolist(), 0.0][:3], predicted.tolist(), error)
    return None


def _scaling(
    axis: Axis, series: list[CaseAnalysis], coefficients: list[float], predicted: list[float], error: float
) -> PeakScaling:
    points = tuple(
        PeakPoint(case=case.name, value=int(case.parameters[axis]), peak_bytes=_peak(case), predicted_bytes=bytes_)
        for case, bytes_ in zip(series, predicted, strict=True)
    )
    fixed, linear, quadratic = coefficients
    headroom = series[-1].memory.headroom if series[-1].memory is not None else None
    return PeakScaling(
        axis=axis,
        points=points,
        fixed_bytes=fixed,
        linear_bytes=linear,
        quadratic_bytes=quadratic,
        largest_error=error,
        fits_until=_fits_until(coefficients, headroom.device_bytes) if headroom is not None else None,
    )


def _peak(case: CaseAnalysis) -> int:
    assert case.memory is not None, "only cases with a peak are in a series"
    return case.memory.peak_allocated_bytes or 0


def _fits_until(coefficients: list[float], device_bytes: int) -> int | None:
    """Return the largest size with ``fixed + linear * size + quadratic * size² <= device_bytes``."""
    fixed, linear, quadratic = coefficients
    left = device_bytes - fixed
    if left <= 0:
        return None
    if quadratic == 0:
        return int(left / linear)
    root = (-linear + (linear**2 + 4 * quadratic * left) ** 0.5) / (2 * quadratic)
    return int(root) if root > 0 else None
