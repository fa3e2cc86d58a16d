"""What the names of calls and kernels say, across vendors and versions.

Used where nothing but a name tells, since lists of names go stale: which calls launch is known from correlations, not
from here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.trace.columns import Bool, Int32

# Kernels that talk to other devices: the libraries (NCCL, RCCL, MSCCL, HCCL, oneCCL, NVSHMEM, DeepEP) by their prefix,
# the one-shot and two-shot kernels that serving engines bring along by the collective they are named after. Inductor
# names a kernel after the operators around it: `triton_poi_fused_all_reduce_add_0` adds what was reduced before.
COMMUNICATION = re.compile(
    r"^(?!triton_).*?(?:[nrh]ccl|msccl|oneccl|nvshmem|rocshmem|deep_ep|cross_device_reduce|quick_?reduce|multimem_"
    r"|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|send_?recv)",
    re.IGNORECASE | re.DOTALL,
)
# Calls that are sure to launch device work if they succeed. Copies and fills are left out: of zero bytes, or from host
# to host, they launch nothing.
KERNEL_LAUNCH = re.compile(r"launch(?!.*host_?f)", re.IGNORECASE)
GRAPH_LAUNCH = re.compile(r"graph_?launch", re.IGNORECASE)
BEGIN_CAPTURE = re.compile(r"begin_?capture", re.IGNORECASE)
END_CAPTURE = re.compile(r"end_?capture", re.IGNORECASE)
DEVICE_SYNCHRONIZE = re.compile(r"(device|ctx|context)_?synchronize", re.IGNORECASE)
SYNCHRONIZE = re.compile(r"synchronize", re.IGNORECASE)


# Generated code may bring names of megabytes; what a call or kernel is stands at the beginning.
_MOST_CHARACTERS = 4096


def match_names(pattern: re.Pattern[str], names: Sequence[str], codes: Int32) -> Bool:
    """Tell which rows have a name that contains the pattern; each name's beginning is looked at once."""
    found = (pattern.search(name, 0, _MOST_CHARACTERS) is not None for name in names)
    matches = np.fromiter(found, np.bool_, len(names))
    return matches[codes] if len(names) else np.zeros(len(codes), dtype=np.bool_)
