"""The stages in a row: record, read, analyse, judge, write. The only package that knows runner and report both."""

from reportgen.pipeline.commands import analyze_path, exec_script, render_recording, run_workload, what_if
from reportgen.pipeline.documents import write_comparison
from reportgen.pipeline.folders import RECORDING_FOLDER, open_recording
from reportgen.pipeline.wishes import FORMATS, StageStarted, Wishes, Written

__all__ = [
    "FORMATS",
    "RECORDING_FOLDER",
    "StageStarted",
    "Wishes",
    "Written",
    "analyze_path",
    "exec_script",
    "open_recording",
    "render_recording",
    "run_workload",
    "what_if",
    "write_comparison",
]
