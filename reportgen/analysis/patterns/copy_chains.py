"""Copies on the device by operators: chains in which one reads at once what the other wrote, and the user's own."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.attribution.frames import call_label
from reportgen.analysis.model import CopyChain, Source, UserCopy
from reportgen.analysis.replay.changes import group_key
from reportgen.analysis.steps.window import count, durations_ns
from reportgen.analysis.totals.device_time import on_main_device
from reportgen.trace.call_names import match_names
from reportgen.trace.calltree import nearest_with
from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Bool, Int64, Trace

MOST_ROWS = 20
# The operators that write a tensor anew with another type or layout, and nothing else.
_COPIES = re.compile(r"^aten::(?:copy_|_?to(?:_copy)?|contiguous|clone|type_as)$")
# What a program calls to get them. Casts of autocast and of library operators lie under another call.
_METHODS = re.compile(
    r"(?:^|\.)(?:to|type|type_as|float|half|bfloat16|double|contiguous|clone|copy_)$|^_to_copy$", re.IGNORECASE
)


class _Tensor(NamedTuple):
    """What a copy reads or writes, as far as a signature tells."""

    shape: tuple[int, ...]
    type: str
    strides: tuple[int, ...]

    def same_data(self, other: _Tensor) -> bool:
        """Tell whether both can be one tensor, a view of it allowed where only the shape differs."""
        if self.type != other.type or math.prod(self.shape) != math.prod(other.shape):
            return False
        return self.strides == other.strides or self.shape != other.shape


class _Copy(NamedTuple):
    activity: int
    read: _Tensor
    written: _Tensor


def find_copy_chains(attribution: Attribution) -> tuple[CopyChain, ...]:
    """Find copies in a row on one stream, each changing type or layout and reading what the one before wrote.

    "In a row" means that no other activity of the stream and no border of a step lies between. Copies of autograd, of
    autocast and inside other operators are left out: those belong there. Needs shapes, types and strides; without them
    nothing is found.
    """
    trace = attribution.detail
    counted = count(trace)
    on_device = on_main_device(trace, counted)
    own = _own_copies(attribution) & on_device
    found: dict[tuple[object, ...], list[list[_Copy]]] = {}
    for stream in np.unique(trace.activities.stream[own]).tolist():
        rows = np.flatnonzero(on_device & (trace.activities.stream == stream))
        rows = rows[np.argsort(trace.activities.start_ns[rows], kind="stable")]
        for chain in _chains(trace, rows, own):
            source = attribution.frames.source(int(attribution.activity_frame_of_detail[chain[0].activity]))
            key = (source, tuple((one.read, one.written) for one in chain))
            found.setdefault(key, []).append(chain)
    chains = [_chain(attribution, chains, key[0], counted.num_steps) for key, chains in found.items()]
    return tuple(sorted(chains, key=lambda chain: -chain.removable_us_per_step)[:MOST_ROWS])


def list_user_copies(attribution: Attribution) -> tuple[UserCopy, ...]:
    """List the copies on the device that the program asks for itself, by method, function and shape, longest first."""
    trace, counted = attribution.detail, count(attribution.detail)
    rows = np.flatnonzero(_own_copies(attribution) & on_main_device(trace, counted))
    # Copies between host and device are no copies on it.
    rows = rows[np.isin(trace.activities.copy_direction[rows], (CopyDirection.NONE, CopyDirection.DEVICE_TO_DEVICE))]
    frame = attribution.activity_frame_of_detail[rows] if len(rows) else rows.astype(np.int32)
    rows, frame = rows[frame >= 0], frame[frame >= 0]
    if len(rows) == 0:
        return ()
    method = trace.frames.name[frame]
    signature = follow(trace.activities.operator[rows], trace.operators.signature)
    group, first = combine(method, follow(frame, attribution.frames.user_name), signature)
    spent_ns = total(group, durations_ns(trace.activities)[rows], len(first))
    order = np.argsort(-spent_ns, kind="stable")[:MOST_ROWS]
    number = np.bincount(group, minlength=len(first))

    def row(index: int) -> UserCopy:
        at = int(first[index])
        shapes = trace.signatures[signature[at]].shapes if signature[at] >= 0 else None
        return UserCopy(
            method=call_label(trace.names[method[at]]),
            shape=shapes[0] if shapes else None,
            count_per_step=float(number[index]) / counted.num_steps,
            device_us_per_step=float(spent_ns[index]) / 1e3 / counted.num_steps,
            source=attribution.frames.source(int(frame[at])),
        )

    return tuple(row(int(index)) for index in order)


def _own_copies(attribution: Attribution) -> Bool:
    """Select the kernels of copies that the program asked for: no other operator and no other call around them."""
    trace = attribution.detail
    operators = trace.operators
    is_copy = match_names(_COPIES, trace.names, operators.name)
    inside_other = nearest_with(operators.parent, ~is_copy) >= 0
    forward = np.array([group.direction == "forward" for group in attribution.groups] + [False])
    plain = is_copy & ~inside_other & forward[attribution.detail_group]
    if len(trace.frames.name):
        frame = operators.frame
        called = np.zeros(len(frame), dtype=bool)
        labels = {int(code): call_label(trace.names[code]) for code in np.unique(trace.frames.name)}
        methods = np.zeros(len(trace.names) + 1, dtype=bool)
        methods[[code for code, label in labels.items() if _METHODS.search(label)]] = True
        called[frame >= 0] = methods[trace.frames.name[frame[frame >= 0]]]
        plain &= called
    operator = trace.activities.operator
    chosen = np.zeros(len(operator), dtype=bool)
    chosen[operator >= 0] = plain[operator[operator >= 0]]
    return chosen


def _chains(trace: Trace, rows: Int64, own: Bool) -> list[list[_Copy]]:
    chains: list[list[_Copy]] = []
    chain: list[_Copy] = []
    for row in rows.tolist():
        copy = _copy(trace, row) if own[row] else None
        if copy is None:
            _close(chain, chains)
            chain = []
        elif chain and _follows(trace, chain[-1], copy):
            chain.append(copy)
        else:
            _close(chain, chains)
            chain = [copy]
    _close(chain, chains)
    return chains


def _follows(trace: Trace, one: _Copy, other: _Copy) -> bool:
    step = trace.activities.step
    return bool(step[one.activity] == step[other.activity]) and one.written.same_data(other.read)


def _close(chain: list[_Copy], chains: list[list[_Copy]]) -> None:
    if len(chain) > 1:
        chains.append(chain)


def _copy(trace: Trace, activity: int) -> _Copy | None:
    """Return what the copy reads and writes; None where that is not recorded, or nothing but the place changes."""
    code = int(trace.operators.signature[trace.activities.operator[activity]])
    known = trace.signatures[code] if code >= 0 else None
    if known is None or not (known.shapes and known.types and known.strides) or len(known.shapes) < 2:
        return None
    if min(len(known.types), len(known.strides)) < 2:
        return None
    written, read = (_Tensor(known.shapes[i], known.types[i], known.strides[i]) for i in (0, 1))
    if written.shape != read.shape or (written.type, written.strides) == (read.type, read.strides):
        return None
    return _Copy(activity, read, written)


def _chain(attribution: Attribution, chains: list[list[_Copy]], source: object, num_steps: int) -> CopyChain:
    trace, sample = attribution.detail, chains[0]
    restores = sample[0].read.same_data(sample[-1].written)
    length_ns = durations_ns(trace.activities)
    spent_ns = [sum(int(length_ns[copy.activity]) for copy in chain) for chain in chains]
    kept_ns = [0 if restores else min(int(length_ns[copy.activity]) for copy in chain) for chain in chains]
    return CopyChain(
        num_copies=len(sample),
        restores=restores,
        types=(sample[0].read.type, *(copy.written.type for copy in sample)),
        shape=sample[0].read.shape,
        count_per_step=len(chains) / num_steps,
        device_us_per_step=sum(spent_ns) / 1e3 / num_steps,
        removable_us_per_step=(sum(spent_ns) - sum(kept_ns)) / 1e3 / num_steps,
        left_of_operators=_left_of_operators(attribution, [chain if restores else chain[:-1] for chain in chains]),
        source=source if isinstance(source, Source) else None,
    )


def _left_of_operators(attribution: Attribution, needless: list[list[_Copy]]) -> dict[str, float]:
    """Return the operators that make the needless copies, with the share of their device time that others need."""
    trace = attribution.detail
    group = np.append(attribution.detail_group, -1)[trace.activities.operator]
    rows = np.array([copy.activity for chain in needless for copy in chain], dtype=np.int64)
    spent_ns = durations_ns(trace.activities)
    whole = total(group, spent_ns, len(attribution.groups))
    gone = total(group[rows], spent_ns[rows], len(attribution.groups))
    left = {}
    for number in np.unique(group[rows]).tolist():
        known = attribution.groups[number]
        share = float(gone[number] / whole[number]) if whole[number] else 0.0
        left[group_key(known.name, known.signature, known.direction)] = max(1.0 - share, 0.0)
    return left
