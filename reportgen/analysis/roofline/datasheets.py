"""What makers say of their devices: dense rates and memory bandwidth, for traces of devices that were not measured.

A datasheet's peak is not reached: a measured ceiling is used where there is one. Rates are without sparsity; bandwidth
is that of the device's own memory, read and written together. `float32` is the rate without tensor cores.
"""

from __future__ import annotations

import dataclasses
import re

from reportgen.recording import Ceilings, Device

_TERA = 1e12
_MIB = 2.0**20


@dataclasses.dataclass(frozen=True)
class Datasheet:
    """A device: a pattern for the names its driver gives it, TB/s, L2 in MiB, and TFLOP/s by type."""

    pattern: str
    bandwidth_tb_per_s: float
    cache_mib: float
    tflops: dict[str, float]

    @property
    def ceilings(self) -> Ceilings:
        """Return the figures in bytes and operations per second."""
        return Ceilings(
            copy_bytes_per_s=self.bandwidth_tb_per_s * _TERA,
            matmul_flops_per_s={name: rate * _TERA for name, rate in self.tflops.items()},
            method="datasheet",
        )


def _hopper(half: float, tf32: float, float8: float, float32: float) -> dict[str, float]:
    return {"float16": half, "bfloat16": half, "tf32": tf32, "float8": float8, "float32": float32}


def _ampere(half: float, tf32: float, float32: float) -> dict[str, float]:
    return {"float16": half, "bfloat16": half, "tf32": tf32, "float32": float32}


# The first pattern that is found in a device's name holds.
_DATASHEETS: tuple[Datasheet, ...] = (
    # NVIDIA DGX B200 datasheet (2024), a device's eighth.
    Datasheet(r"\bB200\b", 8.0, 126, {"float16": 2250, "bfloat16": 2250, "tf32": 1125, "float8": 4500, "float32": 75}),
    # NVIDIA H200 Tensor Core GPU datasheet (2024).
    Datasheet(r"\bH200 NVL\b", 4.8, 50, _hopper(835.5, 417.5, 1670.5, 60)),
    Datasheet(r"\bH200\b", 4.8, 50, _hopper(989.5, 494.5, 1979, 67)),
    # NVIDIA H100 Tensor Core GPU datasheet (2024); the PCIe card: its product brief.
    Datasheet(r"\bH100 NVL\b", 3.9, 50, _hopper(835.5, 417.5, 1670.5, 60)),
    Datasheet(r"\bH100 PCIe\b", 2.0, 50, _hopper(756, 378, 1513, 51)),
    Datasheet(r"\bH100\b", 3.35, 50, _hopper(989.5, 494.5, 1979, 67)),
    # NVIDIA A100 Tensor Core GPU datasheet (2021).
    Datasheet(r"\bA100-SXM\S*80GB", 2.039, 40, _ampere(312, 156, 19.5)),
    Datasheet(r"\bA100\S*80GB|\bA100 80GB", 1.935, 40, _ampere(312, 156, 19.5)),
    Datasheet(r"\bA100\b", 1.555, 40, _ampere(312, 156, 19.5)),
    # NVIDIA V100 datasheet (2020).
    Datasheet(r"\bV100-SXM|\bV100-SXM2|\bV100-LS", 0.9, 6, {"float16": 125, "float32": 15.7}),
    Datasheet(r"\bV100\b", 0.9, 6, {"float16": 112, "float32": 14}),
    # NVIDIA T4 datasheet (2019).
    Datasheet(r"\bT4\b", 0.32, 4, {"float16": 65, "float32": 8.1}),
    # NVIDIA L4 and L40S datasheets (2023).
    Datasheet(r"\bL4\b", 0.3, 48, _hopper(121, 60, 242.5, 30.3)),
    Datasheet(r"\bL40S\b", 0.864, 96, _hopper(362, 183, 733, 91.6)),
    # NVIDIA A10 datasheet (2021).
    Datasheet(r"\bA10\b", 0.6, 6, _ampere(125, 62.5, 31.2)),
    # NVIDIA Ada and Ampere GA102 architecture whitepapers: half precision with sums in fp32.
    Datasheet(r"\bRTX 4090\b", 1.008, 72, _hopper(165.2, 82.6, 330.3, 82.6)),
    Datasheet(r"\bRTX 3090\b", 0.936, 6, _ampere(71, 35.6, 35.6)),
    # AMD Instinct MI325X and MI300X data sheets (2024, 2023).
    Datasheet(r"\bMI325X\b", 6.0, 256, _hopper(1307.4, 653.7, 2614.9, 163.4)),
    Datasheet(r"\bMI300X?\b", 5.3, 256, _hopper(1307.4, 653.7, 2614.9, 163.4)),
    # AMD Instinct MI200 series data sheets (2022); each of the two dies of an MI250(X) is a device of its own.
    Datasheet(r"\bMI250X\b", 1.638, 8, {"float16": 191.5, "bfloat16": 191.5, "float32": 47.9}),
    Datasheet(r"\bMI250\b", 1.638, 8, {"float16": 181, "bfloat16": 181, "float32": 45.3}),
    Datasheet(r"\bMI210\b", 1.638, 8, {"float16": 181, "bfloat16": 181, "float32": 45.3}),
    # AMD Instinct MI100 data sheet (2020).
    Datasheet(r"\bMI100\b", 1.228, 8, {"float16": 184.6, "bfloat16": 92.3, "float32": 46.1}),
)


def datasheet_of(name: str | None) -> Datasheet | None:
    """Return the datasheet of the device that its driver calls `name`, None where it is not in the table."""
    return next((sheet for sheet in _DATASHEETS if re.search(sheet.pattern, name or "", re.IGNORECASE)), None)


def ceilings_of(device: Device) -> Ceilings:
    """Return what `device` was measured to reach, else what its datasheet says, else nothing."""
    if device.ceilings.method is not None:
        return device.ceilings
    sheet = datasheet_of(device.name)
    return sheet.ceilings if sheet else Ceilings()


def cache_bytes(name: str | None) -> float | None:
    """Return the size of the device's last cache, None where the device is not in the table."""
    sheet = datasheet_of(name)
    return sheet.cache_mib * _MIB if sheet else None


def with_ceilings(device: Device) -> Device:
    """Return `device` with the ceilings that its operators are held against."""
    return Device(
        index=device.index,
        name=device.name,
        vendor=device.vendor,
        compute_capability=device.compute_capability,
        memory_bytes=device.memory_bytes,
        multiprocessors=device.multiprocessors,
        ceilings=ceilings_of(device),
    )
