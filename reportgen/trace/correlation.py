"""Which call launched a device activity: the call that carries its correlation id, and nothing else.

``External id`` is never used: in some traces it repeats the correlation, and a join on it yields unrelated operators.
Correlation ids are counted per process, so in a file of several processes one id may stand at several calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.columns import Activities, Bool, Calls, Int32, Int64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.trace.columns import Thread

_LATEST = np.iinfo(np.int64).max


def find_launching_calls(activities: Activities, calls: Calls, threads: Sequence[Thread]) -> Int32:
    """Give the row of the call that launched each activity, or -1.

    Ids that are 0, negative or absent link nothing. Where several calls of a process carry an id (a runtime call and
    the driver call inside it), the innermost has the activity. Where calls of several processes do, the process that
    the device belongs to decides; if the file does not tell which that is, the activity stays unlinked.
    """
    launching = np.full(len(activities.correlation), -1, dtype=np.int32)
    usable = np.flatnonzero(calls.correlation > 0)
    if not usable.size:
        return launching
    num_processes, process_of_thread = _code_processes(threads)
    ids, id_index = np.unique(calls.correlation[usable], return_inverse=True)
    keys = id_index * num_processes + process_of_thread[calls.thread[usable]]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]

    linkable = np.flatnonzero(np.isin(activities.correlation, ids))
    wanted = np.searchsorted(ids, activities.correlation[linkable]) * num_processes
    process = _processes_that_launched(wanted, keys, num_processes, activities.device[linkable])
    wanted, linkable = (wanted + process)[process >= 0], linkable[process >= 0]
    last = np.searchsorted(keys, wanted, side="right") - 1
    found = (last >= 0) & (keys[last] == wanted)
    launching[linkable[found]] = usable[order[last[found]]]
    return launching


def count_activities(launching: Int32, num_calls: int) -> Int32:
    """Count the device activities that each call launched."""
    return np.bincount(launching[launching >= 0], minlength=num_calls).astype(np.int32)


def find_queued_before(opened_ns: int, activities: Activities, launching: Int32, calls: Calls) -> Bool:
    """Tell the activities that were queued before the window opened at `opened_ns`.

    Those are the activities that a recorded call launched before that moment and, of those without a recorded call,
    the ones whose correlation lies below every recorded one or that started before anything recorded could have
    launched them.
    """
    linked = launching >= 0
    launched_ns = np.where(linked, calls.start_ns[launching] if len(calls.start_ns) else 0, opened_ns)
    first_id = calls.correlation[calls.correlation > 0].min(initial=_LATEST)
    first_call_ns = max(opened_ns, int(calls.start_ns.min(initial=_LATEST)) if len(calls.start_ns) else opened_ns)
    has_early_id = (activities.correlation > 0) & (activities.correlation < first_id) & (first_id < _LATEST)
    return np.where(linked, launched_ns < opened_ns, has_early_id | (activities.start_ns < first_call_ns))


def _code_processes(threads: Sequence[Thread]) -> tuple[int, Int64]:
    """Give the number of processes, and each thread's as a number from 0."""
    codes: dict[str, int] = {}
    of_thread = [codes.setdefault(thread.process, len(codes)) for thread in threads]
    return len(codes), np.array(of_thread, dtype=np.int64)


def _processes_that_launched(wanted: Int64, keys: Int64, num_processes: int, device: Int32) -> Int64:
    """Give the process whose call an activity belongs to, -1 where that cannot be known.

    `wanted` are the activities' ids as keys of process 0, `keys` the sorted keys of the calls.
    """
    first = keys[np.searchsorted(keys, wanted, side="left")] - wanted
    if num_processes == 1:
        return first
    last = keys[np.searchsorted(keys, wanted + num_processes, side="left") - 1] - wanted
    plain = first == last
    devices, device_index = np.unique(device, return_inverse=True)
    votes = np.zeros((len(devices), num_processes), dtype=np.int64)
    np.add.at(votes, (device_index[plain], first[plain]), 1)
    owner = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
    return np.where(plain, first, owner[device_index])
