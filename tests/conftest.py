"""What the whole suite needs: tests that need torch or a GPU skip, with the reason, where that is not there."""

import importlib.util
import os

import pytest
from hypothesis import settings

# How long an example takes says nothing here, where the machine may be busy with other things.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

HAS_TORCH = importlib.util.find_spec("torch") is not None


def _has_gpu() -> bool:
    if not HAS_TORCH:
        return False
    import torch

    return bool(torch.cuda.is_available())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run."""
    missing = {}
    if not HAS_TORCH:
        missing["torch"] = "torch is not installed"
    if any("gpu" in item.keywords for item in items) and not _has_gpu():
        missing["gpu"] = "no GPU"
    if not os.environ.get("REPORTGEN_FULL"):
        missing["full"] = "takes minutes: tox -e full"
    for item in items:
        for marker, reason in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
