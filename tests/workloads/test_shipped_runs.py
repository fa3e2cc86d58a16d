"""Every workload that ships, made small, profiled and reported on the CPU as a user would: nothing of it may fail."""

import pytest

from reportgen.workload import read_outline
from tests.workloads.shipped import PATHS, small_settings

pytestmark = [pytest.mark.torch, pytest.mark.full]
# What may be said of a small run on a busy CPU, and why it is no fault of the workload.
EXPLAINED = {
    "profiled-step-faster": "a step of milliseconds, and other processes: the profiled steps met fewer of them",
    "shapes-vary": "fine-tuning pads each batch to its longest text",
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_shipped_workload_made_small_gives_a_whole_report(path, tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    from reportgen.pipeline import Wishes, run_workload
    from reportgen.runner.run import RunOptions

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    outline = read_outline(path)
    options = RunOptions(device="cpu", settings=small_settings(outline), alternatives=())

    written = run_workload(path, options, Wishes(output=tmp_path, formats=("json",)))

    report = written.report
    assert written.failures == ()
    assert [case.name for case in report.cases] == [case.name for case in outline.cases]
    assert {case.timing.basis for case in report.cases} == {"unprofiled"}
    assert [(record.id, record.case, record.reason) for record in report.rules if record.outcome == "failed"] == []
    notices = [notice for case in report.cases for notice in case.notices] + list(report.notices)
    assert [notice.text for notice in notices if notice.code not in EXPLAINED] == []
    # Nothing of what ships is real, and the report says so of each case.
    assert {case for finding in report.findings if finding.rule == "synthetic-inputs" for case in _cases(finding)} == {
        case.name for case in report.cases
    }


def _cases(finding):
    return (finding.case,) if finding.case is not None else ()
