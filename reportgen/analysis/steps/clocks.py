"""The device's clock beside the timing pass: whether it fell, and what held it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import Clocks, Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.recording import RecordedCase

# Of so few samples no third can be compared with another.
LEAST_SAMPLES = 3
# A reason that is given this often is a state, no peak.
STATE_SHARE = 0.1


def measure_clocks(recorded: RecordedCase | None) -> Clocks | None:
    """Summarise the clock and the reasons to throttle it; None where neither was recorded."""
    if recorded is None or recorded.timing is None:
        return None
    conditions = recorded.timing.conditions
    reasons = [str(text or "") for text in conditions.get("throttle_reasons", ())]
    mhz = [float(value) for value in conditions.get("clock_mhz", ()) if isinstance(value, int | float)]
    if not reasons and not mhz:
        return None
    third = max(1, len(mhz) // 3)
    comparable = len(mhz) >= LEAST_SAMPLES
    named = [name for text in reasons for name in text.split(", ") if name]
    return Clocks(
        num_samples=max(len(mhz), len(reasons)),
        first_mhz=float(np.median(mhz[:third])) if comparable else None,
        last_mhz=float(np.median(mhz[-third:])) if comparable else None,
        highest_mhz=max(mhz) if mhz else None,
        throttled={name: named.count(name) / len(reasons) for name in dict.fromkeys(named)},
    )


def pace_notices(clocks: Clocks | None, budget_notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Say where the device was held back while steps were timed, and the profiled steps were quicker than these.

    Kernels are timed in the profiled steps alone. A device that works without a pause reaches its power cap after some
    steps, which a window of five does not show; what its kernels then take longer, the budget has as a wait.
    """
    held = clocks is not None and max(clocks.throttled.values(), default=0.0) >= STATE_SHARE
    faster = next((notice for notice in budget_notices if notice.code == "profiled-step-faster"), None)
    if not held or faster is None:
        return ()
    text = (
        "The device was held back while steps were timed, in the shorter profiled windows perhaps not: what kernels "
        "took longer by that stands under turnaround."
    )
    return (Notice(code="device-held-back", text=text, share=faster.share),)
