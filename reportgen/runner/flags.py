"""The flags that decide findings: of the process, and in force while the step ran."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from reportgen.recording import Scalar

_VARIABLES = {
    "cuda_launch_blocking": "CUDA_LAUNCH_BLOCKING",
    "cuda_module_loading": "CUDA_MODULE_LOADING",
    "allocator_configuration": "PYTORCH_ALLOC_CONF",
    "allocator_configuration_cuda": "PYTORCH_CUDA_ALLOC_CONF",
    "nvidia_tf32_override": "NVIDIA_TF32_OVERRIDE",
    "omp_num_threads": "OMP_NUM_THREADS",
}
_SETTINGS: dict[str, Callable[[], Scalar]] = {
    "matmul_precision": lambda: torch.get_float32_matmul_precision(),
    "matmul_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
    "cudnn_tf32": lambda: torch.backends.cudnn.allow_tf32,
    "matmul_fp32_precision": lambda: torch.backends.cuda.matmul.fp32_precision,
    "cudnn_conv_fp32_precision": lambda: torch.backends.cudnn.conv.fp32_precision,
    "cudnn_benchmark": lambda: torch.backends.cudnn.benchmark,
    "cudnn_deterministic": lambda: torch.backends.cudnn.deterministic,
    "deterministic_algorithms": lambda: torch.are_deterministic_algorithms_enabled(),
    "sdpa_flash": lambda: torch.backends.cuda.flash_sdp_enabled(),
    "sdpa_efficient": lambda: torch.backends.cuda.mem_efficient_sdp_enabled(),
    "sdpa_cudnn": lambda: torch.backends.cuda.cudnn_sdp_enabled(),
    "sdpa_math": lambda: torch.backends.cuda.math_sdp_enabled(),
    "num_threads": lambda: torch.get_num_threads(),
    "default_dtype": lambda: str(torch.get_default_dtype()).removeprefix("torch."),
}


def process_flags() -> dict[str, Scalar]:
    """Return the flags of this process that are set or can be told; a flag that torch will not tell is left out."""
    found: dict[str, Scalar] = {name: os.environ[key] for name, key in _VARIABLES.items() if key in os.environ}
    for name, read in _SETTINGS.items():
        try:
            found[name] = read()
        except (AttributeError, RuntimeError):  # not in this version, or set through the other of two interfaces
            continue
    if hasattr(os, "sched_getaffinity"):
        found["num_affine_cores"] = len(os.sched_getaffinity(0))
    return found


class StepFlags:
    """Notes the modes in force when the model is first called; a context manager around one step.

    They are set inside the step, so they are gone when it returns.
    """

    def __init__(self, model: Any, device: torch.device) -> None:
        self._model = model
        self._device = device
        self._handle: Any = None
        self.flags: dict[str, Scalar] = {}

    def __enter__(self) -> StepFlags:
        if isinstance(self._model, torch.nn.Module):
            self._handle = self._model.register_forward_pre_hook(self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handle is not None:
            self._handle.remove()

    def _note(self, module: torch.nn.Module, *_: object) -> None:
        if self.flags:
            return
        kind = self._device.type
        autocast = torch.is_autocast_enabled(kind)
        self.flags = {
            "grad_mode": torch.is_grad_enabled(),
            "inference_mode": torch.is_inference_mode_enabled(),
            "autocast": str(torch.get_autocast_dtype(kind)).removeprefix("torch.") if autocast else False,
            "training_mode": module.training,
        }
