"""The step as a small model that can be run again with a fix made (after Daydream, Zhu et al., USENIX ATC 2020)."""

from reportgen.analysis.replay.build import build_replay
from reportgen.analysis.replay.edits import (
    DropActivities,
    Edit,
    FuseKernels,
    HideCopies,
    LaunchAsGraph,
    RemoveSyncs,
    ScaleActivities,
    SetDurations,
    ShortenHost,
)
from reportgen.analysis.replay.replay import Replay

__all__ = [
    "DropActivities",
    "Edit",
    "FuseKernels",
    "HideCopies",
    "LaunchAsGraph",
    "RemoveSyncs",
    "Replay",
    "ScaleActivities",
    "SetDurations",
    "ShortenHost",
    "build_replay",
]
