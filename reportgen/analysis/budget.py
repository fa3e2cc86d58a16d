"""The budget: the step's time, every instant in exactly one part, with the reason of every wait."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.anchoring import Share, Slots, bound_share, busy_slots, place_total, wait_slots
from reportgen.analysis.budget_result import PART_CODE, BudgetResult, GapTable, Waits, Work
from reportgen.analysis.call_kinds import classify_calls
from reportgen.analysis.first_visits import find_slow_visits
from reportgen.analysis.host_causes import collect_host_causes
from reportgen.analysis.host_work import explain_host, host_work
from reportgen.analysis.model import BUDGET_PARTS, WORK_PARTS, Budget, BudgetRow, CauseRow, Notice
from reportgen.analysis.profiler_share import measure_recording_costs
from reportgen.analysis.refill import list_launches
from reportgen.analysis.spans import union
from reportgen.analysis.stalls import find_stalls, find_stretches
from reportgen.analysis.waits import Pieces, disown_unrecorded_waits, explain_gaps, find_host_threads, host_time
from reportgen.analysis.window import count, main_device
from reportgen.analysis.work import device_work, list_gaps

if TYPE_CHECKING:
    from reportgen.analysis.call_kinds import CallKinds
    from reportgen.analysis.first_visits import SlowVisits
    from reportgen.analysis.grouping import Float64
    from reportgen.analysis.host_causes import HostCauses
    from reportgen.analysis.model import BudgetPart, Timing
    from reportgen.analysis.profiler_share import RecordingCosts
    from reportgen.analysis.refill import Launches
    from reportgen.analysis.steps import Covered, StepWindow
    from reportgen.analysis.waits import HostThreads
    from reportgen.trace.columns import Trace

LAUNCH, PROFILER, BUILD = PART_CODE["launch"], PART_CODE["profiler"], PART_CODE["build"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Explained:
    """The covered intervals taken apart: work, gaps and the pieces of gaps, with what may be the profiler's."""

    device: int | None
    covered: Covered
    work: Work
    gaps: GapTable
    pieces: Pieces
    # Stretches that the profiler's share may come from: the pieces, and for a host that is the device the work first.
    slots: Slots
    visits: SlowVisits


def compute_budget(
    trace: Trace, steps: StepWindow, timing: Timing | None, *, device: int | None = None
) -> BudgetResult | None:
    """Return the budget of a case on one device (default: the one with the most work), or of the host without one.

    `timing` is that of the case: with an unprofiled step time the parts sum to it, else to the step by the trace.
    None where there was a device whose activities were not recorded, and where nothing was recorded at all.
    """
    if trace.device_expected and not trace.device_recorded:
        return None
    covered = steps.covered(timing.mode if timing is not None else "pipelined")
    if covered.step_us <= 0:
        return None
    if trace.device_recorded:
        chosen = device if device is not None else main_device(trace, count(trace))
        explained = _explain_device(trace, covered, int(trace.activities.device[0]) if chosen is None else chosen)
    else:
        explained = _explain_host(trace, covered)
    if timing is not None and timing.basis == "unprofiled" and timing.step_us is not None:
        return _anchored(explained, timing, timing.step_us)
    share = bound_share(explained.slots)
    return _assemble(explained, share, _Scale(basis="trace", step_us=covered.step_us))


def _explain_device(trace: Trace, covered: Covered, device: int) -> _Explained:
    work = device_work(trace, device, covered)
    gaps = list_gaps(work, covered)
    launches, kinds = list_launches(trace, device), classify_calls(trace)
    threads, visits = find_host_threads(trace, launches), find_slow_visits(trace)
    costs = measure_recording_costs(trace, np.array(threads.all, dtype=np.int32))
    causes = collect_host_causes(trace, kinds, visits)
    causes = causes.joined(_stalls(trace, covered, launches, kinds, causes, threads, costs))
    pieces = explain_gaps(trace, device, gaps, launches, causes, threads)
    pieces = disown_unrecorded_waits(trace, pieces, kinds, device)
    slots = wait_slots(
        pieces.start_ns,
        pieces.end_ns,
        pieces.cause,
        pieces.refill,
        opens_ns=covered.start_ns if _has_holes(covered) else covered.start_ns[:1],
        resets_ns=_ends_of_waits(trace, kinds, threads),
        costs=costs,
    )
    return _Explained(device=device, covered=covered, work=work, gaps=gaps, pieces=pieces, slots=slots, visits=visits)


