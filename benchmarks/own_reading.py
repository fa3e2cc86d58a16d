"""Read and link a trace with reportgen: ``python benchmarks/own_reading.py TRACE``; prints what it found and took."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from reportgen.trace.reader import read_trace


def main() -> None:
    began = time.perf_counter()
    trace = read_trace(Path(sys.argv[1]))
    seconds = time.perf_counter() - began
    tables = (trace.operators, trace.calls, trace.frames, trace.annotations, trace.activities)
    rows = sum(len(table.name) for table in tables) + len(trace.memory.bytes)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{rows} rows, {seconds:.2f} s ({time.process_time():.2f} s of processor), {peak_mb:.0f} MB at the peak")


if __name__ == "__main__":
    main()
