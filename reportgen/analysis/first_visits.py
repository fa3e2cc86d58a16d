"""Operators that take long the first time they see a shape: plans, kernels and graphs built on the way.

The cost of a first visit is the operator's self host time at that visit less the median of its later visits. It is
found by signature where the trace has shapes. A trace of a device without them shows it too where the program visits a
new shape every step: then the first of many equal calls of each step is the slow one. Where the host does the work
itself a call may be longer because it has more to do, and without shapes nothing is concluded.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import FirstVisit
from reportgen.trace.call_names import match_names

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from reportgen.analysis.places import Places
    from reportgen.trace.columns import Int64, Trace

# A first visit stands out from ten times the later ones and this much more; one shape alone may be the profiler
# starting up.
FACTOR = 10
EXCESS_NS = 1_000_000
MIN_SIGNATURES = 2
# The autograd engine's wrapper around a node runs the program's hooks in its own time; it is no operator.
_ENGINE = re.compile(r"^autograd::engine::")


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlowVisits:
    """Calls of operators that stand out as first visits, in order of time; all arrays have one entry a call."""

    operator: Int64  # row of Trace.operators
    self_ns: Int64
    later_ns: NDArray[np.float64]  # median self time of the operator's later visits


def measure_self_ns(trace: Trace) -> Int64:
    """Return each operator's host time less that of the operators and runtime calls directly in it."""
    operators, calls = trace.operators, trace.calls
    self_ns = operators.end_ns - operators.start_ns
    inside = np.flatnonzero(operators.parent >= 0)
    np.subtract.at(self_ns, operators.parent[inside], (operators.end_ns - operators.start_ns)[inside])
    called = np.flatnonzero(calls.operator >= 0)
    np.subtract.at(self_ns, calls.operator[called], (calls.end_ns - calls.start_ns)[called])
    # Children that outlive their parent would make it negative.
    return np.asarray(np.maximum(self_ns, 0))


def find_slow_visits(trace: Trace) -> SlowVisits:
    """Find the calls of operators whose self host time is a first visit's."""
    operators = trace.operators
    self_ns = measure_self_ns(trace)
    # Most traces have no call that could qualify, and then there is nothing to group.
    long = (self_ns >= EXCESS_NS) & ~match_names(_ENGINE, trace.names, operators.name)
    candidates = np.unique(operators.name[long])
    rows = np.flatnonzero(np.isin(operators.name, candidates))
    if len(rows) == 0:
        return SlowVisits(operator=rows, self_ns=self_ns[rows], later_ns=np.zeros(0))
    import pandas as pd  # takes longer to load than most traces to read

    visits = pd.DataFrame(
        {
            "row": rows,
            "name": operators.name[rows],
            "signature": operators.signature[rows],
            "step": operators.step[rows],
            "self_ns": self_ns[rows],
        }
    )
    found = _by_signature(visits)
    if trace.device_recorded:
        found = pd.concat([found, _by_place_in_step(visits[visits["signature"] < 0])])
    found = found.drop_duplicates("row").sort_values("row")
    return SlowVisits(
        operator=found["row"].to_numpy(dtype=np.int64),
        self_ns=found["self_ns"].to_numpy(dtype=np.int64),
        later_ns=found["later_ns"].to_numpy(dtype=np.float64),
    )


def summarize_first_visits(trace: Trace, visits: SlowVisits, num_steps: int, places: Places) -> tuple[FirstVisit, ...]:
    """Return what first visits cost per step, by operator, the dearest first."""
    if len(visits.operator) == 0:
        return ()
    operators = trace.operators
    name = operators.name[visits.operator]
    found = []
    for code in np.unique(name):
        of_name = name == code
        rows = visits.operator[of_name]
        signatures = operators.signature[rows]
        dearest = int(rows[np.argmax(visits.self_ns[of_name])])
        example = int(rows[places.example(operators.start_ns[rows], operators.end_ns[rows])])
        found.append(
            FirstVisit(
                operator=trace.names[code],
                # Without shapes each slow call is taken for a shape of its own.
                num_signatures=len(np.unique(signatures)) if (signatures >= 0).all() else len(rows),
                excess_us_per_step=float((visits.self_ns - visits.later_ns)[of_name].sum()) / 1e3 / num_steps,
                first_us=float(np.median(visits.self_ns[of_name])) / 1e3,
                later_us=float(np.median(visits.later_ns[of_name])) / 1e3,
                source=places.source(frame=int(operators.frame[dearest]), operator=dearest, call=-1),
                where=places.where(
                    int(operators.start_ns[example]),
                    int(operators.end_ns[example]),
                    thread=int(operators.thread[example]),
                ),
            )
        )
    return tuple(sorted(found, key=lambda visit: -visit.excess_us_per_step))


def _by_signature(visits: pd.DataFrame) -> pd.DataFrame:
    """Return first visits of a signature that stand out from the operator's later visits of any signature."""
    visits = visits[visits["signature"] >= 0]
    first = ~visits.duplicated(["name", "signature"])
    later = visits[~first].groupby("name")["self_ns"].median()
    firsts = visits[first].assign(later_ns=visits[first]["name"].map(later))
    several = firsts.groupby("name")["signature"].transform("size") >= MIN_SIGNATURES
    slow = firsts[several & _stands_out(firsts)]
    # A single slow signature may be the profiler's start, or the program's; so may all of one step, whose shapes the
    # steps before the window will have visited. New shapes step after step are the program's way.
    by_name = slow.groupby("name")
    recurring = (by_name["step"].transform("nunique") >= MIN_SIGNATURES) | (slow["step"] < 0)
    return slow[recurring & (by_name["signature"].transform("size") >= MIN_SIGNATURES)]


def _by_place_in_step(visits: pd.DataFrame) -> pd.DataFrame:
    """Return the first calls of a step that stand out from the others of their name, step after step."""
    visits = visits[visits["step"] >= 0]
    first = ~visits.duplicated(["name", "step"])
    later = visits[~first].groupby("name")["self_ns"].median()
    firsts = visits[first].assign(later_ns=visits[first]["name"].map(later))
    slow = firsts[_stands_out(firsts)]
    return slow[slow.groupby("name")["step"].transform("size") >= MIN_SIGNATURES]


def _stands_out(visits: pd.DataFrame) -> pd.Series[bool]:
    return (visits["self_ns"] >= FACTOR * visits["later_ns"]) & (visits["self_ns"] - visits["later_ns"] >= EXCESS_NS)
