"""The assembly: all numbers of one case from its traces and its recorded passes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from reportgen.analysis.alternatives import summarize_alternatives
from reportgen.analysis.attribution.attribution import Attribution
from reportgen.analysis.attribution.case_places import CasePlaces
from reportgen.analysis.attribution.joining import joining_notices, measure_joining
from reportgen.analysis.budget.compute import compute_budget
from reportgen.analysis.memory import measure_memory
from reportgen.analysis.model import CaseAnalysis
from reportgen.analysis.notices import collect_notices
from reportgen.analysis.one_step.step_differences import describe_steps
from reportgen.analysis.one_step.step_export import StepExport, export_step
from reportgen.analysis.one_step.timeline import draw_timeline, pick_step
from reportgen.analysis.patterns.attention_chains import find_attention_chains
from reportgen.analysis.patterns.autograd_work import measure_autograd
from reportgen.analysis.patterns.compilations import list_compilations
from reportgen.analysis.patterns.copies import list_copies
from reportgen.analysis.patterns.copy_chains import find_copy_chains, list_user_copies
from reportgen.analysis.patterns.optimizer_updates import list_optimizer_updates
from reportgen.analysis.replay.case_replay import CaseReplay, build_case_replay
from reportgen.analysis.roofline.device_limits import DeviceLimits, limits_of
from reportgen.analysis.roofline.shapes import ShapeWork, measure_work, roof_notices
from reportgen.analysis.roofline.utilisation import measure_utilisation
from reportgen.analysis.steps.clocks import measure_clocks, pace_notices
from reportgen.analysis.steps.steps import measure_steps
from reportgen.analysis.steps.timing import summarize_timing
from reportgen.analysis.steps.window import count, main_device
from reportgen.analysis.totals.coverage import measure_coverage
from reportgen.analysis.totals.device_time import measure_device_time
from reportgen.analysis.totals.kernels import rank_kernels
from reportgen.analysis.totals.operators import rank_operators
from reportgen.analysis.totals.regions import measure_regions
from reportgen.analysis.totals.sources import rank_sources
from reportgen.analysis.totals.streams import measure_streams
from reportgen.analysis.waiting.first_visits import find_slow_visits, summarize_first_visits
from reportgen.analysis.waiting.gaps import list_gaps_with_causes
from reportgen.analysis.waiting.launching import measure_launching
from reportgen.analysis.waiting.syncs import list_syncs

if TYPE_CHECKING:
    from reportgen.analysis.model import FirstVisit, Timing
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.recording import Device, Json, RecordedCase, Scalar, StepMode
    from reportgen.trace.columns import Trace
    from reportgen.trace.memory_columns import MemoryHistory

DeviceKind = Literal["device", "host", "not-recorded"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseInputs:
    """All that is known of one case before a number is computed.

    Of a foreign trace `timeline` and `detail` are the same object and `recorded` is None. In own runs `timeline` says
    when and `detail` says what; either may be missing, then the other stands in for it.
    """

    name: str
    phase: str | None = None
    parameters: dict[str, Json] = dataclasses.field(default_factory=dict)
    device: str | None = None
    recorded: RecordedCase | None = None
    timeline: Trace | None = None
    detail: Trace | None = None
    snapshot: MemoryHistory | None = None
    # What the operators are held against: the devices with their ceilings, and the flags in force.
    devices: tuple[Device, ...] = ()
    flags: dict[str, Scalar] = dataclasses.field(default_factory=dict)


class AnalyzedCase(NamedTuple):
    """The numbers of a case, its median step with the events and its replay; None where no trace holds a step."""

    analysis: CaseAnalysis
    step: StepExport | None
    replay: CaseReplay | None = None


def analyze_with_step(inputs: CaseInputs) -> AnalyzedCase:
    """Compute all numbers of a case, gather its median step and make it replayable.

    A section whose input is missing stays None and a notice says why.
    """
    timeline, detail = inputs.timeline or inputs.detail, inputs.detail or inputs.timeline
    analysis = _without_traces(inputs)
    if timeline is None or detail is None:
        timing = summarize_timing(inputs.recorded, None)
        memory = measure_memory(None, recorded=inputs.recorded, snapshot=inputs.snapshot)
        return AnalyzedCase(msgspec.structs.replace(analysis, timing=timing, memory=memory), None)
    context = _Context.build(inputs, timeline, detail)
    export = export_step(inputs.name, context.attribution, context.steps, context.mode, context.budget)
    replay = build_case_replay(context.attribution, context.places, context.steps, context.timing, context.budget)
    notices = (
        *analysis.notices,
        *(context.budget.notices if context.budget else ()),
        *pace_notices(analysis.clocks, context.budget.notices if context.budget else ()),
        *joining_notices(context.attribution.twins, context.attribution.timeline, context.counted),
        *roof_notices(context.shapes, context.attribution.groups, context.limits),
    )
    analysis = msgspec.structs.replace(
        analysis, notices=notices, replay=replay.summary if replay else None, **context.sections()
    )
    return AnalyzedCase(analysis, export, replay)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Context:
    """What several sections share, computed once."""

    inputs: CaseInputs
    attribution: Attribution
    counted: Counted
    places: CasePlaces
    steps: StepWindow
    timing: Timing | None
    mode: StepMode
    budget: BudgetResult | None
    limits: DeviceLimits
    shapes: ShapeWork

    @classmethod
    def build(cls, inputs: CaseInputs, timeline: Trace, detail: Trace) -> _Context:
        attribution = Attribution(timeline, detail)
        recorded = inputs.recorded
        steps = measure_steps(timeline)
        timing = summarize_timing(recorded, steps, measure_steps(detail) if detail is not timeline else None)
        sites = recorded.sync_sites if recorded and recorded.sync_sites else ()
        counted = count(timeline)
        mode = timing.mode if timing else "pipelined"
        shown = pick_step(steps, mode)
        limits = limits_of(inputs.devices, main_device(timeline, counted))
        return cls(
            inputs=inputs,
            attribution=attribution,
            counted=counted,
            places=CasePlaces(attribution, timeline.info.path.name, sites, shown[1:] if shown else None),
            steps=steps,
            timing=timing,
            mode=mode,
            budget=compute_budget(timeline, steps, timing),
            limits=limits,
            shapes=measure_work(attribution, counted, limits.ceilings, inputs.flags),
        )

    def sections(self) -> dict[str, Any]:
        """Return the fields of `CaseAnalysis` that traces tell."""
        attribution, counted = self.attribution, self.counted
        timeline, recorded = attribution.timeline, self.inputs.recorded
        own_run = timeline is not attribution.detail
        step_us = self.timing.step_us if self.timing else None
        return {
            "device": self.inputs.device or _device_name(timeline, counted),
            "rank": timeline.info.rank,
            "device_kind": _device_kind(timeline),
            "num_steps": counted.num_steps,
            "coverage": measure_coverage(attribution, counted, self.shapes.coverage),
            "timing": self.timing,
            "steps": describe_steps(self.steps, self.budget),
            **self._waiting(step_us),
            **self._patterns(),
            "operators": rank_operators(attribution, counted, self.shapes, device_recorded=timeline.device_recorded),
            "kernels": rank_kernels(timeline, counted),
            "sources": rank_sources(self.places, counted, self.budget),
            "regions": measure_regions(timeline, counted),
            "streams": measure_streams(timeline, counted),
            "joining": measure_joining(attribution.twins, timeline, counted) if own_run else None,
            "memory": measure_memory(attribution, recorded=recorded, snapshot=self.inputs.snapshot, budget=self.budget),
            "utilisation": measure_utilisation(self.shapes, self.timing, self.inputs.phase, recorded),
            "timeline": draw_timeline(timeline, self.steps, self.mode, self.budget, own_run=recorded is not None),
        }

    def _patterns(self) -> dict[str, Any]:
        """Return the fields that hold what rules look for: work that another way of writing it would spare."""
        attribution, counted = self.attribution, self.counted
        timeline, budget = attribution.timeline, self.budget
        return {
            "copies": list_copies(timeline, counted, budget, self.places),
            "copy_chains": find_copy_chains(attribution),
            "user_copies": list_user_copies(attribution),
            "optimizer_updates": list_optimizer_updates(timeline, counted, budget, self.places),
            "attention_chains": find_attention_chains(attribution),
            "compilations": list_compilations(timeline, counted, self.places),
            "autograd": measure_autograd(attribution),
        }

    def _waiting(self, step_us: float | None) -> dict[str, Any]:
        """Return the fields that say when the device worked and for whom it waited."""
        timeline, counted, budget = self.attribution.timeline, self.counted, self.budget
        device_time = measure_device_time(self.attribution, counted, step_us)
        fields: dict[str, Any] = {
            "device_time": device_time,
            "syncs": list_syncs(timeline, counted, budget, self.places),
            "first_visits": self._first_visits(),
        }
        if budget is not None:
            fields |= {
                "budget": budget.budget,
                "gaps": list_gaps_with_causes(timeline, counted, budget, self.places),
                "launching": measure_launching(timeline, counted, budget, device_time.busy_us_per_step),
            }
        return fields

    def _first_visits(self) -> tuple[FirstVisit, ...]:
        """Return what first visits of shapes cost.

        Where the host does the work, only shapes tell a first visit from a call that has more to do: then the detail
        pass is asked, where the timeline has none.
        """
        timeline, detail = self.attribution.timeline, self.attribution.detail
        if timeline is detail or timeline.device_recorded or (timeline.operators.signature >= 0).any():
            return summarize_first_visits(timeline, find_slow_visits(timeline), self.counted.num_steps, self.places)
        visits = find_slow_visits(detail)
        if len(visits.operator) == 0:
            return ()
        places = CasePlaces(Attribution(detail, detail), detail.info.path.name)
        return summarize_first_visits(detail, visits, count(detail).num_steps, places)


def _without_traces(inputs: CaseInputs) -> CaseAnalysis:
    """Return what is known of a case before a trace is looked at."""
    recorded = inputs.recorded
    return CaseAnalysis(
        name=inputs.name,
        phase=inputs.phase,
        parameters=inputs.parameters,
        device=inputs.device,
        provenance=recorded.provenance if recorded else {},
        outcome=recorded.outcome if recorded else "done",
        reason=recorded.reason if recorded else None,
        device_kind="not-recorded" if inputs.device and inputs.device != "cpu" else "host",
        passes=recorded.passes if recorded else (),
        alternatives=summarize_alternatives(recorded),
        clocks=measure_clocks(recorded),
        notices=collect_notices(recorded, inputs.timeline, inputs.detail, inputs.snapshot),
    )


def _device_kind(trace: Trace) -> DeviceKind:
    if trace.device_recorded:
        return "device"
    return "not-recorded" if trace.device_expected else "host"


def _device_name(trace: Trace, counted: Counted) -> str | None:
    """Return the name of the device with the most work, as the trace tells it."""
    index = main_device(trace, counted)
    return next((device.name for device in trace.info.devices if device.index == index), None)
