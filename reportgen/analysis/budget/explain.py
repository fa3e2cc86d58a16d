"""The covered intervals taken apart: work, gaps, and the cause of every piece of a gap."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import union
from reportgen.analysis.waiting.anchoring import Slots, busy_slots, wait_slots
from reportgen.analysis.waiting.call_kinds import classify_calls
from reportgen.analysis.waiting.first_visits import find_slow_visits
from reportgen.analysis.waiting.host_causes import collect_host_causes
from reportgen.analysis.waiting.host_work import explain_host, host_work
from reportgen.analysis.waiting.profiler_share import measure_recording_costs
from reportgen.analysis.waiting.refill import list_launches
from reportgen.analysis.waiting.stalls import find_stalls, find_stretches
from reportgen.analysis.waiting.waits import Pieces, disown_unrecorded_waits, explain_gaps, find_host_threads, host_time
from reportgen.analysis.waiting.work import device_work, list_gaps

if TYPE_CHECKING:
    from reportgen.analysis.steps.steps import Covered
    from reportgen.analysis.waiting.budget_result import GapTable, Work
    from reportgen.analysis.waiting.call_kinds import CallKinds
    from reportgen.analysis.waiting.first_visits import SlowVisits
    from reportgen.analysis.waiting.host_causes import HostCauses
    from reportgen.analysis.waiting.profiler_share import RecordingCosts
    from reportgen.analysis.waiting.refill import Launches
    from reportgen.analysis.waiting.waits import HostThreads
    from reportgen.trace.columns import Trace


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explained:
    """The covered intervals taken apart: work, gaps and the pieces of gaps, with what may be the profiler's."""

    device: int | None
    covered: Covered
    work: Work
    gaps: GapTable
    pieces: Pieces
    # Stretches that the profiler's share may come from: the pieces, and for a host that is the device the work first.
    slots: Slots
    visits: SlowVisits


def explain_device_steps(trace: Trace, covered: Covered, device: int) -> Explained:
    """Take the covered intervals of a device apart: what works, and why it waits where it does not."""
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
    return Explained(device=device, covered=covered, work=work, gaps=gaps, pieces=pieces, slots=slots, visits=visits)


def explain_host_steps(trace: Trace, covered: Covered) -> Explained:
    """Take the covered intervals of a host apart that does the work itself."""
    work, visits = host_work(trace, covered), find_slow_visits(trace)
    gaps = list_gaps(work, covered)
    costs = measure_recording_costs(trace)
    pieces = explain_host(trace, covered, gaps, collect_host_causes(trace, classify_calls(trace), visits), costs)
    start = np.concatenate((work.start_ns, pieces.start_ns))
    end, cause = np.concatenate((work.end_ns, pieces.end_ns)), np.concatenate((work.part, pieces.cause))
    slots = busy_slots(start, end, cause, costs)
    return Explained(device=None, covered=covered, work=work, gaps=gaps, pieces=pieces, slots=slots, visits=visits)


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
