"""The places of a case's events: in the user's code, and in the trace file."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from reportgen.analysis.arithmetic.links import first_known, follow
from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.attribution.twin_clock import HostStretches, TwinClock
from reportgen.analysis.model import Source, Where
from reportgen.analysis.steps.window import num_settling
from reportgen.trace.calltree import CallTree, build_call_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.recording import SyncSite
    from reportgen.trace.columns import Int32, Int64, Trace


class CasePlaces:
    """Name places of a timeline's events, with the detail pass's frames and the lines that the sync pass saw.

    `trace_name` is how documents name the timeline's file, `shown_ns` the bounds of the step that they show. See
    `reportgen.analysis.places.Places`.
    """

    def __init__(
        self,
        attribution: Attribution,
        trace_name: str,
        sync_sites: Sequence[SyncSite] = (),
        shown_ns: tuple[int, int] | None = None,
    ) -> None:
        self.attribution = attribution
        self._timeline: Trace = attribution.timeline
        self._trace_name = trace_name
        self._sync_sites = sync_sites
        self._shown_ns = shown_ns
        self._clock = TwinClock(attribution.timeline, attribution.detail, attribution.twins)
        self._main_thread = _main_thread(self._timeline)

    @cached_property
    def _frame_tree(self) -> CallTree:
        frames = self.attribution.detail.frames
        return build_call_tree(frames.start_ns, frames.end_ns, frames.thread)

    def host_stretches(self) -> HostStretches:
        """Cut the host time of the steps, on the thread that runs them, where the detail pass has a moment to match.

        The first recorded step only settles: where there are others it is left out, as from the step time.
        """
        trace = self._timeline
        settling = num_settling(trace)
        starts, ends = trace.steps.start_ns[settling:], trace.steps.end_ns[settling:]
        if len(starts) == 0:
            starts, ends = np.array([trace.window_start_ns]), np.array([trace.window_end_ns])
        cuts = self._clock.moments(self._main_thread)
        inside = covered(union(starts, ends), cuts, cuts + 1) > 0
        borders = np.unique(np.concatenate((starts, ends, cuts[inside])))
        start, end = borders[:-1], borders[1:]
        within = covered(union(starts, ends), start, end) > 0
        start, end = start[within], end[within]
        threads = np.full(len(start), self._main_thread, dtype=np.int32)
        detail_thread, detail_start = self._clock.read(threads, start)
        _, detail_last = self._clock.read(threads, end - 1)
        return HostStretches(
            num_steps=len(starts),
            duration_ns=end - start,
            detail_thread=detail_thread,
            detail_start_ns=detail_start,
            detail_end_ns=np.maximum(detail_last + 1, detail_start),
        )

    def frames(self, *, frame: Int32, operator: Int32, call: Int32) -> Int32:
        """Return the row of the detail pass's frames that is innermost around each event, -1 where none is known."""
        timeline, attribution = self._timeline, self.attribution
        own = frame if timeline is attribution.detail else np.full(len(frame), -1, dtype=np.int32)
        return first_known(
            own,
            follow(operator, attribution.operator_frame),
            follow(call, timeline.calls.frame) if timeline is attribution.detail else own,
            follow(call, attribution.call_frame),
        )

    def frames_at(self, time_ns: Int64, thread: Int32 | None = None) -> Int32:
        """Return the row of the detail pass's frames that was innermost at each moment of a thread.

        Without `thread` it is the one that runs the steps.
        """
        if thread is None:
            thread = np.full(len(time_ns), self._main_thread, dtype=np.int32)
        detail_thread, detail_ns = self._clock.read(thread, time_ns)
        known = np.flatnonzero(detail_thread >= 0)
        found = np.full(len(time_ns), -1, dtype=np.int32)
        found[known] = self._frame_tree.innermost_open(detail_thread[known], detail_ns[known])
        return found

    def source(self, *, frame: int, operator: int, call: int) -> Source | None:
        """Return the innermost function of the user's own code around the event, None where no pass knows it.

        A synchronization whose line the sync pass saw gets that line, where the function holds one alone.
        """
        rows = [np.array([row], dtype=np.int32) for row in (frame, operator, call)]
        around = self.frames(frame=rows[0], operator=rows[1], call=rows[2])
        source = self.attribution.frames.source(int(around[0]))
        if source is None or call < 0 or self._timeline.calls.is_launch[call]:
            return source
        return self._with_call_line(source)

    def source_at(self, time_ns: int, thread: int | None = None) -> Source | None:
        """Return the innermost function of the user's own code that ran at a moment of a thread."""
        threads = None if thread is None else np.array([thread], dtype=np.int32)
        frame = self.frames_at(np.array([time_ns], dtype=np.int64), threads)
        return self.attribution.frames.source(int(frame[0]))

    def where(self, start_ns: int, end_ns: int, *, thread: int | None = None, activity: int | None = None) -> Where:
        """Return the stretch in the file's own clock; `thread` and `activity` are rows of the trace's tables."""
        trace = self._timeline
        correlation = -1 if activity is None else int(trace.activities.correlation[activity])
        return Where(
            trace=self._trace_name,
            start_us=trace.origin_us + start_ns / 1e3,
            end_us=trace.origin_us + end_ns / 1e3,
            stream=None if activity is None else int(trace.activities.stream[activity]),
            thread=None if thread is None else trace.threads[thread].thread,
            correlation=correlation if correlation > 0 else None,
        )

    def example(self, start_ns: Int64, end_ns: Int64) -> int:
        """Return which of several stretches stands for them: the longest in the step that is shown, else of all."""
        length = end_ns - start_ns
        if self._shown_ns is not None:
            shown = (start_ns >= self._shown_ns[0]) & (end_ns <= self._shown_ns[1])
            length = np.where(shown, length, -1) if shown.any() else length
        return int(np.argmax(length))

    def _with_call_line(self, source: Source) -> Source:
        sites = [site for site in self._sync_sites if site.function == source.function and _same_file(site, source)]
        if len(sites) != 1:
            return source
        return msgspec.structs.replace(source, line=sites[0].line, line_kind="call")


def _same_file(site: SyncSite, source: Source) -> bool:
    """Tell whether two spellings mean one file: traces shorten paths, warnings write them out."""
    one, other = PurePath(site.file).parts, PurePath(source.file).parts
    shared = min(len(one), len(other))
    return shared > 0 and one[-shared:] == other[-shared:]


def _main_thread(trace: Trace) -> int:
    """Return the thread that runs the steps, without step marks the one with most operators; 0 without either."""
    threads = trace.steps.thread if len(trace.steps.thread) else trace.operators.thread
    return int(np.bincount(threads).argmax()) if len(threads) else 0
