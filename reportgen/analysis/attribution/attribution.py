"""Whose work an event is: the operator, its signature, direction and function, whichever pass knows them."""

from __future__ import annotations

import dataclasses
import re
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine
from reportgen.analysis.arithmetic.links import first_known, follow
from reportgen.analysis.arithmetic.spans import covered_until, union
from reportgen.analysis.attribution.frames import FrameIndex
from reportgen.analysis.attribution.joining import Join, in_steps, join
from reportgen.trace.call_names import match_names
from reportgen.trace.calltree import nearest_with

if TYPE_CHECKING:
    from reportgen.trace.columns import Int8, Int32, Int64, Signature, Trace

Direction = Literal["forward", "backward"]
_DIRECTIONS: tuple[Direction | None, ...] = (None, "forward", "backward")
# What autograd calls the nodes that it runs; traces of 2021 have their names alone ("CudnnConvolutionBackward").
_BACKWARD_NODE = re.compile(r"^autograd::engine::evaluate_function|^torch::autograd::|^(?!\w+::)\w+Backward\d*$")
# What torch.optim calls its own spans; its operators have no direction.
_OPTIMIZER_PREFIX = "Optimizer."


# The rows of an operator's keys are its name, its signature and its direction.
_SIGNATURE = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorGroup:
    """One operator at one signature in one direction."""

    name: str
    signature: Signature | None
    direction: Direction | None


class Attribution:
    """The events of a timeline with what the timeline itself or its twin in the detail pass says of them.

    All columns are parallel to the timeline's tables. `operator_group` and `activity_group` index `groups`;
    `*_frame` are rows of the detail pass's frames. `detail_group` and `detail_frame` say the same of the detail pass's
    own operators. -1 stands for unknown everywhere.
    """

    def __init__(self, timeline: Trace, detail: Trace, twins: Join | None = None) -> None:
        self.timeline, self.detail = timeline, detail
        self.twins = join(timeline, detail) if twins is None else twins
        self.frames = FrameIndex(detail)
        self.operator_group, self.detail_group, self.groups = _group_operators(timeline, detail, self.twins)
        self.detail_frame = _operator_frames(detail)
        self.operator_frame: Int32 = follow(self.twins.operator, self.detail_frame)
        self.activity_group: Int32 = self._activity_groups()
        self.activity_frame: Int32 = self._activity_frames()

    def _activity_groups(self) -> Int32:
        """Prefer the twin's operator, which has a signature, to the timeline's own, which has a name at least.

        Not where the twin's step had other shapes: the timeline's own operator then is one without a signature.
        """
        own = follow(self.timeline.activities.operator, self.operator_group)
        if self.timeline is self.detail:
            return own
        joined = follow(follow(self.twins.activity, self.detail.activities.operator), self.detail_group)
        other = in_steps(self.timeline.activities.step, self.twins.other_shapes)
        return np.where(other & (own >= 0), own, first_known(joined, own)).astype(np.int32)

    def _activity_frames(self) -> Int32:
        """Prefer the frame around the launch, which custom kernels have too, to the one around the operator."""
        twin = self.twins.activity
        launch = follow(follow(twin, self.detail.activities.call), self.detail.calls.frame)
        around = follow(follow(twin, self.detail.activities.operator), self.detail_frame)
        own = follow(self.timeline.activities.operator, self.operator_frame)
        return first_known(launch, around, own)

    @cached_property
    def activity_frame_of_detail(self) -> Int32:
        """Return for each activity of the detail pass the frame around its launch, else around its operator."""
        activities, calls = self.detail.activities, self.detail.calls
        return first_known(follow(activities.call, calls.frame), follow(activities.operator, self.detail_frame))

    @cached_property
    def call_frame(self) -> Int32:
        """Return for each call the frame around its twin: that of its activities, else of the operator around it."""
        calls, activities = self.timeline.calls, self.timeline.activities
        frame = np.full(len(calls.start_ns), -1, dtype=np.int32)
        launched = np.flatnonzero((activities.call >= 0) & (self.activity_frame >= 0))
        frame[activities.call[launched]] = self.activity_frame[launched]
        return first_known(frame, follow(calls.operator, self.operator_frame))


