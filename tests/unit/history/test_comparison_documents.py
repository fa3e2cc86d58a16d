import msgspec

from reportgen.history.compare import compare_reports
from reportgen.history.comparison_files import write_comparison
from reportgen.history.comparison_page import render_html
from reportgen.history.model import ReportDifference
from reportgen.history.text import render_markdown, render_text
from reportgen.recording import Device
from tests.night_builder import night, night_case
from tests.report_builder import finding, gain

A100 = (Device(index=0, name="NVIDIA A100"),)


def worse():
    base = night(findings=[finding(gain=gain(1000.0, 500.0))])
    return compare_reports(base, night([night_case(mm_us=130.0, step_us=640.0)]), ("old", "fresh"))


def test_the_terminal_begins_with_the_verdict_and_what_it_rests_on():
    text = render_text(worse())

    assert text.startswith("Worse. Prefill: device time per step 200 µs -> 210 µs (+5.0 %).")
    assert "+10.0 µs  mm (2 calls)" in text
    assert "promised at most 500 µs; the step is 360 µs shorter" in " ".join(text.split())


def test_no_line_is_wider_than_the_terminal():
    assert max(map(len, render_text(worse(), width=60).splitlines())) <= 60


def test_the_markdown_of_a_name_with_marks_stays_text():
    text = render_markdown(compare_reports(night([night_case(name="a|b_<i>")]), night([night_case(name="a|b_<i>")])))

    assert "a\\|b\\_&lt;i>" in text
    assert "**No change.**" in text


def test_the_page_shows_both_devices_of_what_is_not_comparable():
    page = render_html(compare_reports(night(), night(devices=A100)))

    assert "NVIDIA A100" in page
    assert "NVIDIA H200" in page
    assert "Not comparable." in page


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
