"""The changes that can be tried on a step: each a context in which `run` is another function, or does other work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from reportgen.runner.alternatives.input_copies import AsyncInput
from reportgen.runner.failures import NotApplicableError
from reportgen.workload import Step

Run = Callable[[], object]
# Entered around each block of the changed step and left after it, so that blocks of the step as it is lie between.
Edit = Callable[[Step, torch.device], "contextlib.AbstractContextManager[Run]"]

# A graph's memory is warmed up on a stream of its own before it is captured (PyTorch's notes on CUDA graphs).
_GRAPH_WARMUP_STEPS = 3


class CudaGraph:
    """The step captured once and replayed: one launch in place of all."""

    def __init__(self) -> None:
        self._graph: torch.cuda.CUDAGraph | None = None
        self._output: object = None

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Capture the step on first use and yield its replay."""
        if device.type != "cuda":
            raise NotApplicableError("a CUDA graph needs a CUDA device")
        if step.before is not None:
            raise NotApplicableError("the step meets a new shape or input each time, and a graph holds one")
        if self._graph is None:
            self._capture(step, device)
        yield self._replay

    def _capture(self, step: Step, device: torch.device) -> None:
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(_GRAPH_WARMUP_STEPS):
                step.run()
        torch.cuda.current_stream(device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._output = step.run()
        self._graph = graph

    def _replay(self) -> object:
        if self._graph is not None:
            self._graph.replay()
        return self._output


class Compiled:
    """The model compiled in place; between its blocks it runs as it was written."""

    def __init__(self, mode: str | None) -> None:
        self._mode = mode
        self._compiled: Any = None

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Put the compiled forward in place of the model's own."""
        model = _module(step)
        if self._compiled is None:
            model.compile(mode=self._mode)
            self._compiled = model._compiled_call_impl
        model._compiled_call_impl = self._compiled
        try:
            yield step.run
        finally:
            model._compiled_call_impl = None


class Backend:
    """Scaled-dot-product attention through one backend alone."""

    def __init__(self, backend: SDPBackend) -> None:
        self._backend = backend

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Allow the one backend; where it cannot do what is asked of it, PyTorch raises."""
        with sdpa_kernel(self._backend):
            yield step.run


class ChannelsLast:
    """The model's weights, and with them its convolutions' outputs, in channels-last layout."""

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Convert the weights, and back at the end."""
        model = _module(step)
        if not any(parameter.dim() == 4 for parameter in model.parameters()):
            raise NotApplicableError("no parameter has four dimensions")
        model.to(memory_format=torch.channels_last)
        try:
            yield step.run
        finally:
            model.to(memory_format=torch.contiguous_format)


class FusedOptimizer:
    """The optimizer's update as one fused operation over all parameters."""

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Set `fused` for every group, with the step counters on the device as that needs."""
        optimizer = step.optimizer
        if optimizer is None:
            raise NotApplicableError("the step names no optimizer")
        if "fused" not in optimizer.defaults:
            raise NotApplicableError(f"{type(optimizer).__name__} has no fused variant")
        if all(group.get("fused") for group in optimizer.param_groups):
            raise NotApplicableError("the optimizer is fused already")
        was = [(group.get("fused"), group.get("foreach")) for group in optimizer.param_groups]
        self._set(optimizer, [(True, False)] * len(was), device)
        try:
            yield step.run
        finally:
            self._set(optimizer, was, torch.device("cpu"))

    @staticmethod
    def _set(optimizer: Any, flags: list[tuple[Any, Any]], device: torch.device) -> None:
        for group, (fused, foreach) in zip(optimizer.param_groups, flags, strict=True):
            group["fused"], group["foreach"] = fused, foreach
            for parameter in group["params"]:
                counter = optimizer.state.get(parameter, {}).get("step")
                if isinstance(counter, torch.Tensor) and not group.get("capturable"):
                    optimizer.state[parameter]["step"] = counter.to(device)


@contextlib.contextmanager
def _matmul_tf32(step: Step, device: torch.device) -> Iterator[Run]:
    before = torch.get_float32_matmul_precision()
    if before != "highest":
        raise NotApplicableError(f"float32 products run at precision {before} already")
    torch.set_float32_matmul_precision("high")
    try:
        yield step.run
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def _cudnn_benchmark(step: Step, device: torch.device) -> Iterator[Run]:
    if torch.backends.cudnn.benchmark:
        raise NotApplicableError("cudnn.benchmark is on already")
    torch.backends.cudnn.benchmark = True
    try:
        yield step.run
    finally:
        torch.backends.cudnn.benchmark = False


@contextlib.contextmanager
def _inference_mode(step: Step, device: torch.device) -> Iterator[Run]:
    if step.optimizer is not None:
        raise NotApplicableError("the step trains")
    yield torch.inference_mode()(step.run)


@contextlib.contextmanager
def _autocast(step: Step, device: torch.device) -> Iterator[Run]:
    def run() -> object:
        with torch.autocast(device.type, torch.bfloat16):
            return step.run()

    yield run


def _module(step: Step) -> torch.nn.Module:
    if not isinstance(step.model, torch.nn.Module):
        raise NotApplicableError("the step's model is no torch.nn.Module")
    return step.model


EDITS: dict[str, Callable[[], Edit]] = {
    "cuda-graph": CudaGraph,
    "compile": lambda: Compiled(None),
    "compile-reduce-overhead": lambda: Compiled("reduce-overhead"),
    "sdpa-flash": lambda: Backend(SDPBackend.FLASH_ATTENTION),
    "sdpa-efficient": lambda: Backend(SDPBackend.EFFICIENT_ATTENTION),
    "sdpa-cudnn": lambda: Backend(SDPBackend.CUDNN_ATTENTION),
    "sdpa-math": lambda: Backend(SDPBackend.MATH),
    "matmul-tf32": lambda: _matmul_tf32,
    "channels-last": ChannelsLast,
    "cudnn-benchmark": lambda: _cudnn_benchmark,
    "inference-mode": lambda: _inference_mode,
    "autocast-bf16": lambda: _autocast,
    "fused-optimizer": FusedOptimizer,
    "async-input": AsyncInput,
}
