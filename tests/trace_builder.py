"""Small traces by hand: one call an event, times in µs from `OFFSET_US` on.

>>> trace = base(step(1, 0, 10), op("aten::mm", 1, 5), launch(2, 1, c=1), kernel(4, 3, c=1))
>>> path = write_trace(tmp_path, trace)                                            # doctest: +SKIP
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

# Times of real traces lie far from 0; a reader may take 0 for "no time was taken".
OFFSET_US = 1_000_000

HOST = {"pid": 1, "tid": 1}


def base(*events: Json, offset: float = OFFSET_US, **top: Any) -> Json:
    """Return a trace of `events`, `offset` µs added to every ts; `top` adds or replaces top-level keys."""
    shifted = [{**event, "ts": event["ts"] + offset} if "ts" in event else event for event in events]
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": shifted, **top}


def span(cat: str, name: str, ts: float, dur: float, *, pid: Any = 1, tid: Any = 1, args: Json | None = None) -> Json:
    """Return a complete event of any category."""
    return {
        "ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args or {},
    }  # fmt: skip


def op(name: str, ts: float, dur: float, *, tid: Any = 1, **args: Any) -> Json:
    """Return an operator; `args` such as ``**{"Input Dims": [[2, 3]]}``."""
    return span("cpu_op", name, ts, dur, tid=tid, args=args)


def launch(
    ts: float, dur: float, c: int, *, name: str = "cudaLaunchKernel", cat: str = "cuda_runtime", tid: Any = 1
) -> Json:
    """Return a runtime (or driver) call with correlation `c`."""
    return span(cat, name, ts, dur, tid=tid, args={"correlation": c})


def kernel(ts: float, dur: float, c: int, stream: int = 7, *, name: str = "k", device: int = 0, **args: Any) -> Json:
    """Return a kernel with correlation `c`."""
    return activity("kernel", name, ts, dur, c, stream, device=device, **args)


def activity(
    cat: str, name: str, ts: float, dur: float, c: int, stream: int = 7, *, device: int = 0, **args: Any
) -> Json:
    """Return a device activity (``gpu_memcpy``, ``gpu_memset``, ``cuda_sync``, …) with correlation `c`."""
    args = {"correlation": c, "stream": stream, "device": device, **args}
    return span(cat, name, ts, dur, pid=device, tid=stream, args=args)


def step(n: int, ts: float, dur: float, *, tid: Any = 1) -> Json:
    """Return a step mark."""
    return span("user_annotation", f"ProfilerStep#{n}", ts, dur, tid=tid)


def frame(name: str, ts: float, dur: float, *, tid: Any = 1, **args: Any) -> Json:
    """Return a Python frame, named as in ``train.py(3): main``."""
    return span("python_function", name, ts, dur, tid=tid, args=args)


def memory(
    ts: float, num_bytes: int, *, total: int, address: int = 0x1000, reserved: int = 0, device: int = 0, tid: Any = 1
) -> Json:
    """Return an allocation (`num_bytes` > 0) or a free (< 0) on a CUDA device; `total` is allocated afterwards."""
    args = {
        "Total Reserved": reserved, "Total Allocated": total, "Bytes": num_bytes,
        "Device Id": device, "Device Type": 1, "Addr": address,
    }  # fmt: skip
    return {
        "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
        "ts": ts, "pid": 1, "tid": tid, "args": args,
    }  # fmt: skip


def write_trace(tmp_path: Path, trace: Json | list[Json] | bytes, name: str = "trace.json") -> Path:
    """Write a trace (or raw bytes) under `tmp_path`, gzipped where `name` ends in ``.gz``; return its path."""
    content = trace if isinstance(trace, bytes) else json.dumps(trace).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path
