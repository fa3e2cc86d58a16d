"""The spread between nights of a report's step times, as a store knows it."""

from __future__ import annotations

from reportgen.history import noise
from reportgen.history.comparability import series_key
from reportgen.history.compare import KnownSpread
from reportgen.history.judge import HORIZON, reduced
from reportgen.history.quantities import BY_NAME
from reportgen.history.series import level_logs
from reportgen.history.store.history import History
from reportgen.report.model import Report


def known_spreads(history: History, report: Report) -> dict[str, KnownSpread]:
    """Return what the nights of `history` say of the step time of each case of `report`, where they are enough."""
    step = BY_NAME["step_time"]
    found = {}
    for case in report.cases:
        points = history.series(series_key(report, case), step.name, HORIZON)
        logs = level_logs(reduced(points, step), step)
        if len(logs) >= noise.FEWEST_BASE_NIGHTS:
            found[case.name] = KnownSpread(noise.deviation(logs), len(logs))
    return found
