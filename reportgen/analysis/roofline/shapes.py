"""Operators held against the roofline: the work of every group of calls, placed; and the share that models cover."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.analysis.arithmetic.grouping import Float64, combine, total
from reportgen.analysis.model import Notice
from reportgen.analysis.roofline.main_kernel import main_kernel_us
from reportgen.analysis.roofline.roofline import OVER_ROOF, Placement, beats_roof, compute_type, place
from reportgen.analysis.steps.window import durations_ns
from reportgen.analysis.work_models import MATRIX_FAMILIES, UNKNOWN, Call, Family, Work, model_of
from reportgen.analysis.work_models.call import FLOATING
from reportgen.recording import Ceilings, Scalar
from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution, OperatorGroup
    from reportgen.analysis.roofline.device_limits import DeviceLimits
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Activities, Bool, Int64

_ON_DEVICE = (CopyDirection.NONE, CopyDirection.DEVICE_TO_DEVICE)
# The most groups beyond the roof that a notice names.
_MOST_NAMED = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupWork:
    """What is known of the work of one group: an operator at a signature."""

    family: Family
    work: Work
    placement: Placement

    def fields(self) -> dict[str, Any]:
        """Return the fields of `Operator` that the work decides."""
        placed = self.placement
        return {
            "family": self.family,
            "flops": self.work.flops,
            "bytes": self.work.bytes,
            "intensity": placed.intensity,
            "flops_per_s": placed.flops_per_s,
            "bytes_per_s": placed.bytes_per_s,
            "ceiling": placed.ceiling,
            "ridge": placed.ridge,
            "roof_us": placed.roof_us,
            "bound": placed.bound,
            "roof_share": placed.roof_share,
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShapeWork:
    """The work of a case: by group, and how often a step calls each group's matrix work and runs its activities."""

    groups: tuple[GroupWork | None, ...]
    # Calls a step of the innermost operators that have a count of operations: an operator that calls another one
    # with a count (linear, addmm) is not counted beside it.
    leaf_calls_per_step: Float64
    device_us_per_step: Float64
    device_calls_per_step: Float64  # of those that launched device work themselves
    main_kernel_us_per_step: Float64
    coverage: float | None

    def fields(self, group: int) -> dict[str, Any]:
        """Return the fields of `Operator` for `group`."""
        known, main_us = self.groups[group], float(self.main_kernel_us_per_step[group])
        return {"main_kernel_us_per_step": main_us or None, **(known.fields() if known else {})}


def measure_work(
    attribution: Attribution, counted: Counted, ceilings: Ceilings, flags: Mapping[str, Scalar]
) -> ShapeWork:
    """Compute the work of every group of operators and place it under the ceilings.

    Times are device times a call, of the activities that an operator launched itself; copies between host and device
    keep their bytes but have no roof, since they do not run at the device's bandwidth.
    """
    activities, num_groups = attribution.timeline.activities, len(attribution.groups)
    activity_group = np.where(counted.activities, attribution.activity_group, -1)
    operator_group = np.where(counted.operators, attribution.operator_group, -1)
    duration = durations_ns(activities)
    device_us = total(activity_group, duration, num_groups) / 1e3
    calls, working = total(operator_group, None, num_groups), _working_calls(activities, activity_group, num_groups)
    off_device = ~np.isin(activities.copy_direction, _ON_DEVICE)
    to_host_us = total(np.where(off_device, activity_group, -1), duration, num_groups) / 1e3
    list_type = _prevailing_type(attribution.groups, device_us if device_us.any() else calls)

    def placed(flags: Mapping[str, Scalar]) -> tuple[GroupWork | None, ...]:
        return tuple(
            _group_work(
                known,
                list_type,
                float(device_us[group] / working[group]) if device_us[group] and working[group] else None,
                ceilings if to_host_us[group] <= device_us[group] / 2 else Ceilings(),
                flags,
            )
            for group, known in enumerate(attribution.groups)
        )

    groups = placed(flags)
    if _must_be_tf32(groups, flags, ceilings):
        groups = placed({**flags, "matmul_tf32": True})
    roofs = np.array(
        [np.nan if not known or known.placement.roof_us is None else known.placement.roof_us for known in groups]
    )
    whole = float(duration[counted.activities].sum()) / 1e3
    modelled = [index for index, known in enumerate(groups) if known and _is_known(known.work)]
    return ShapeWork(
        groups=groups,
        leaf_calls_per_step=_leaf_calls(attribution, operator_group, groups) / counted.num_steps,
        device_us_per_step=device_us / counted.num_steps,
        main_kernel_us_per_step=main_kernel_us(activities, activity_group, roofs, working) / counted.num_steps,
        device_calls_per_step=working / counted.num_steps,
        coverage=float(device_us[modelled].sum()) / whole if whole else None,
    )


