"""clock-throttled: the device ran slower than it can while the steps were timed."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Clocks
from reportgen.findings.model import Evidence
from reportgen.findings.rule import (
    Context,
    Draft,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_applicable,
    not_evaluated,
    passed,
)

SAMPLES = Threshold(
    name="samples",
    value=0.1,
    unit="of the samples",
    reason="a single reading under a power cap is a peak; one in ten is a state",
)
FALL = Threshold(
    name="fall",
    value=0.05,
    unit="of the clock",
    reason="clocks move by a step or two (1 to 2 %) with temperature; 5 % shows in the step time",
)

IN_SHORT = "Compare runs only at equal clocks"


def judge(context: Context) -> Verdict:
    """Look for reasons to throttle in the readings beside the timing pass, and for a clock that falls over it."""
    case = context.case
    if case.device_kind == "host":
        return not_applicable("there is no device whose clock could be read")
    clocks = case.clocks
    if clocks is None:
        return not_evaluated("clocks were not recorded beside the timing")
    limit = context.thresholds
    held = {name: share for name, share in clocks.throttled.items() if share >= limit[SAMPLES.name]}
    fall = _fall(clocks)
    if held:
        worst = context.measured(SAMPLES, max(held.values()))
        return fired(_draft(context, clocks, held), measured=worst)
    measured = context.measured(FALL, fall)
    if fall >= limit[FALL.name]:
        return fired(_draft(context, clocks, held), measured=measured)
    return passed(f"the clock held over {fmt.plural(clocks.num_samples, 'reading')}", measured)


def _fall(clocks: Clocks) -> float:
    if not clocks.first_mhz or clocks.last_mhz is None:
        return 0.0
    return max(0.0, 1 - clocks.last_mhz / clocks.first_mhz)


def _draft(context: Context, clocks: Clocks, held: dict[str, float]) -> Draft:
    name = fmt.shorten(context.case.name, 16)
    rows = [
        Evidence(
            text=f"{fmt.legible(reason)} in {fmt.share(share)} of {fmt.plural(clocks.num_samples, 'reading')}",
            value=share,
        )
        for reason, share in sorted(held.items(), key=lambda item: -item[1])
    ]
    if clocks.first_mhz is not None and clocks.last_mhz is not None:
        rows.append(
            Evidence(
                text=f"the clock went from {fmt.count(round(clocks.first_mhz))} to "
                f"{fmt.count(round(clocks.last_mhz))} MHz (medians of the first and the last third)",
                value=clocks.last_mhz,
                unit="MHz",
            )
        )
    title = (
        f"The device was throttled while {name} was timed"
        if held
        else f"The clock fell by {fmt.share(_fall(clocks))} while {name} was timed"
    )
    return Draft(
        title=title,
        evidence=tuple(rows),
        mechanism="Device times stretch as the clock falls; host times do not. Two runs under different clocks differ "
        "without any change of the program.",
        short_action=IN_SHORT,
        action="Compare runs only at equal clocks: see to cooling and the power limit, or lock the clock for "
        "measurements with `nvidia-smi --lock-gpu-clocks`.",
        verify=f"{context.check_command()}: the readings beside the timing must name no reason.",
        confidence="high",
        severity="info",
        identity=("clock",),
    )


RULE = Rule(id="clock-throttled", checklist_step=5, judge=judge, thresholds=(SAMPLES, FALL))
