"""Operators that take long the first time they see a shape: plans, kernels and graphs built on the way.

The cost of a first visit is the operator's self host time at that visit less the median of its later visits. It is
found by signature where the trace has shapes. A trace of a device without them shows it too where the program visits a
new shape every step: then the first of many equal calls of each step is the slow one. Where an operator is called once
a step it has no later visits; it is then held against the operators that launch work as it does, which take the host
tens of microseconds: a library's operator that takes a millisecond for each launch, step after step, prepares
something. Where the host does the work itself a call may be longer because it has more to do, and without shapes
nothing is concluded.
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

    from reportgen.analysis.attribution.places import Places
    from reportgen.trace.columns import Bool, Int64, Trace

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
    later_ns: NDArray[np.float64]  # median self time of the operator's later visits, or of its peers
    by_peers: Bool  # it has no later visits


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
        return SlowVisits(operator=rows, self_ns=self_ns[rows], later_ns=np.zeros(0), by_peers=np.zeros(0, dtype=bool))
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
    found["by_peers"] = False
    if trace.device_recorded:
        by_place = _by_place_in_step(visits[visits["signature"] < 0]).assign(by_peers=False)
        found = pd.concat([found, by_place, _by_peers(visits, trace, self_ns).assign(by_peers=True)])
    found = found.drop_duplicates("row").sort_values("row")
    return SlowVisits(
        operator=found["row"].to_numpy(dtype=np.int64),
        self_ns=found["self_ns"].to_numpy(dtype=np.int64),
        later_ns=found["later_ns"].to_numpy(dtype=np.float64),
        by_peers=found["by_peers"].to_numpy(dtype=bool),
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
                are_shapes_known=bool((signatures >= 0).all() or not visits.by_peers[of_name].any()),
                by_peers=bool(visits.by_peers[of_name].any()),
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


def _by_peers(visits: pd.DataFrame, trace: Trace, self_ns: Int64) -> pd.DataFrame:
    """Return the calls of operators without later visits that stand out from the others that launch work.

    Only operators that launch something themselves are judged, by their time for each launch: an operator that works
    on the host, or a compiled region that launches hundreds of kernels, may take as long. So may communication, which
    waits for others.
    """
    launches = np.bincount(_launching_operators(trace), minlength=len(self_ns))
    launching = np.flatnonzero(launches)
    if len(launching) == 0:
        return visits[:0].assign(later_ns=0.0)
    peers_ns = float(np.median(self_ns[launching] / launches[launching]))
    visits = visits[(launches[visits["row"]] > 0) & (visits["step"] >= 0)]
    again = visits.duplicated(["name", "step"]) & visits.duplicated(["name", "signature"])
    once = visits[~visits["name"].isin(visits["name"][again])].assign(later_ns=peers_ns)
    each = once.assign(self_ns=once["self_ns"] / launches[once["row"]])
    slow = once[_stands_out(each)]
    # It must be the program's way: in more than half of the steps that call it, and in two at the least.
    num_steps = once.groupby("name")["step"].nunique()
    slow_steps = slow.groupby("name")["step"].transform("nunique")
    return slow[(slow_steps >= MIN_SIGNATURES) & (2 * slow_steps > slow["name"].map(num_steps))]


def _launching_operators(trace: Trace) -> Int64:
    """Return the operator around the launch of each activity that computes or copies."""
    activities = trace.activities
    rows = np.flatnonzero((activities.call >= 0) & ~activities.communication)
    operator = trace.calls.operator[activities.call[rows]]
    return operator[operator >= 0].astype(np.int64)


def _stands_out(visits: pd.DataFrame) -> pd.Series[bool]:
    return (visits["self_ns"] >= FACTOR * visits["later_ns"]) & (visits["self_ns"] - visits["later_ns"] >= EXCESS_NS)
