"""Figures are called what they are: the version of a driver, memory that is reserved, a step that was timed apart."""

from __future__ import annotations

import msgspec

from reportgen.analysis.model import Headroom, Memory, Streams
from reportgen.findings.evaluate import evaluate
from reportgen.findings.model import Fix, FixSequence
from reportgen.recording import Environment, Runtime
from reportgen.report.model import ReportInput
from reportgen.report.view.fixes import view_fixes
from reportgen.report.view.medium import SCREEN
from reportgen.report.view.memory_sentences import sentences_about
from reportgen.report.view.method import view_method
from reportgen.report.view.time import _streams
from tests import report_builder as build
from tests.case_builder import host_bound_case

GIB = 2**30


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_of_a_trace_the_driver_s_figure_is_the_cuda_version_that_it_supports() -> None:
    environment = Environment(torch=None, driver="13.0", runtime=Runtime(kind="cuda", version="12.8"))
    trace = build.report(environment=environment, input=ReportInput(kind="trace", path="a.json"))
    assert dict(view_method(trace).environment)["Driver"] == "for CUDA up to 13.0; its own version is not recorded"

    own = build.report(environment=msgspec.structs.replace(environment, driver="580.159.04"))
    assert dict(view_method(own).environment)["Driver"] == "580.159.04"


def with_room(in_use_share: float | None) -> Memory:
    return Memory(
        peak_allocated_bytes=GIB, peak_reserved_bytes=2 * GIB, start_bytes=None, growth_bytes_per_step=None,
        headroom=Headroom(device_bytes=64 * GIB, reserved_share=2 / 64, in_use_share=in_use_share),
    )  # fmt: skip


def test_what_the_program_alone_reserved_is_never_said_to_be_all_that_is_in_use() -> None:
    reserved, in_use = (plain(dict(sentences_about(with_room(share)))["Device:"]) for share in (None, 0.25))
    assert reserved == "3.1 % of its 64.0 GiB reserved at the peak by this program."
    assert in_use == "25.0 % of its 64.0 GiB in use at the peak."

    def reason(share: float | None) -> str | None:
        _, records = evaluate([host_bound_case(memory=with_room(share))], Environment())
        return next(record.reason for record in records if record.id == "near-capacity")

    assert plain(reason(None) or "") == "3.1 % of the device's memory is reserved at the peak"
    assert plain(reason(0.25) or "") == "25.0 % of the device's memory is in use at the peak"


def test_a_measured_fix_says_from_which_step_where_it_is_not_the_one_that_the_chart_begins_with() -> None:
    fixes = (Fix(finding="F1", edit="cuda-graph", step_after_us=500.0, method="measured"),)
    sequence = FixSequence(case="prefill", step_us=1000.0, fixes=fixes)

    def told(paired_us: float) -> str:
        found = build.finding("F1", gain=build.gain(paired_us, 500.0))
        (shown,) = view_fixes(build.report(findings=[found], fixes=(sequence,)), {}, SCREEN)
        return plain(shown.paired)

    assert told(1100.0) == (
        "F1 was timed on its own, in turn with the unchanged step, which took 1.10 ms then: the 1.00 ms above are of "
        "the timing pass."
    )
    assert told(1010.0) == ""  # within 2 % they are one figure


def test_copies_beside_nothing_are_said_so_and_not_as_a_share() -> None:
    def told(hidden_us: float) -> str:
        streams = Streams(
            num_streams=1, concurrency=1.0, copy_us_per_step=3.0, copy_hidden_us_per_step=hidden_us,
            communication_us_per_step=0.0, communication_hidden_us_per_step=0.0,
        )  # fmt: skip
        return plain(_streams([host_bound_case(streams=streams)]) or "")

    assert told(0.0) == "1 stream, 3.00 µs a step of copies, none of it beside other work."
    assert told(1.5) == "1 stream, 1.50 of 3.00 µs a step of copies beside other work."
