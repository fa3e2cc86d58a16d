import msgspec

from reportgen.history.compare import compare_reports
from reportgen.history.comparison_files import write_comparison
from reportgen.history.comparison_page import render_html
from reportgen.history.model import ReportDifference
from reportgen.history.text import render_markdown, render_text
from reportgen.recording import Device
from tests.night_builder import night, night_case, timed
from tests.report_builder import finding, gain

A100 = (Device(index=0, name="NVIDIA A100"),)


def worse():
    base = night(findings=[finding(gain=gain(1000.0, 500.0))])
    return compare_reports(base, night([night_case(mm_us=130.0, step_us=640.0)]), ("old", "fresh"))


def test_the_terminal_begins_with_the_verdict_and_what_it_rests_on():
    text = render_text(worse())

    assert text.startswith("Worse. prefill: device time per step 200 µs -> 210 µs (+5.0 %).")
    assert "+10.0 µs  mm (2 calls)" in text
    assert "promised at most 500 µs; the step is 360 µs shorter" in " ".join(text.split())


def test_no_line_is_wider_than_the_terminal():
    assert max(map(len, render_text(worse(), width=60).splitlines())) <= 60


def test_the_markdown_of_a_name_with_marks_stays_text():
    text = render_markdown(compare_reports(night([night_case(name="a|b_<i>")]), night([night_case(name="a|b_<i>")])))

    assert "a\\|b\\_&lt;i>" in text
    assert "**No change.**" in text


def test_the_markdown_has_a_row_for_what_changed_and_one_for_all_that_did_not():
    base = night([night_case(), night_case(name="decode")], findings=[finding("F1"), finding("F2")])
    new = night([night_case(mm_us=130.0), night_case(name="decode")], findings=[finding("F2"), finding("F3")])

    lines = render_markdown(compare_reports(base, new)).replace("\u00a0", " ").splitlines()

    assert [line for line in lines if line.startswith("| ")][2:] == [
        "| prefill | device time per step | 200 µs | 210 µs | +5.0 % | worse |",
        "| prefill | activities per step, kernels per step, peak memory and step time |  |  |  | no change |",
        "| decode | all 5 figures |  |  |  | no change |",
    ]
    assert lines[lines.index("Findings:") + 2 :] == [
        "- New: Prefill issues 10 activities in 1.00 ms that run 0.20 ms",
        "- Gone: Prefill issues 10 activities in 1.00 ms that run 0.20 ms "
        "(promised at most 500 µs; the step is as long as before)",
        "- 1 finding still there",
    ]


def test_a_longer_step_names_the_function_of_the_host_in_every_document():
    difference = compare_reports(night(), night([night_case(step_us=2000.0, forward_us=1800.0)]))

    assert "+900 µs  forward model.py (changed) on the host" in render_text(difference).replace("\u00a0", " ")
    markdown = render_markdown(difference).replace("\u00a0", " ")
    assert "What moved in prefill (host time per step):\n\n- +900 µs `forward model.py` (changed)" in markdown
    assert "Function: what moved in prefill, host time per step" in render_html(difference)


def test_the_page_names_the_unit_of_what_moved():
    page = render_html(worse()).replace("\u00a0", " ")

    assert '<th scope="col" class="n">Base, µs</th><th scope="col" class="n">New, µs</th>' in page


def test_the_page_shows_both_devices_of_what_is_not_comparable():
    page = render_html(compare_reports(night(), night(devices=A100)))

    assert "NVIDIA A100" in page
    assert "NVIDIA H200" in page
    assert "Not comparable." in page


def test_a_step_that_could_not_be_judged_is_said_beside_no_change_in_every_document():
    calm, crowded = timed(*[5000.0] * 20), timed(*[9000.0] * 20, starved_us=[4000.0] * 20)

    difference = compare_reports(night([night_case(timing=calm)]), night([night_case(timing=crowded)]))

    lead = (
        "No change. Every figure that was judged is equal. prefill: step time not judged, others had the cores "
        "(0 of 20 steps ran undisturbed) in new."
    )
    text = " ".join(render_text(difference).split())
    assert text.startswith(lead)
    assert "prefill: no change, step time not judged" in text
    page = render_html(difference).replace("\u00a0", " ")
    assert ">prefill: no change, step time not judged</h2>" in page
    assert lead.removeprefix("No change. ") in page
    assert lead.removeprefix("No change. ") in render_markdown(difference).replace("\u00a0", " ")


def test_every_document_counts_the_findings_that_another_device_leaves_open():
    difference = compare_reports(night(findings=[finding()]), night(devices=A100))

    said = "1 finding not compared, found in what is not comparable."
    for document in (render_text(difference), render_markdown(difference), render_html(difference)):
        assert said in document.replace("\u00a0", " ")
        assert "Gone" not in document
        assert ">gone<" not in document
        assert "Neither report has a finding" not in document


def test_the_files_are_what_was_asked_for(tmp_path):
    paths = write_comparison(worse(), tmp_path, ["html", "json", "md", "pdf"])

    assert [path.name for path in paths] == [
        "comparison.html",
        "comparison.json",
        "comparison.md",
        "comparison.pdf",
    ]
    assert msgspec.json.decode((tmp_path / "comparison.json").read_bytes(), type=ReportDifference) == worse()
    assert (tmp_path / "comparison.pdf").read_bytes().startswith(b"%PDF-")
