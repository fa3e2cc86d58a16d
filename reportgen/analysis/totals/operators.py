"""Operators by signature: how often, how long on the device, how long on the host, by which kernels, from where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import Float64, heaviest, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import Cut, Operator, Source
from reportgen.analysis.steps.window import durations_ns, settled_operators

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.roofline.shapes import ShapeWork
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Int64, Operators

# Rows kept, which is all of nearly every step: a training step of GPT-2 has 520. The rest is summed.
MOST_OPERATORS = 1000
MOST_KERNELS = 8
# Instances of modules looked at to name the classes that an operator works for.
MOST_INSTANCES = 64
_INSTANCE = re.compile(r"_\d+$")


def self_time_ns(operators: Operators) -> Int64:
    """Return the host time of each operator less that of its direct children; never negative."""
    duration = operators.end_ns - operators.start_ns
    children = total(operators.parent, duration, len(duration)).astype(np.int64)
    return np.asarray(np.maximum(duration - children, 0), dtype=np.int64)


def rank_operators(
    attribution: Attribution, counted: Counted, work: ShapeWork, *, device_recorded: bool
) -> Cut[Operator]:
    """List operators by the device time of the activities that they launched themselves, else by self host time.

    Times are totals of the profiled steps over their number, those of the host without the settling step's, so the
    device times of all operators add up to the linked device time per step. Shares of device are of all device time
    that the steps launched, linked or not.
    """
    operators, activities = attribution.timeline.operators, attribution.timeline.activities
    num_groups = len(attribution.groups)
    operator_group = np.where(counted.operators, attribution.operator_group, -1)
    activity_group = np.where(counted.activities, attribution.activity_group, -1)
    activity_ns, host_ns = durations_ns(activities), self_time_ns(operators)
    settled, num_settled = settled_operators(attribution.timeline, counted)

    calls = total(operator_group, None, num_groups)
    host = total(np.where(settled, operator_group, -1), host_ns, num_groups) / 1e3 / num_settled
    device = total(activity_group, activity_ns, num_groups)
    all_device = float(activity_ns[counted.activities].sum())
    order = np.lexsort((-host, -device)) if device_recorded else np.argsort(-host, kind="stable")
    order = order[(calls > 0)[order] | (device > 0)[order]]
    details = _Details(attribution, operator_group, activity_group, host_ns, activity_ns)

    def row(group: int) -> Operator:
        known = attribution.groups[group]
        signature = known.signature
        return Operator(
            name=known.name,
            input_shapes=signature.shapes if signature else None,
            input_types=signature.types if signature else None,
            input_strides=signature.strides if signature else None,
            module=details.module(group),
            direction=known.direction,
            calls_per_step=float(calls[group]) / counted.num_steps,
            device_calls_per_step=float(work.device_calls_per_step[group]) if device_recorded else None,
            device_us_per_step=_us(device[group], counted) if device_recorded else None,
            share_of_device=float(device[group] / all_device) if device_recorded and all_device else None,
            host_us_per_step=float(host[group]),
            share_of_host=float(host[group] / host.sum()) if host.any() else None,
            kernels=details.kernels(group),
            source=details.source(group),
            input_values=signature.concrete if signature else None,
            **work.fields(group),
        )

    rest = order[MOST_OPERATORS:]
    return Cut(
        items=tuple(row(int(group)) for group in order[:MOST_OPERATORS]),
        total=len(order),
        other_us=_us(device[rest].sum(), counted) if device_recorded else float(host[rest].sum()),
    )


def _us(total_ns: float, counted: Counted) -> float:
    return float(total_ns) / 1e3 / counted.num_steps


class _Details:
    """What a group of operators is best described by: that of its events that took most time."""

    def __init__(
        self,
        attribution: Attribution,
        operator_group: Int64,
        activity_group: Int64,
        host_ns: Int64,
        activity_ns: Int64,
    ) -> None:
        self._names = attribution.timeline.names
        self._frames = attribution.frames
        self._kernels = heaviest(activity_group, attribution.timeline.activities.name, activity_ns, MOST_KERNELS)
        # Device time decides; an operator without any is described by where its host time was spent.
        group = np.concatenate((activity_group, operator_group))
        frame = np.concatenate((attribution.activity_frame, attribution.operator_frame))
        weight: Float64 = np.concatenate((activity_ns.astype(np.float64), host_ns * 1e-9))
        self._sources = heaviest(group, follow(frame, self._frames.source_code), weight, 1)
        self._modules = heaviest(group, follow(frame, self._frames.module_name()), weight, MOST_INSTANCES)

    def kernels(self, group: int) -> tuple[str, ...]:
        return tuple(self._names[code] for code in self._kernels.get(group, ()))

    def source(self, group: int) -> Source | None:
        code = self._sources.get(group)
        return self._frames.sources[code[0]] if code else None

    def module(self, group: int) -> str | None:
        """Name the one instance, else the classes, of the modules that the operator works for."""
        instances = [self._frames.module_label(name) for name in self._modules.get(group, ())]
        if len(instances) <= 1:
            return instances[0] if instances else None
        return ", ".join(dict.fromkeys(_INSTANCE.sub("", instance) for instance in instances))
