"""Links inside the page: from a name to its row, and from a name or a moment to its place in the timeline."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Kernel, Operator, SourceRow, Where
from reportgen.analysis.replay.changes import operator_key
from reportgen.findings.model import Finding
from reportgen.report.model import Report
from reportgen.report.step_places import places_of, stretch_of
from reportgen.report.view.anchors import Anchors, ranked_operators
from reportgen.report.view.strips import Strip
from reportgen.report.view.tables import Link, Show

_MOST_NAMES = 2  # operators that a row names
_MOST_KERNELS = 4
_TITLE_LIMIT = 200
_NAME_LIMIT = 34


class Links:
    """All links of a page; on paper, where nothing can be followed, there are none."""

    def __init__(self, report: Report, anchors: Sequence[Anchors], strips: Sequence[Strip]) -> None:
        self._anchors = dict(zip((case.name for case in report.cases), anchors, strict=True))
        self._strips = {strip.export.case: strip for strip in strips if strip.export is not None}
        self._cases = {case.name: case for case in report.cases}

    def anchors(self, case: CaseAnalysis) -> Anchors:
        """Return the ids of a case's rows."""
        return self._anchors[case.name]

    def place(self, case: CaseAnalysis, where: Where | None) -> Link | None:
        """Lead to a place in the step that the timeline shows; None where it is in another step."""
        strip = self._strips.get(case.name)
        stretch = stretch_of(strip.export, where) if strip is not None and strip.export is not None else None
        if strip is None or stretch is None:
            return None
        show = Show(start_us=stretch.start_us, end_us=stretch.end_us)
        return Link(text="in the timeline", href=f"#{strip.id}", show=show)

    def finding(self, finding: Finding) -> tuple[Link, ...]:
        """Lead to the places of a finding in the timeline, or to all calls of the operators that it is about."""
        strip = self._strips.get(finding.case or "")
        if strip is None or strip.export is None:
            return ()
        href, step = f"#{strip.id}", f"step {strip.export.told}"
        stretches = places_of(strip.export, finding)
        if stretches:
            return tuple(
                Link(
                    text=f"Show in the timeline: {fmt.duration(end_us - start_us)} of {step}",
                    href=href,
                    show=Show(start_us=start_us, end_us=end_us, label=finding.id),
                )
                for start_us, end_us in stretches
            )
        return tuple(
            Link(
                text=f"Show in the timeline: its calls in {step}",
                href=href,
                show=Show(row=id_, label=finding.id),
            )
            for row in self._changed(finding)
            if (id_ := self._anchors[strip.export.case].operator(row)) in strip.rows
        )[:1]

    def _changed(self, finding: Finding) -> list[Operator]:
        """Return the operators whose time the fix of a finding changes, the dearest first."""
        keys = finding.change.operators if finding.change else {}
        case = self._cases.get(finding.case or "")
        return [row for row in ranked_operators(case) if operator_key(row) in keys] if case and keys else []

    def of_operator(self, case: CaseAnalysis, row: Operator) -> tuple[Link, ...]:
        """Lead from an operator to its function, its kernels and its calls in the timeline."""
        anchors, strip = self._anchors[case.name], self._strips.get(case.name)
        found = []
        function = anchors.function(row.source)
        if function and row.source:
            found.append(_named(row.source.function, function, before="in "))
        kernels = [name for name in row.kernels if name in anchors.kernels][:_MOST_KERNELS]
        # Their names are long, and stand where the links lead.
        found += [
            Link(
                text=f"kernel {number}" if len(kernels) > 1 else "kernel",
                href=f"#{anchors.kernels[name]}",
                title=fmt.legible(name, _TITLE_LIMIT),
            )
            for number, name in enumerate(kernels, 1)
        ]
        found += _in_timeline(strip, anchors.operator(row))
        return tuple(found)

    def of_kernel(self, case: CaseAnalysis, kernel: Kernel) -> tuple[Link, ...]:
        """Lead from a kernel to the operators that launch it and to its calls in the timeline."""
        anchors, strip = self._anchors[case.name], self._strips.get(case.name)
        launching = [row for row in ranked_operators(case) if kernel.name in row.kernels and anchors.operator(row)]
        found = _operators(anchors, launching, "by ")
        found += _in_timeline(strip, anchors.kernels.get(kernel.name))
        return tuple(found)

    def of_function(self, case: CaseAnalysis, row: SourceRow) -> tuple[Link, ...]:
        """Lead from a function to the operators under it, the dearest first."""
        anchors = self._anchors[case.name]
        under = [
            item
            for item in ranked_operators(case)
            if item.source and (item.source.file, item.source.function) == (row.file, row.function)
        ]
        return tuple(_operators(anchors, [item for item in under if anchors.operator(item)], "runs "))


def _in_timeline(strip: Strip | None, row: str | None) -> list[Link]:
    """Lead to all activities of a row in the step; nowhere where it has none there."""
    if strip is None or row is None or row not in strip.rows:
        return []
    return [Link(text="timeline", href=f"#{strip.id}", show=Show(row=row))]


def _operators(anchors: Anchors, rows: Sequence[Operator], before: str) -> list[Link]:
    """Lead to the first of `rows`, one a name, and count the others."""
    by_name: dict[str, Operator] = {}
    for row in rows:
        by_name.setdefault(row.name, row)
    first = list(by_name.values())[:_MOST_NAMES]
    left = len(by_name) - len(first)
    return [
        _named(
            row.name.removeprefix("aten::"),
            anchors.operator(row) or "",
            before="" if number else before,
            after=f" and {fmt.count(left)} more" if left and number == len(first) - 1 else "",
        )
        for number, row in enumerate(first)
    ]


def _named(name: str, id_: str, before: str = "", after: str = "") -> Link:
    return Link(text=fmt.legible(name, _NAME_LIMIT), href=f"#{id_}", before=before, after=after, code=True)