def _explain_host(trace: Trace, covered: Covered) -> _Explained:
    work, visits = host_work(trace, covered), find_slow_visits(trace)
    gaps = list_gaps(work, covered)
    costs = measure_recording_costs(trace)
    pieces = explain_host(trace, covered, gaps, collect_host_causes(trace, classify_calls(trace), visits), costs)
    start = np.concatenate((work.start_ns, pieces.start_ns))
    end, cause = np.concatenate((work.end_ns, pieces.end_ns)), np.concatenate((work.part, pieces.cause))
    slots = busy_slots(start, end, cause, costs)
    return _Explained(device=None, covered=covered, work=work, gaps=gaps, pieces=pieces, slots=slots, visits=visits)


def _stalls(
    trace: Trace,
    covered: Covered,
    launches: Launches,
    kinds: CallKinds,
    causes: HostCauses,
    threads: HostThreads,
    costs: RecordingCosts,
) -> HostCauses:
    """Return the stalls between the launches of a device, and the waits and allocations of its threads."""
    calls = trace.calls
    bounds = np.flatnonzero(kinds.bounds_stretch & np.isin(calls.thread, threads.all))
    rows = np.concatenate((launches.call, bounds))
    borders = union(calls.start_ns[rows], calls.end_ns[rows])
    on_threads = np.isin(causes.thread, (*threads.all, -1))
    taken = union(causes.start_ns[on_threads], causes.end_ns[on_threads])
    stretches = find_stretches(borders, taken, host_time(trace, borders), covered.step_us * 1e3)
    return find_stalls(trace, stretches, list(threads.all), costs)


def _has_holes(covered: Covered) -> bool:
    return bool((covered.start_ns[1:] > covered.end_ns[:-1]).any())


def _ends_of_waits(trace: Trace, kinds: CallKinds, threads: HostThreads) -> np.ndarray:
    """Return, sorted, when the host was done waiting for the device: it is no further ahead then than it ever is."""
    calls = trace.calls
    waits = (kinds.synchronizes | kinds.blocks_on_copy) & np.isin(calls.thread, threads.all)
    return np.sort(calls.end_ns[waits])


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Scale:
    """What the parts must sum to, and how the trace's stretches come to it."""

    basis: str
    step_us: float
    # What first visits cost beyond the profiled steps, which revisited the shapes of the timing pass, µs per step.
    first_lap_us: float = 0.0
    # What first visits cost where the profiled steps show them too: `build` is this long, the rest what is left.
    build_us: float | None = None
    notices: tuple[Notice, ...] = ()


def _anchored(explained: _Explained, timing: Timing, step_us: float) -> BudgetResult:
    """Bring the profiled steps to the unprofiled step: what the profiler added is taken out, by recorded events."""
    num, profiled_us = len(explained.covered.start_ns), explained.covered.step_us
    built = _shown_first_lap(explained, timing, step_us)
    if built is not None:
        return _anchored_apart(explained, built, step_us)
    first_lap_us = _missing_first_lap_us(explained, timing, step_us, profiled_us)
    total_ns = (profiled_us - (step_us - first_lap_us)) * 1e3 * num
    notices: tuple[Notice, ...] = ()
    if total_ns < 0:
        notices = (
            Notice(
                code="profiled-step-faster",
                text="The profiled steps were faster than the unprofiled ones; the profiler's share counts as 0.",
                share=1 - profiled_us / (step_us - first_lap_us),
            ),
        )
    share = place_total(explained.slots, max(total_ns, 0.0))
    scale = _Scale(basis="unprofiled", step_us=step_us, first_lap_us=first_lap_us, notices=notices)
    return _assemble(explained, share, scale)


def _laps_differ(timing: Timing) -> bool:
    """Tell whether steps of the first lap are longer than those of later laps by more than both wander."""
    first, later = timing.drained, timing.revisit
    return first is not None and later is not None and first.p5_us > later.p95_us


