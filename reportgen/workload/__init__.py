"""What a workload is, and how its module is found, read and loaded.

`values` holds what a workload's author writes, `modules` the files it is written in, `selection` the choice of cases
and parameters that a command line makes. Nothing here imports torch.
"""

from reportgen.workload.modules import Outline, find_workload, list_workloads, load_workload, read_outline
from reportgen.workload.selection import select_cases
from reportgen.workload.values import NUM_FIRST_VISITS, Case, Phase, Step, Workload

__all__ = [
    "NUM_FIRST_VISITS",
    "Case",
    "Outline",
    "Phase",
    "Step",
    "Workload",
    "find_workload",
    "list_workloads",
    "load_workload",
    "read_outline",
    "select_cases",
]
