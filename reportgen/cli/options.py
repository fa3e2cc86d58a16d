"""What the options of several commands mean: for the runner, for the report, for finding workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from reportgen.display import Watch
    from reportgen.pipeline import Wishes
    from reportgen.runner.run import RunOptions


def run_options(parsed: argparse.Namespace, timeout_s: float | None) -> RunOptions:
    """Return what the runner is asked for; `timeout_s` is the limit of one case."""
    from reportgen.runner.run import RunOptions

    return RunOptions(
        device=parsed.device,
        cases=tuple(parsed.cases),
        settings=tuple(parsed.settings),
        sweeps=tuple(parsed.sweeps),
        timeout_s=timeout_s,
        alternatives=parsed.alternatives,
        command=parsed.command_line,
    )


def make_wishes(parsed: argparse.Namespace, progress: Watch) -> Wishes:
    """Return how the report is wanted, as the options of `add_report` say."""
    from reportgen.pipeline import FORMATS, Wishes

    return Wishes(
        output=parsed.output,
        formats=parsed.formats or FORMATS,
        pdf_required="pdf" in (parsed.formats or ()),
        thresholds=dict(parsed.thresholds),
        anonymous=parsed.anonymous,
        progress=progress,
    )


def workload_folders() -> list[Path]:
    """Return where workloads are looked for: the folder of that name here, and those that ship."""
    from reportgen.resources import resource_folder

    here, shipped = Path("workloads").resolve(), resource_folder("workloads")
    return [here, shipped] if here.is_dir() and here != shipped else [shipped]


def workload_names() -> list[str]:
    """Return all names by which a workload that ships or lies here can be called."""
    from reportgen.workload import list_workloads

    return [name for outline in list_workloads(workload_folders()) for name in (outline.name, outline.path.stem)]