def _operator_frames(trace: Trace) -> Int32:
    """Return the frame around each operator; a backward one without has that of its forward operator.

    Autograd runs backward operators on a thread of its own, outside all Python code; the function to name is the one
    that called the operator they differentiate.
    """
    operators = trace.operators
    differentiated = nearest_with(operators.parent, operators.forward >= 0)
    forward_frame = follow(follow(differentiated, operators.forward), operators.frame)
    return first_known(operators.frame, forward_frame)


def _group_operators(timeline: Trace, detail: Trace, twins: Join) -> tuple[Int32, Int32, tuple[OperatorGroup, ...]]:
    """Number operators by name, signature and direction over both passes.

    Returns the group of each operator of the timeline and of the detail pass. An operator of the timeline without a
    twin, or whose twin's step had other shapes, is grouped without a signature.
    """
    twin = twins.operator
    names = {name: code for code, name in enumerate(detail.names)}
    detail_key = _keys(detail, np.arange(len(names)), _distinct_signatures(detail.signatures))
    key = detail_key
    if timeline is not detail:
        common = np.array([names.setdefault(name, len(names)) for name in timeline.names], dtype=np.int64)
        unsigned = np.full(len(timeline.signatures), -1, dtype=np.int64)
        own_key = _keys(timeline, common, unsigned)
        joined = twin >= 0
        own_key[:, joined] = detail_key[:, twin[joined]]
        own_key[_SIGNATURE, in_steps(timeline.operators.step, twins.other_shapes)] = -1
        key = np.concatenate((detail_key, own_key), axis=1)
    number, first = combine(*key)
    group = number.astype(np.int32)
    spelled = tuple(names)
    groups = tuple(
        OperatorGroup(
            name=spelled[name],
            signature=detail.signatures[signature] if signature >= 0 else None,
            direction=_DIRECTIONS[direction],
        )
        for name, signature, direction in key[:, first].T.tolist()
    )
    num_detail = detail_key.shape[1]
    return (group if timeline is detail else group[num_detail:]), group[:num_detail], groups


def _keys(trace: Trace, names: Int64, signatures: Int64) -> Int64:
    """Return for each operator a column of three codes: name, signature and direction."""
    operators = trace.operators
    return np.stack(
        (
            np.append(names, -1)[operators.name],
            np.append(signatures, -1)[operators.signature],
            _directions(trace).astype(np.int64),
        )
    )


def _distinct_signatures(signatures: tuple[Signature, ...]) -> Int64:
    """Return for each signature the first that differs from it in numbers given as scalars at most.

    Lists and flags (a convolution's stride, the dimensions of a sum, a causal mask) decide how much there is to do.
    """
    first: dict[object, int] = {}
    keys = ((s.shapes, s.types, s.strides, _deciding(s.concrete)) for s in signatures)
    return np.array([first.setdefault(key, code) for code, key in enumerate(keys)], dtype=np.int64)


def _deciding(values: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(text if text in {"True", "False"} or text.startswith("[") else "" for text in values or ())


def _directions(trace: Trace) -> Int8:
    """Return for each operator its code in `_DIRECTIONS`; a child has that of the backward operator around it."""
    operators = trace.operators
    is_node = np.append(match_names(_BACKWARD_NODE, trace.names, np.arange(len(trace.names), dtype=np.int32)), False)[
        operators.name
    ]
    backward = nearest_with(operators.parent, (operators.forward_thread > 0) | is_node) >= 0
    code = np.where(backward, 2, 1).astype(np.int8)
    annotations = trace.annotations
    optimizer = np.array([name.startswith(_OPTIMIZER_PREFIX) for name in trace.names] + [False])[annotations.name]
    spans = union(annotations.start_ns[optimizer], annotations.end_ns[optimizer])
    start = operators.start_ns
    code[covered_until(spans, start + 1) > covered_until(spans, start)] = 0
    return code
