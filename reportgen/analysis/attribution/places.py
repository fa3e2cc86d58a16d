"""How an analysis names the place of an event without knowing which pass knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reportgen.analysis.model import Source, Where
    from reportgen.trace.columns import Int64


class Places(Protocol):
    """Names places of one trace.

    A foreign trace names them from its own frames. In own runs the timeline pass has no frames: the implementation
    asks the detail pass for the twin of the event. Rows are those of the trace that was analysed, -1 for none.
    """

    def source(self, *, frame: int, operator: int, call: int) -> Source | None:
        """Return the innermost function of the user's own code around the event, None where no pass knows it."""

    def example(self, start_ns: Int64, end_ns: Int64) -> int:
        """Return which of several stretches stands for them: the longest in the step that is shown, else of all."""

    def where(self, start_ns: int, end_ns: int, *, thread: int | None = None, activity: int | None = None) -> Where:
        """Return the stretch in the file's own clock; `thread` and `activity` are rows of the trace's tables."""
