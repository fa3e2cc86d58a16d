"""Look at the machine: which device to run on, what it is, and under which versions and flags."""

from __future__ import annotations

import getpass
import os
import platform
import re
from pathlib import Path

import torch

from reportgen.errors import UsageError
from reportgen.recording import Device, Environment, Runtime
from reportgen.runner import flags, nvml
from reportgen.runner.messages import CaseWords, Refused, Surveyed, SurveyRequest
from reportgen.workload import load_workload


def survey(request: SurveyRequest) -> Surveyed | Refused:
    """Choose the device that `request` asks for and describe the machine; refuse what it does not have."""
    reason = _why_not(request.device)
    if reason is not None:
        return Refused(reason=reason)
    device = _choose(request.device)
    described = None if device is None else _describe(device)
    try:
        workload = load_workload(Path(request.workload)) if request.workload else None
    except UsageError as error:
        return Refused(reason=str(error))
    return Surveyed(
        environment=_environment(device),
        device="cpu" if device is None else f"cuda:{device}",
        device_name="cpu" if described is None else _folder_name(described.name),
        devices=() if described is None else (described,),
        workload_name=workload.name if workload else None,
        workload_description=workload.description if workload else None,
        cases=tuple(
            CaseWords(name=case.name, phase=case.phase, parameters=dict(case.parameters))
            for case in (workload.cases if workload else ())
        ),
    )


def _why_not(choice: str) -> str | None:
    """Return why the device `choice` cannot be had, or None where it can."""
    if choice in {"auto", "cpu"}:
        return None
    match = re.fullmatch(r"cuda(?::(\d+))?", choice)
    if match is None:
        return f"--device {choice}: no such device; it is auto, cuda, cuda:N or cpu"
    num_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if num_devices == 0:
        built = torch.version.cuda or torch.version.hip
        hint = "is its driver installed?" if built else f"torch {torch.__version__} is built without CUDA"
        return f"--device {choice}: torch finds no CUDA device; {hint}"
    if int(match[1] or 0) >= num_devices:
        return f"--device {choice}: there are {num_devices} devices, the last one is cuda:{num_devices - 1}"
    return None


def _choose(choice: str) -> int | None:
    """Return the index of the CUDA device, None for the CPU."""
    if choice == "cpu" or not torch.cuda.is_available():
        return None
    return int(choice.partition(":")[2] or torch.cuda.current_device())


def _describe(index: int) -> Device:
    properties = torch.cuda.get_device_properties(index)
    return Device(
        index=index,
        name=properties.name,
        vendor="AMD" if torch.version.hip else "NVIDIA",
        compute_capability=f"{properties.major}.{properties.minor}",
        memory_bytes=properties.total_memory,
        multiprocessors=properties.multi_processor_count,
    )


def _folder_name(device_name: str) -> str:
    """Return a device's name without its makers', fit for a folder: "NVIDIA H200" is "h200"."""
    words = [word for word in re.findall(r"[a-z0-9]+", device_name.lower()) if word not in {"nvidia", "amd", "geforce"}]
    return "-".join(words) or "gpu"


def _environment(device: int | None) -> Environment:
    return Environment(
        python=platform.python_version(),
        torch=str(torch.__version__),
        transformers=_version_of("transformers"),
        runtime=_runtime(),
        driver=None if device is None else nvml.driver_version(),
        host=platform.node() or None,
        user=_user(),
        platform=platform.platform(),
        processor=_processor(),
        num_cores=os.cpu_count(),
        flags={**flags.process_flags(), **({} if device is None else nvml.device_flags(device))},
    )


def _runtime() -> Runtime:
    if torch.version.hip:
        return Runtime(kind="rocm", version=torch.version.hip)
    if torch.version.cuda:
        return Runtime(kind="cuda", version=torch.version.cuda)
    return Runtime(kind="none")


def _version_of(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no entry
        return None


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or None)
