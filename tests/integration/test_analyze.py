"""Traces from elsewhere, read where torch is not installed."""

import gzip
import re
import shutil

import msgspec
import pytest

from tests.integration.command import DATA, read_report, reportgen, without_pango
from tests.trace_builder import base, frame, kernel, launch, op, step, write_trace


def _analyze(folder, *words, **options):
    return reportgen("analyze", *words, cwd=folder, torch=False, **options)


def test_a_trace_becomes_a_report_named_after_its_file(tmp_path):
    done = _analyze(tmp_path, DATA / "h2d_pageable.json.gz", "--memory", DATA / "h2d_pageable.pickle.gz")

    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "reports").iterdir()
    assert re.fullmatch(r"h2d_pageable-\d{8}T\d{6}Z", folder.name)
    assert {path.name for path in folder.iterdir()} >= {"report.html", "report.pdf", "report.json"}


def test_the_environment_of_a_trace_is_what_its_top_level_says(tmp_path):
    _analyze(tmp_path, DATA / "h2d_pageable.json.gz", "--format", "json")
    report = read_report(tmp_path)

    assert (report.workload, report.input.kind) == (None, "trace")
    assert (report.environment.runtime.kind, report.environment.runtime.version) == ("cuda", "13.0")
    assert report.environment.torch is None
    (device,) = report.devices
    assert (device.name, device.vendor, device.multiprocessors) == ("NVIDIA H200", "NVIDIA", 132)
    assert device.memory_bytes == 150_109_880_320


def test_device_time_of_a_real_trace_is_what_a_plain_sum_says(tmp_path):
    _analyze(tmp_path, DATA / "h2d_pageable.json.gz", "--format", "json")
    (case,) = read_report(tmp_path).cases

    # 89.25 ms launched by three steps, by a program written apart from this one.
    assert case.num_steps == 3
    assert case.device_time.activity_sum_us_per_step == pytest.approx(89_250 / 3, rel=1e-3)


def test_a_trace_without_device_activity_of_a_job_that_had_a_device_is_never_zero_busy(tmp_path):
    _analyze(tmp_path, DATA / "cpu_only_trace.json.gz", "--format", "json")
    (case,) = read_report(tmp_path).cases

    assert case.device_kind == "not-recorded"
    assert case.device_time is None or case.device_time.busy_us_per_step is None


@pytest.mark.parametrize(
    ("name", "content"), [("empty.json", b""), ("words.json", b"no trace"), ("broken.json.gz", b"\x1f\x8b\x08broken")]
)
def test_a_file_that_yields_nothing_is_exit_code_4_and_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    done = _analyze(tmp_path, name, "--quiet")

    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("words", [("analyze", "nowhere.json"), ("analyze", "."), ("render", ".")])
def test_what_is_not_there_is_exit_code_4(tmp_path, words):
    done = reportgen(*words, "--quiet", cwd=tmp_path, torch=False)

    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1


def test_without_pango_the_default_formats_are_html_and_json_with_one_line_about_the_pdf(tmp_path):
    done = _analyze(tmp_path, DATA / "cuda_graph.json.gz", "--quiet", **without_pango(tmp_path))

    assert done.returncode == 0
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == ["report.html", "report.json"]
    (line,) = done.stderr.splitlines()
    assert "libpango-1.0-0" in line
    assert "render" in line or "analyze" in line


def test_without_pango_a_pdf_asked_for_by_name_is_exit_code_3_and_the_others_are_written(tmp_path):
    words = (DATA / "cuda_graph.json.gz", "--quiet", "--format", "pdf,json")
    done = _analyze(tmp_path, *words, **without_pango(tmp_path))

    assert done.returncode == 3
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == ["report.json"]
    assert len(done.stderr.splitlines()) == 1


def test_a_machine_that_only_records_may_lack_weasyprint_itself(tmp_path):
    missing = without_pango(tmp_path, 'raise ModuleNotFoundError("No module named weasyprint")')
    done = _analyze(tmp_path, DATA / "cuda_graph.json.gz", "--quiet", **missing)

    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "pip install 'weasyprint" in line