@dataclasses.dataclass(frozen=True, kw_only=True)
class _FirstLap:
    """What building for new shapes takes a step: by the timing pass, and in the profiled steps."""

    timed_us: float
    shown_us: float


def _shown_first_lap(explained: _Explained, timing: Timing, step_us: float) -> _FirstLap | None:
    """Return the first lap's own cost where the timing pass tells it and the profiled steps show it, else None.

    The step over new shapes less the step over the same shapes again is what building for them costs. How long that
    takes wanders by half from step to step, so that the profiled steps say nothing of its true length.
    """
    if timing.revisit is None or not _laps_differ(timing):
        return None
    timed_us = step_us - timing.revisit.median_us
    building = explained.pieces.cause == BUILD
    length_ns = (explained.pieces.end_ns - explained.pieces.start_ns)[building]
    shown_us = float(length_ns.sum()) / 1e3 / len(explained.covered.start_ns)
    return _FirstLap(timed_us=timed_us, shown_us=shown_us) if shown_us >= timed_us / 2 else None


def _anchored_apart(explained: _Explained, built: _FirstLap, step_us: float) -> BudgetResult:
    """Bring what builds to what building takes unprofiled, and the rest of the steps to a later lap's step."""
    num = len(explained.covered.start_ns)
    rest_us = step_us - built.timed_us
    total_ns = (explained.covered.step_us - built.shown_us - rest_us) * 1e3 * num
    slots = explained.slots
    slots = dataclasses.replace(slots, room_ns=np.where(slots.cause == BUILD, 0, slots.room_ns))
    share = place_total(slots, max(total_ns, 0.0))
    return _assemble(explained, share, _Scale(basis="unprofiled", step_us=step_us, build_us=built.timed_us))


def _missing_first_lap_us(explained: _Explained, timing: Timing, step_us: float, profiled_us: float) -> float:
    """Return what first visits add to `step_us` that the profiled steps do not show.

    Where each step visits a new shape, `step_us` is that of the first lap. Profiled steps that go over the same shapes
    again are of the kind of a later lap; the difference is what building for a new shape costs.
    """
    if timing.revisit is None or profiled_us >= step_us or not _laps_differ(timing):
        return 0.0
    missing_us = step_us - timing.revisit.median_us
    visits = explained.visits
    shown_us = float((visits.self_ns - visits.later_ns).sum()) / 1e3 / len(explained.covered.start_ns)
    return missing_us if missing_us > 0 and shown_us < missing_us / 2 else 0.0


def _assemble(explained: _Explained, share: Share, scale: _Scale) -> BudgetResult:
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
    factor = _factors(part, true_ns, len(work.part) if explained.device is not None else None, num, scale)
    us = true_ns * factor / 1e3 / num
    low = np.maximum(length - shares.high_ns - shares.unplaced_ns, 0) * factor / 1e3 / num
    high = np.minimum(length - shares.low_ns + shares.unplaced_ns, length) * factor / 1e3 / num
    rows = _part_rows(part, us, low, high, scale.first_lap_us)
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


def _factors(part: np.ndarray, true_ns: Float64, num_work: int | None, num: int, scale: _Scale) -> Float64:
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


def _on_all(explained: _Explained, share: Share) -> Share:
    """Return the share of work and pieces together; where a device works, recording takes nothing from its work."""
    missing = len(explained.work.part) + len(explained.pieces.cause) - len(share.taken_ns)

    def padded(column: Float64) -> Float64:
        return np.concatenate((np.zeros(missing), column))

    return Share(
        low_ns=padded(share.low_ns),
        high_ns=padded(share.high_ns),
        taken_ns=padded(share.taken_ns),
        unplaced_ns=padded(share.unplaced_ns),
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


def _causes(rows: dict[BudgetPart, BudgetRow]) -> tuple[CauseRow, ...]:
    waits = [
        CauseRow(cause=name, us_per_step=row.us_per_step)
        for name, row in rows.items()
        if name not in WORK_PARTS and name != "profiler" and row.us_per_step > 0
    ]
    return tuple(sorted(waits, key=lambda row: -row.us_per_step))


def _waits(explained: _Explained, cause: np.ndarray, true_us: Float64) -> Waits:
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
