"""The device's clock beside the timing pass: whether it fell, and what held it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import Clocks

if TYPE_CHECKING:
    from reportgen.recording import RecordedCase

# Of so few samples no third can be compared with another.
LEAST_SAMPLES = 3


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
