"""blocking-copy: the device copies to or from the host, and nothing runs beside it."""

from __future__ import annotations

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, CopyRow
from reportgen.analysis.replay.changes import Change, place_key
from reportgen.findings.gain import bounded_gain, part_us
from reportgen.findings.guards import STEP_UNKNOWN, unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed
from reportgen.findings.samples import recorded_steps

SHARE = Threshold(
    name="share",
    value=0.03,
    unit="of the step",
    reason="under 3 % an exposed copy is not worth a second stream; a wait for its result is the sync-point's",
)
_WORDS = {
    "host-to-device": "to the device",
    "device-to-host": "to the host",
}

IN_SHORT_RESULT = "Copy into pinned memory, on a stream of its own"
IN_SHORT_PIN = "Pin the input, then copy with `non_blocking=True`"
IN_SHORT_HIDE = "Copy the next batch while this one computes"


def judge(context: Context) -> Verdict:
    """Sum the exposed time of copies between host and device, and the waits they cause, by place.

    Kind `pageable`: the host's memory is not pinned, so the host waits too. Kind `exposed`: asynchronous, but nothing
    runs beside it. Where the trace does not say which memory it is, it counts as exposed. Copies too small to show are
    part of what waits for their result.
    """
    case = context.case
    if unseen := unseen_device(case, "there is no device to copy to"):
        return unseen
    step_us = case.step_us
    if not step_us:
        return STEP_UNKNOWN
    copies = _as_timed(case, [row for row in case.copies if row.direction in _WORDS])
    if not copies:
        return not_applicable("nothing is copied between host and device inside a step")
    limit = context.thresholds[SHARE.name]
    worst = context.measured(SHARE, max(row.exposed_us_per_step for row in copies) / step_us)
    dear = [row for row in copies if row.exposed_us_per_step >= limit * step_us]
    if dear:
        return fired(*(_draft(context, row, step_us) for row in dear), measured=worst)
    return passed(f"the longest copy is exposed for {fmt.share(worst.value)} of the step", worst)


def _as_timed(case: CaseAnalysis, copies: list[CopyRow]) -> list[CopyRow]:
    """Return `copies` exposed for no longer, all together, than the budget of the unprofiled step has for copies."""
    exposed_us = sum(row.exposed_us_per_step for row in copies)
    if case.budget is None or case.budget.basis != "unprofiled" or exposed_us <= 0:
        return copies
    share = min(1.0, part_us(case.budget, "copy") / exposed_us)
    return [msgspec.structs.replace(row, exposed_us_per_step=row.exposed_us_per_step * share) for row in copies]


def _draft(context: Context, row: CopyRow, step_us: float) -> Draft:
    case = context.case
    pageable = row.memory == "pageable"
    busy_us = case.busy_us or 0.0
    cost_us = row.exposed_us_per_step + (row.cost_us_per_step if pageable else 0.0)
    moved = fmt.size(row.bytes_per_step) if row.bytes_per_step is not None else "Data"
    place, way = place_of(row.source), _WORDS[row.direction]
    manner = "pageable" if pageable else "unhidden"
    return Draft(
        title=f"{moved} {way}, {manner}: {fmt.duration_of(row.exposed_us_per_step, step_us)}",
        evidence=_evidence(row, place, way, recorded_steps(case)),
        mechanism=_mechanism(row),
        short_action=_short_action(row),
        action=_action(row, place),
        verify=f"{context.check_command()}: "
        + ("the copy must be from pinned memory and shorter, and then run" if pageable else "the copy must run")
        + f" beside kernels: the part copy must fall by up to {fmt.duration(row.exposed_us_per_step)}.",
        beware="The pinned buffer must not be written while its copy is under way."
        if row.direction == "host-to-device"
        else "Wait for the copy (an event) before the host reads the result.",
        confidence="medium" if pageable else "low",
        gain=bounded_gain(
            step_us=step_us,
            cost_us=cost_us,
            floor_us=max(busy_us - row.us_per_step, 0.0),
            resource="both" if pageable else "device",
            edit="copy from pinned memory" if pageable else "copy beside the computation",
        ),
        # Pinned first: what is then still unhidden is a finding of its own.
        change=Change(kind="pin-copies" if pageable else "hide-copies", place=place_key(row.source))
        if row.source
        else None,
        kind="pageable" if pageable else "exposed",
        source=row.source,
        where=(row.where,) if row.where else (),
        identity=(row.direction, row.operator or "", row.source.function if row.source else ""),
        tries=("async-input",) if row.direction == "host-to-device" else (),
    )


def _evidence(row: CopyRow, place: str, way: str, steps: str) -> tuple[Evidence, ...]:
    rate = ""
    if row.bytes_per_step and row.us_per_step:
        rate = f", {fmt.number(row.bytes_per_step / row.us_per_step / 1e3)} GB/s"
    memory = {"pageable": " from pageable memory", "pinned": " from pinned memory"}.get(row.memory, "")
    if row.direction == "device-to-host":
        memory = memory.replace("from", "into")
    rows = [
        Evidence(
            text=f"{fmt.plural(row.count_per_step, 'copy', 'copies')} a step {way}{memory}"
            f"{f' {place}' if place else ''}: {fmt.duration(row.us_per_step)}{rate} ({steps})",
            value=row.us_per_step,
            unit="us",
        ),
        Evidence(
            text=f"no kernel runs beside it for {fmt.duration(row.exposed_us_per_step)} of that",
            value=row.exposed_us_per_step,
            unit="us",
        ),
    ]
    if row.cost_us_per_step:
        text = f"the device waits another {fmt.duration(row.cost_us_per_step)} until the queue is filled again"
        rows.append(Evidence(text=text, value=row.cost_us_per_step, unit="us"))
    return tuple(rows)


def _mechanism(row: CopyRow) -> str:
    if row.memory == "pageable":
        return (
            "The driver moves pageable memory through a small pinned buffer of its own: the copy is slow, and the host "
            "waits in the call, so nothing else is issued."
        )
    return "The copy is asynchronous for the host, but it runs on the stream that computes, so kernels wait for it."


def _short_action(row: CopyRow) -> str:
    if row.direction == "device-to-host":
        return IN_SHORT_RESULT
    return IN_SHORT_PIN if row.memory == "pageable" else IN_SHORT_HIDE


def _action(row: CopyRow, place: str) -> str:
    where = place or "there"
    if row.direction == "device-to-host":
        return (
            f"Copy {where} into a pinned buffer, on a stream of its own: "
            "`host.copy_(result, non_blocking=True)` with `host = torch.empty_like(result, device='cpu', "
            "pin_memory=True)`, and read it after the step."
        )
    beside = (
        "`with torch.cuda.stream(copy_stream): batch = host_batch.to(device, non_blocking=True)` for the next batch, "
        "then `torch.cuda.current_stream().wait_stream(copy_stream)` before it is used."
    )
    if row.memory == "pageable":
        return (
            f"Pin the input of the copy {where}: `DataLoader(…, pin_memory=True)` or `x.pin_memory()` once, then "
            f"`x.to(device, non_blocking=True)`. To hide what is left: {beside}"
        )
    return f"Copy the next batch{f' {place}' if place else ''} while this one computes: {beside}"


RULE = Rule(id="blocking-copy", checklist_step=2, judge=judge, thresholds=(SHARE,))
