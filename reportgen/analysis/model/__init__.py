"""The numbers of a case: the values that `cases[]` of report.json holds, before any word is said about them.

Times are microseconds (`_us`), sizes bytes (`_bytes`), shares 0..1. `None` means not measured, never 0.
Field order is the order in report.json; the names are public: `docs/report-json.md`. One section a file, `case` puts
them together; the names are imported from here.
"""

from reportgen.analysis.model.budget import BUDGET_PARTS, WORK_PARTS, Budget, BudgetPart, BudgetRow
from reportgen.analysis.model.case import CaseAnalysis
from reportgen.analysis.model.changes import Alternative, ReplaySummary
from reportgen.analysis.model.coverage import Coverage, Joining
from reportgen.analysis.model.device import Clocks, DeviceTime, Launching, Streams
from reportgen.analysis.model.memory import (
    Allocation,
    Allocator,
    FirstStepMemory,
    Fragmentation,
    Growth,
    Headroom,
    KeptLine,
    Memory,
    MemoryCategory,
    MemoryCurve,
    PeakBlock,
    PeakLine,
    PeakShare,
    Spike,
)
from reportgen.analysis.model.operators import Bound, FirstVisit, Kernel, Operator, Region, SourceRow, Utilisation
from reportgen.analysis.model.patterns import (
    AttentionChain,
    AutogradWork,
    Compilation,
    CopyChain,
    CopyRow,
    OptimizerUpdate,
    UserCopy,
)
from reportgen.analysis.model.timeline import Lane, LaneKind, Segment, Timeline
from reportgen.analysis.model.timing import ProfiledStep, StepRow, StepTimes, Throughput, Timing
from reportgen.analysis.model.values import Cut, Notice, Source, Where, told_step
from reportgen.analysis.model.waits import CauseRow, Gap, Gaps, Sync, WaitPlace

__all__ = [
    "BUDGET_PARTS",
    "WORK_PARTS",
    "Allocation",
    "Allocator",
    "Alternative",
    "AttentionChain",
    "AutogradWork",
    "Bound",
    "Budget",
    "BudgetPart",
    "BudgetRow",
    "CaseAnalysis",
    "CauseRow",
    "Clocks",
    "Compilation",
    "CopyChain",
    "CopyRow",
    "Coverage",
    "Cut",
    "DeviceTime",
    "FirstStepMemory",
    "FirstVisit",
    "Fragmentation",
    "Gap",
    "Gaps",
    "Growth",
    "Headroom",
    "Joining",
    "KeptLine",
    "Kernel",
    "Lane",
    "LaneKind",
    "Launching",
    "Memory",
    "MemoryCategory",
    "MemoryCurve",
    "Notice",
    "Operator",
    "OptimizerUpdate",
    "PeakBlock",
    "PeakLine",
    "PeakShare",
    "ProfiledStep",
    "Region",
    "ReplaySummary",
    "Segment",
    "Source",
    "SourceRow",
    "Spike",
    "StepRow",
    "StepTimes",
    "Streams",
    "Sync",
    "Throughput",
    "Timeline",
    "Timing",
    "UserCopy",
    "Utilisation",
    "WaitPlace",
    "Where",
    "told_step",
]