def test_a_threshold_from_the_command_line_decides(tmp_path):
    words = (DATA / "h2d_pageable.json.gz", "--format", "json", "--threshold", "dominant-operator.share=0.9999")
    done = _analyze(tmp_path, *words)

    assert done.returncode == 0, done.stderr
    (record,) = [record for record in read_report(tmp_path).rules if record.id == "dominant-operator"]
    assert (record.outcome, record.threshold) == ("passed", 0.9999)


def test_run_without_torch_is_exit_code_2_and_says_what_to_install(tmp_path):
    done = reportgen("run", "gpt2", cwd=tmp_path, torch=False)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "reportgen: profiling a workload needs torch, which is not installed; try: pip install 'reportgen[run]'"
    ]


def test_list_reads_workloads_without_torch(tmp_path):
    done = reportgen("list", cwd=tmp_path, torch=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^gpt2 .*\[prefill, decode\]$", done.stdout, re.MULTILINE)


def test_i1_an_anonymous_report_names_neither_person_nor_machine(tmp_path):
    trace = base(
        step(1, 0, 100),
        frame("/home/u1/train.py(3): main", 0, 90),
        op("aten::mm", 2, 20),
        launch(4, 2, 1),
        kernel(10, 40, 1),
        username="u1",
        host_name="h1.example.org",
    )
    path = write_trace(tmp_path, trace, "h1_123.pt.trace.json")
    done = _analyze(tmp_path, path, "--anonymous")
    named = _analyze(tmp_path, path, "-o", "named")

    assert (done.returncode, named.returncode) == (0, 0)
    files = [file for file in (tmp_path / "reports").rglob("*") if file.is_file()]
    assert {"report.html", "report.pdf", "report.json"} <= {file.name for file in files}
    for file in files:
        told = f"{file.relative_to(tmp_path)} {_told(file)}"
        assert not re.search(r"(?<![A-Za-z0-9])(u1|h1)(?![A-Za-z0-9])", told), file
    assert "train.py" in next((tmp_path / "reports").rglob("report.json")).read_text()
    assert read_report(tmp_path / "named").environment.user == "u1"


def _told(file):
    """Return what a document says, without the tags, style sheets and images, in which "h1" is a heading."""
    if file.suffix == ".pdf":
        from pypdf import PdfReader

        return "\n".join(page.extract_text() for page in PdfReader(file).pages)
    if file.suffix == ".html":
        page = re.sub(r"<(style|script).*?</\1>|data:[^\"')]*", "", file.read_text(), flags=re.DOTALL)
        return re.sub(r"</?\w+", "", page)
    return gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text()


def test_a_damaged_file_of_a_recording_costs_only_what_it_would_have_told(tmp_path):
    from reportgen.recording import Generator, Manifest, RecordedCase, WorkloadInfo, write_manifest

    folder = tmp_path / "recording"
    (folder / "only").mkdir(parents=True)
    shutil.copy(DATA / "cuda_graph.json.gz", folder / "only" / "timeline.json.gz")
    (folder / "only" / "detail.json.gz").write_bytes(b"\x1f\x8b\x08broken")
    manifest = Manifest(
        generator=Generator(name="reportgen", version="0"),
        created_at="2026-11-29T15:47:00Z",
        command="python -m reportgen run x.py",
        workload=WorkloadInfo(name="x", description="x"),
        cases=(RecordedCase(name="only", phase="forward", folder="only", device="cuda:0"),),
    )
    write_manifest(folder, manifest)

    done = reportgen("render", folder, "--format", "json", cwd=tmp_path, torch=False)

    assert done.returncode == 0, done.stderr
    (case,) = read_report(tmp_path).cases
    assert case.device_time.busy_us_per_step == pytest.approx(590 / 3, rel=0.02)
    (notice,) = [notice for notice in case.notices if notice.code == "recording-unreadable"]
    assert "only/detail.json.gz" in notice.text
    assert msgspec.json.decode((tmp_path / "report.json").read_bytes())["created_at"] == "2026-11-29T15:47:00Z"
