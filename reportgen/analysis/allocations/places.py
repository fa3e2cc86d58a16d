"""The lines that allocated: a snapshot's stack as the place in the user's code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.attribution.frames import is_user_file
from reportgen.analysis.model import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Int32
    from reportgen.trace.memory_columns import Stack, StackFrame

_MOST_FRAMES = 12
_OPTIMIZER = "/torch/optim/"


class AllocationPlaces:
    """Names what allocated a block: by the line of the call where a stack is known, else by its function."""

    def __init__(self, attribution: Attribution | None, stacks: Sequence[Stack]) -> None:
        self._attribution = attribution
        self.stacks = tuple(tuple(frame for frame in stack if _is_python(frame)) for stack in stacks)
        self._sources = [_innermost_user(stack) for stack in self.stacks]

    def source(self, frame: int, stack: int) -> Source | None:
        """Return the innermost place of the user's own code around an allocation, None where no file knows it."""
        if stack >= 0 and self._sources[stack] is not None:
            return self._sources[stack]
        return self._attribution.frames.source(frame) if self._attribution is not None else None

    def codes(self, frame: Int32, stack: Int32) -> tuple[Int32, tuple[Source, ...]]:
        """Number the distinct places of many allocations; -1 where the place is not known."""
        number: dict[Source, int] = {}
        known: dict[tuple[int, int], int] = {}
        codes = np.empty(len(frame), dtype=np.int32)
        for row, key in enumerate(zip(frame.tolist(), stack.tolist(), strict=True)):
            if key not in known:
                source = self.source(*key)
                known[key] = -1 if source is None else number.setdefault(source, len(number))
            codes[row] = known[key]
        return codes, tuple(number)

    def is_optimizer(self, stack: int) -> bool:
        """Tell whether a stack leads through ``torch.optim``."""
        return any(_OPTIMIZER in frame.file.replace("\\", "/") for frame in self.stacks[stack])

    def path(self, stack: int) -> tuple[Source, ...]:
        """Return the Python calls that led to an allocation, innermost first; empty where no stack is known."""
        if stack < 0:
            return ()
        return tuple(_source(frame, None) for frame in self.stacks[stack][:_MOST_FRAMES])


def _is_python(frame: StackFrame) -> bool:
    return frame.file.endswith(".py") or (frame.file.startswith("<") and frame.line > 0)


def _innermost_user(stack: Stack) -> Source | None:
    for depth, frame in enumerate(stack):
        if is_user_file(frame.file):
            beneath = stack[0] if depth else None
            label = None if beneath is None else f"{beneath.file.rpartition('/')[2]}: {beneath.function}"
            return _source(frame, label)
    return None


def _source(frame: StackFrame, beneath: str | None) -> Source:
    return Source(
        file=frame.file,
        line=frame.line,
        line_kind="call",
        function=frame.function,
        user=is_user_file(frame.file),
        beneath=beneath,
    )
