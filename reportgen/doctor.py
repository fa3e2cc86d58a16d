"""Is this machine ready: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.runner.readiness import Readiness

# A recording of a few steps with stacks takes some tens of megabytes a case; a gigabyte leaves room for many.
_ENOUGH_DISK_BYTES = 1_000_000_000
_FONTS = ("Liberation Sans", "Liberation Mono", "DejaVu Sans")
_INSTALL_RUN = "pip install 'reportgen[run]' (in a checkout: ./bootstrap)"
PANGO_PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


@dataclasses.dataclass(frozen=True)
class Check:
    """One line of the doctor: "ok", "note" (works, with a limit) or "missing" (something will fail)."""

    subject: str
    state: Literal["ok", "note", "missing"]
    text: str


def examine(output: Path) -> Iterator[Check]:
    """Check this machine one thing after another; `output` is where reports would be written."""
    yield Check("Python", "ok", sys.version.split()[0])
    yield from _check_torch()
    yield _check_pango()
    yield _check_fonts()
    yield _check_disk(output)


def _check_torch() -> Iterator[Check]:
    if importlib.util.find_spec("torch") is None:
        yield Check("torch", "missing", f"not installed: analyze and render work, run does not; {_INSTALL_RUN}")
        return
    readiness = _ask_torch()
    if isinstance(readiness, str):
        yield Check("torch", "missing", f"cannot be used: {readiness}")
        return
    yield Check("torch", "ok", readiness.torch)
    yield (
        Check("transformers", "ok", readiness.transformers)
        if readiness.transformers
        else Check("transformers", "missing", f"not installed: workloads/gpt2.py needs it; {_INSTALL_RUN}")
    )
    yield _check_device(readiness)
    if readiness.devices:
        yield _check_activities(readiness)


def _ask_torch() -> Readiness | str:
    """Return what the readiness process says, or the last line of its complaint."""
    import msgspec

    from reportgen.runner.readiness import Readiness

    command = [sys.executable, "-m", "reportgen.runner.readiness"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "no answer within 120 s; is the device hung? (nvidia-smi tells)"
    if answer.returncode != 0:
        complaint = answer.stderr.strip().splitlines()
        return complaint[-1] if complaint else f"it ended with code {answer.returncode}"
    return msgspec.json.decode(answer.stdout.splitlines()[-1], type=Readiness)


def _check_device(readiness: Readiness) -> Check:
    if readiness.devices:
        return Check("GPU", "ok", f"{', '.join(readiness.devices)} ({readiness.runtime})")
    if not Path("/dev/nvidiactl").exists() and not Path("/dev/kfd").exists():
        return Check("GPU", "note", "none: workloads run on the CPU, and reports speak of CPU time")
    if readiness.runtime is None:
        return Check(
            "GPU", "missing", f"torch {readiness.torch} is built without support for it: install another build"
        )
    return Check(
        "GPU", "missing", f"torch ({readiness.runtime}) does not see it: check the driver and CUDA_VISIBLE_DEVICES"
    )


def _check_activities(readiness: Readiness) -> Check:
    if readiness.device_activities:
        return Check("CUPTI", "ok", f"the profiler recorded {readiness.device_activities} device activities")
    return Check(
        "CUPTI",
        "missing",
        "the profiler records no device activity: end other profilers, and allow performance counters to all users "
        "(NVreg_RestrictProfilingToAdminUsers=0)",
    )


def _check_pango() -> Check:
    try:
        import weasyprint
    except OSError as error:
        # WeasyPrint loads the system's libraries when it is imported.
        reason = str(error).splitlines()[0]
        return Check(
            "Pango", "missing", f"no PDF: {reason}; apt-get install {PANGO_PACKAGES} (macOS: brew install pango)"
        )
    return Check("Pango", "ok", f"WeasyPrint {weasyprint.__version__} draws the PDF")


def _check_fonts() -> Check:
    missing = _missing_fonts()
    if missing is None:
        return Check("fonts", "note", "fontconfig's fc-list is not there to ask: the PDF takes what it finds")
    if missing:
        advice = "apt-get install fonts-liberation fonts-dejavu-core"
        return Check("fonts", "note", f"without {', '.join(missing)} the PDF runs wider; {advice}")
    return Check("fonts", "ok", ", ".join(_FONTS))


def _missing_fonts() -> list[str] | None:
    command = shutil.which("fc-list")
    if command is None:
        return None
    listed = subprocess.run([command, ":", "family"], capture_output=True, text=True, timeout=60, check=False).stdout
    return [font for font in _FONTS if font not in listed]


def _check_disk(output: Path) -> Check:
    folder = output.absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            free_bytes = shutil.disk_usage(folder).free
    except OSError as error:
        return Check("disk", "missing", f"{folder} cannot be written ({error.strerror}): choose another folder with -o")
    if free_bytes < _ENOUGH_DISK_BYTES:
        return Check(
            "disk", "note", f"{free_bytes / 1e6:.0f} MB free in {folder}: recordings of large models may not fit"
        )
    return Check("disk", "ok", f"{free_bytes / 1e9:.0f} GB free in {folder}")
