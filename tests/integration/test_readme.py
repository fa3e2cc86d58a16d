"""What the README shows, as it stands there."""

import re
import time

import pytest

from tests.integration.command import ROOT, read_report, reportgen

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.torch
def test_the_workload_in_the_readme_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "linear.py").write_text(code)

    done = reportgen("linear.py", "--set", "width=64", "--device", "cpu", "--format", "json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    report = read_report(tmp_path)
    assert [(case.name, case.parameters["width"]) for case in report.cases] == [("small", 64), ("large", 64)]
    assert {case.timing.throughput.unit for case in report.cases} == {"samples/s"}


def test_every_file_that_the_documents_link_to_is_there():
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            path = page.parent / target
            # The example is made on a GPU and may be absent from a checkout.
            assert path.exists() or "example-gpt2-h200" in target, f"{page.name}: {target}"


@pytest.mark.full
@pytest.mark.torch
def test_the_first_command_makes_all_documents_on_a_cpu_within_two_minutes(tmp_path):
    start = time.monotonic()
    done = reportgen(ROOT / "workloads" / "gpt2.py", "--device", "cpu", cwd=tmp_path)
    seconds = time.monotonic() - start

    assert done.returncode == 0, done.stderr
    names = [line.rpartition("/")[2] for line in done.stdout.splitlines()[-3:]]
    assert names == ["report.html", "report.pdf", "report.json"]
    assert [case.outcome for case in read_report(tmp_path).cases] == ["done", "done"]
    assert seconds < 120