def _working_calls(activities: Activities, group: Int64, num_groups: int) -> Float64:
    """Count for each group the calls that launched device work: the distinct operators of its activities.

    Activities whose own operator is not known count by the call that launched them.
    """
    origin = np.where(activities.operator >= 0, activities.operator, -2 - activities.call)
    _, first = combine(np.asarray(group), origin)
    return total(group[first], None, num_groups)


def _must_be_tf32(groups: tuple[GroupWork | None, ...], flags: Mapping[str, Scalar], ceilings: Ceilings) -> bool:
    """Return whether fp32 products ran faster than IEEE arithmetic can, where no flag says how they were rounded."""
    peak = ceilings.matmul_flops_per_s.get("float32")
    if "matmul_tf32" in flags or peak is None or "tf32" not in ceilings.matmul_flops_per_s:
        return False
    rates = (
        known.placement.flops_per_s or 0.0
        for known in groups
        if known and known.placement.ceiling == "float32" and known.family in MATRIX_FAMILIES
    )
    return any(rate > OVER_ROOF * peak for rate in rates)


def _is_known(work: Work) -> bool:
    return work.flops is not None or work.bytes is not None


def call_of(known: OperatorGroup, list_type: str | None) -> Call | None:
    """Return a group's calls as one recorded call, None where no shapes were recorded."""
    signature = known.signature
    if signature is None or signature.shapes is None:
        return None
    return Call(
        name=known.name,
        shapes=signature.shapes,
        types=signature.types or None,
        strides=signature.strides,
        values=signature.concrete,
        list_type=list_type,
    )


def _group_work(
    known: OperatorGroup,
    list_type: str | None,
    time_us: float | None,
    ceilings: Ceilings,
    flags: Mapping[str, Scalar],
) -> GroupWork | None:
    model = model_of(known.name)
    if model is None:
        return None
    call = call_of(known, list_type)
    work = model.work(call) if call else UNKNOWN
    kind = compute_type(call, model.family, flags) if call else None
    return GroupWork(family=model.family, work=work, placement=place(work, time_us, kind, model.family, ceilings))


def _prevailing_type(groups: tuple[OperatorGroup, ...], weight: Float64) -> str | None:
    """Return the floating type in which most is done, which stands in for the types of tensors in lists."""
    by_type: dict[str, float] = {}
    for known, amount in zip(groups, weight.tolist(), strict=True):
        types = known.signature.types if known.signature else None
        first = next((name for name in types or () if name in FLOATING), None)
        if first is not None:
            by_type[first] = by_type.get(first, 0.0) + amount
    return max(by_type, key=lambda name: by_type[name], default=None)


def _leaf_calls(attribution: Attribution, operator_group: Int64, groups: tuple[GroupWork | None, ...]) -> Float64:
    """Count the calls of each group of matrix work, those left out inside which another is counted."""
    has_flops = np.array(
        [bool(known and known.family in MATRIX_FAMILIES and known.work.flops is not None) for known in groups] + [False]
    )
    counts = has_flops[operator_group]
    parent = attribution.timeline.operators.parent
    outer: Bool = np.zeros(len(parent), dtype=bool)
    above = np.unique(parent[counts])
    above = above[above >= 0]
    while len(above):
        above = above[~outer[above]]
        outer[above] = True
        above = np.unique(parent[above])
        above = above[above >= 0]
    return total(np.where(counts & ~outer, operator_group, -1), None, len(groups))


def roof_notices(shapes: ShapeWork, groups: tuple[OperatorGroup, ...], limits: DeviceLimits) -> tuple[Notice, ...]:
    """Say that there is no roof, or which operators beat it: by data in the cache, or because a model is wrong."""
    if limits.ceilings.method is None:
        if not shapes.device_us_per_step.any():
            return ()
        text = "What the device can reach was not measured and is in no table: no operator has a roof or a bound."
        return (Notice(code="no-ceilings", text=text),)
    cache = limits.cache_bytes
    over = [(group, known) for group, known in enumerate(shapes.groups) if known and beats_roof(known.placement)]
    if not over:
        return ()
    over.sort(key=lambda pair: -float(shapes.device_us_per_step[pair[0]]))
    cached = [pair for pair in over if cache is not None and (pair[1].work.bytes or 0.0) <= cache]
    listed = list(dict.fromkeys(groups[group].name.removeprefix("aten::") for group, _ in over))[:_MOST_NAMED]
    cause = (
        "their data fits the device's last cache (L2), whose bandwidth is higher"
        if len(cached) == len(over)
        else "their data lives in the cache (L2), or the model of their work is wrong"
    )
    whole = float(shapes.device_us_per_step.sum())
    return (
        Notice(
            code="over-roof",
            text=f"Some operators are faster than their roof ({', '.join(listed)}): {cause}.",
            count=len(over),
            share=float(sum(shapes.device_us_per_step[group] for group, _ in over)) / whole if whole else None,
        ),
    )
