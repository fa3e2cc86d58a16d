"""The parts of the budget: work and waits summed, on the scale of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from reportgen.analysis.model import BUDGET_PARTS, WORK_PARTS, Budget, BudgetRow, CauseRow
from reportgen.analysis.waiting.anchoring import Share
from reportgen.analysis.waiting.budget_result import PART_CODE, BudgetResult, Waits

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.budget.explain import Explained
    from reportgen.analysis.budget.scale import Scale
    from reportgen.analysis.model import BudgetPart

LAUNCH, PROFILER, BUILD = PART_CODE["launch"], PART_CODE["profiler"], PART_CODE["build"]


def assemble(explained: Explained, share: Share, scale: Scale) -> BudgetResult:
    """Sum work and waits by part, on the scale of the step."""
    covered, work, pieces = explained.covered, explained.work, explained.pieces
    num = len(covered.start_ns)
    start = np.concatenate((work.start_ns, pieces.start_ns))
    end = np.concatenate((work.end_ns, pieces.end_ns))
    part = np.concatenate((work.part, pieces.cause))
    shares = _on_all(explained, share)
    length = (end - start).astype(np.float64)
    anchored = scale.basis == "unprofiled"
    if anchored:
        # What of the profiler's own time was not needed to explain the difference is the ordinary kind.
        part = np.where(part == PROFILER, LAUNCH, part)
    true_ns = np.maximum(length - shares.taken_ns, 0)
    profiler_us = 0.0 if anchored else float(shares.taken_ns.sum()) / 1e3 / num
    num_work = len(work.part) if explained.device is not None else None
    factor = _factors(part, true_ns, num_work, num, scale)
    us = true_ns * factor / 1e3 / num
    low = np.maximum(length - shares.high_ns - shares.unplaced_ns, 0) * factor / 1e3 / num
    high = np.minimum(length - shares.low_ns + shares.unplaced_ns, length) * factor / 1e3 / num
    rows = _part_rows(part, us, low, high, scale.first_lap_us)
    for taken_ns in shares.otherwise_ns:
        other_ns = np.maximum(length - taken_ns, 0)
        _widen(rows, part, other_ns * _factors(part, other_ns, num_work, num, scale) / 1e3 / num)
    profiler_low, profiler_high = (float(column.sum()) / 1e3 / num for column in (shares.low_ns, shares.high_ns))
    if not anchored:
        rows["profiler"] = BudgetRow(
            name="profiler", us_per_step=profiler_us, low_us=profiler_low, high_us=profiler_high
        )
    return BudgetResult(
        budget=Budget(basis="unprofiled" if anchored else "trace", step_us=scale.step_us, parts=tuple(rows.values())),
        device=explained.device,
        interval_start_ns=covered.start_ns,
        interval_end_ns=covered.end_ns,
        interval_step=covered.step,
        work=work,
        waits=_waits(explained, part[len(work.part) :], us[len(work.part) :] * num),
        gaps=explained.gaps,
        profiler_low_us=profiler_low,
        profiler_high_us=profiler_high,
        profiler_us=float(shares.taken_ns.sum()) / 1e3 / num,
        causes=_causes(rows),
        first_lap_us=scale.first_lap_us,
        notices=scale.notices,
    )


def _factors(part: np.ndarray, true_ns: Float64, num_work: int | None, num: int, scale: Scale) -> Float64:
    """Return by what each stretch is multiplied so that all sum to the step.

    One where the profiler's share found its place. Where the step without the profiler was slower than the trace in
    ways unseen, its host was: what the host's pace makes is stretched, and the device's work (the first `num_work`
    rows) is left as it was measured. Where the host is the device (`num_work` None) its work is as much slower as all
    else. What builds has a sum of its own where that is known.
    """
    factor = np.ones(len(part))
    if scale.basis != "unprofiled":
        return factor
    sum_us = scale.step_us - scale.first_lap_us
    building = part == BUILD
    if scale.build_us is not None and true_ns[building].sum() > 0:
        factor[building] = scale.build_us * 1e3 * num / float(true_ns[building].sum())
    row = np.arange(len(part))
    given = building if scale.build_us is not None else np.zeros(len(part), dtype=bool)
    host = row >= (num_work if num_work is not None else len(part))
    paced = np.isin(part, (LAUNCH, PART_CODE["launch-call"])) & host
    for movable in (paced & ~given, host & ~given, ~given):
        room_ns = float(true_ns[movable].sum())
        fixed_ns = float((true_ns * factor)[~movable].sum())
        if room_ns > 0 and sum_us * 1e3 * num >= fixed_ns:
            factor[movable] = (sum_us * 1e3 * num - fixed_ns) / room_ns
            break
    return factor


def _on_all(explained: Explained, share: Share) -> Share:
    """Return the share of work and pieces together; where a device works, recording takes nothing from its work."""
    missing = len(explained.work.part) + len(explained.pieces.cause) - len(share.taken_ns)

    def padded(column: Float64) -> Float64:
        return np.concatenate((np.zeros(missing), column))

    return Share(
        low_ns=padded(share.low_ns),
        high_ns=padded(share.high_ns),
        taken_ns=padded(share.taken_ns),
        unplaced_ns=padded(share.unplaced_ns),
        otherwise_ns=tuple(padded(column) for column in share.otherwise_ns),
    )


def _part_rows(
    part: np.ndarray,
    us: Float64,
    low: Float64,
    high: Float64,
    first_lap_us: float,
) -> dict[BudgetPart, BudgetRow]:
    sums = [np.bincount(part, weights=values, minlength=len(BUDGET_PARTS)) for values in (us, low, high)]
    rows: dict[BudgetPart, BudgetRow] = {}
    for code, name in enumerate(BUDGET_PARTS):
        extra = first_lap_us if name == "build" else 0.0
        middle, least, most = (float(values[code]) + extra for values in sums)
        rows[name] = BudgetRow(name=name, us_per_step=middle, low_us=min(least, middle), high_us=max(most, middle))
    return rows


def _widen(rows: dict[BudgetPart, BudgetRow], part: np.ndarray, us: Float64) -> None:
    """Widen the bounds of each part to what it takes where the profiler's share lay otherwise."""
    sums = np.bincount(part, weights=us, minlength=len(BUDGET_PARTS))
    for code, name in enumerate(BUDGET_PARTS):
        row = rows[name]
        if name != "build":  # it has a sum of its own
            low, high = min(row.low_us, float(sums[code])), max(row.high_us, float(sums[code]))
            rows[name] = msgspec.structs.replace(row, low_us=low, high_us=high)


def _causes(rows: dict[BudgetPart, BudgetRow]) -> tuple[CauseRow, ...]:
    waits = [
        CauseRow(cause=name, us_per_step=row.us_per_step)
        for name, row in rows.items()
        if name not in WORK_PARTS and name != "profiler" and row.us_per_step > 0
    ]
    return tuple(sorted(waits, key=lambda row: -row.us_per_step))


def _waits(explained: Explained, cause: np.ndarray, true_us: Float64) -> Waits:
    pieces, gaps = explained.pieces, explained.gaps
    return Waits(
        start_ns=pieces.start_ns,
        end_ns=pieces.end_ns,
        cause=cause.astype(np.int8),
        interval=gaps.interval[pieces.gap],
        gap=pieces.gap.astype(np.int32),
        next_activity=pieces.next_activity,
        operator=pieces.operator,
        frame=pieces.frame,
        call=pieces.call,
        refill=pieces.refill,
        true_us=true_us,
    )
