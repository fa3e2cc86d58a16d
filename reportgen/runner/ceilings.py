"""What the device can reach: copy bandwidth, matrix rates by type, and the time of the shortest kernel.

Measured with random data, since arithmetic on zeros takes less power and so runs at higher clocks than any model does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from reportgen.recording import Ceilings
from reportgen.runner.clocks import clock_of
from reportgen.runner.stepping import Clock

# A copy of less than this many caches is partly served by the cache.
_CACHES = 4
_COPY_BYTES = 2**32
_MATRIX_SIZE = 8192
# Minutes of products bring a device to its power limit, which lowers its clock; a model's steps seldom do. A roof is
# what is reached at best, so that short blocks are timed after a rest each.
_REST_S = 0.05
# The share of the device's memory that one measurement may take.
_MEMORY_SHARE = 8
_FLOAT8_CAPABILITY = (8, 9)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effort:
    """How large and how often: the numbers of a real measurement, smaller ones for a dry run."""

    copy_bytes: int = _COPY_BYTES
    matrix_size: int = _MATRIX_SIZE
    num_blocks: int = 12
    block_steps: int = 4
    rest_s: float = _REST_S
    num_launches: int = 200


def effort_for(device: torch.device) -> Effort:
    """Return how much to measure on `device`: buffers of over four caches, in an eighth of the memory at most.

    A host, whose ceilings no report uses, is measured in small.
    """
    if device.type != "cuda":
        return Effort(copy_bytes=2**24, matrix_size=256, num_blocks=2, block_steps=2, rest_s=0.0, num_launches=10)
    properties = torch.cuda.get_device_properties(device)
    most = properties.total_memory // _MEMORY_SHARE
    wanted = max(_COPY_BYTES, _CACHES * 2 * int(getattr(properties, "L2_cache_size", 0)))
    size = _MATRIX_SIZE
    while 3 * size * size * 4 > most:
        size //= 2
    return Effort(copy_bytes=min(wanted, most), matrix_size=size)


def measure_ceilings(device: torch.device, effort: Effort | None = None) -> Ceilings:
    """Measure what `device` reaches; a type that it cannot multiply is left out."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
    effort = effort or effort_for(device)
    clock = clock_of(device)
    rates = {name: _matrix_rate(make, device, clock, effort) for name, make in _products(device).items()}
    return Ceilings(
        copy_bytes_per_s=copy_rate(device, clock, effort),
        matmul_flops_per_s={name: rate for name, rate in rates.items() if rate is not None},
        launch_us=launch_time_us(device, clock, effort),
        method="measured",
    )


def copy_rate(device: torch.device, clock: Clock, effort: Effort) -> float:
    """Return the bytes a second, read plus written, of a copy within the device's memory."""
    source = torch.randint(0, 2**31 - 1, (effort.copy_bytes // 4,), dtype=torch.int32, device=device)
    target = torch.empty_like(source)
    shortest_us = _shortest_us(lambda: target.copy_(source), clock, effort)
    return 2.0 * 4 * (effort.copy_bytes // 4) / shortest_us * 1e6


def launch_time_us(device: torch.device, clock: Clock, effort: Effort) -> float:
    """Return the shortest time, on an idle device, from asking for a kernel of one element until it is known done."""
    element = torch.zeros(1, device=device)
    shortest = float("inf")
    for _ in range(effort.num_launches):
        clock.drain()
        start = time.perf_counter_ns()
        element.add_(1)
        clock.drain()
        shortest = min(shortest, (time.perf_counter_ns() - start) / 1e3)
    return shortest


Product = Callable[[], object]
MakeProduct = Callable[[int], contextlib.AbstractContextManager[Product]]


def _matrix_rate(make: MakeProduct, device: torch.device, clock: Clock, effort: Effort) -> float | None:
    """Return the operations a second of a square product, None where the device or torch cannot do it."""
    size = effort.matrix_size
    try:
        with make(size) as multiply:
            shortest_us = _shortest_us(multiply, clock, effort)
    except (RuntimeError, NotImplementedError) as error:
        if isinstance(error, torch.AcceleratorError):  # the device is lost: nothing else can be measured either
            raise
        print(f"ceilings: a product of {size} on {device} cannot be measured: {error}")  # noqa: T201 (the child's log)
        return None
    finally:
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return 2.0 * size**3 / shortest_us * 1e6


def _shortest_us(work: Product, clock: Clock, effort: Effort) -> float:
    """Return the time of `work`, in the fastest of several blocks that each run it some times in a row after a rest."""
    shortest = float("inf")
    for _ in range(effort.num_blocks + 1):  # the first one warms up
        time.sleep(effort.rest_s)
        clock.start()
        work()  # the host gets ahead, so that the device never waits between the marks
        begin = clock.mark()
        for _ in range(effort.block_steps):
            work()
        end = clock.mark()
        clock.drain()
        shortest = min(shortest, (clock.reached_us(end) - clock.reached_us(begin)) / effort.block_steps)
    return max(shortest, 1e-3)


def _products(device: torch.device) -> dict[str, MakeProduct]:
    """Return how to multiply in each type, by the names of `Ceilings.matmul_flops_per_s`."""
    known = {
        "float32": lambda size: _plain(size, torch.float32, device, tf32=False),
        "tf32": lambda size: _plain(size, torch.float32, device, tf32=True),
        "float16": lambda size: _plain(size, torch.float16, device),
        "bfloat16": lambda size: _plain(size, torch.bfloat16, device),
        "float8": lambda size: _scaled(size, device),
    }
    if device.type != "cuda":  # TF32 and 8-bit products are a matter of tensor cores
        return {name: make for name, make in known.items() if name not in {"tf32", "float8"}}
    capability = torch.cuda.get_device_capability(device)
    missing = {"tf32", "bfloat16"} if capability < (8, 0) and not torch.version.hip else set()
    if capability < _FLOAT8_CAPABILITY:
        missing.add("float8")
    return {name: make for name, make in known.items() if name not in missing}


@contextlib.contextmanager
def _plain(size: int, dtype: torch.dtype, device: torch.device, *, tf32: bool = False) -> Iterator[Product]:
    left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    out = torch.empty_like(left)
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        yield lambda: torch.mm(left, right, out=out)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@contextlib.contextmanager
def _scaled(size: int, device: torch.device) -> Iterator[Product]:
    dtype = torch.float8_e4m3fn
    left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    one = torch.ones((), device=device)
    multiply: Any = torch._scaled_mm
    # cuBLASLt takes the second factor column by column only.
    yield lambda: multiply(left, right.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
