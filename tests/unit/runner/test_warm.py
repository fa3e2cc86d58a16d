"""Children forked from an interpreter that has only imported: what they share, and what becomes of them without it."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from reportgen.runner.interpreters import WarmInterpreter
from reportgen.runner.run import RunOptions, record
from tests.integration.command import ROOT, environment

pytestmark = pytest.mark.torch
WORKLOAD = """
    import colorsys
    import os
    import sys

    import torch
    from reportgen import Case, Step, Workload

    def build(case, device):
        numbers = {"process": os.getpid(), "parent": os.getppid(), "session": os.getsid(0)}
        found = {**{name: str(number) for name, number in numbers.items()}, "seen": ",".join(SEEN)}
        SEEN.append(case.name)
        weight = torch.ones(4, 4)
        return Step(lambda: weight @ weight, model=None, samples=1, provenance=found)

    SEEN = []
    WORKLOAD = Workload(
        name="who", description="", cases=(Case("one", phase="forward"), Case("two", phase="forward")), build=build
    )
"""


def _record(folder, warm):
    path = folder / "who.py"
    path.write_text(textwrap.dedent(WORKLOAD))
    recording = record(path, lambda *_: folder / "recording", RunOptions(device="cpu"), warm=warm)
    assert [(case.outcome, case.reason) for case in recording.manifest.cases] == [("done", None)] * 2
    return [case.provenance for case in recording.manifest.cases]


def _children():
    """Return this process's children; another test's tracker of shared memory may be among them."""
    return set(psutil.Process().children())


def test_each_case_is_a_process_and_a_session_of_its_own_forked_from_one_interpreter(tmp_path):
    others = _children()
    with WarmInterpreter() as warm:
        one, two = _record(tmp_path, warm)
        (interpreter,) = _children() - others

    assert one["parent"] == two["parent"] == str(interpreter.pid)
    assert one["process"] != two["process"]
    assert (one["session"], two["session"]) == (one["process"], two["process"])
    assert two["seen"] == ""  # nothing of the first case is left in the second
    assert not interpreter.is_running()


def test_without_its_interpreter_a_child_is_a_fresh_one(tmp_path):
    others = _children()
    with WarmInterpreter() as warm:
        _record(tmp_path, warm)
        (interpreter,) = _children() - others
        os.kill(interpreter.pid, signal.SIGKILL)
        one, two = _record(tmp_path, warm)

    assert one["parent"] == two["parent"] == str(os.getpid())


def _imported(folder, text, *names):
    """Return which of the modules `names` are imported by the first lines of a workload `text`."""
    path = folder / "workload.py"
    path.write_text(text)
    code = (
        "import sys; from pathlib import Path; from reportgen.runner.warm import import_first_lines;"
        "import_first_lines(Path(sys.argv[1])); print(*[name for name in sys.argv[2:] if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(path), *names]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ('"""What it is."""\nimport wave\nfrom colorsys import hls_to_rgb\nimport imaplib', "wave colorsys imaplib"),
        ("import wave\nimport os\nos.environ['A'] = '1'\nimport colorsys", "wave"),  # it may be meant for what follows
        ("import wave\nimport some_package\nimport colorsys", "wave"),
        ("import wave\nfrom . import colorsys\nimport imaplib", "wave"),
        ("import wave\nfrom colorsys import no_such_name\nimport imaplib", "wave colorsys"),
        ("import wave\nthis is no Python", ""),
    ],
)
def test_the_first_lines_are_imported_up_to_the_first_that_does_anything_else(tmp_path, text, imported):
    assert _imported(tmp_path, text, "wave", "colorsys", "imaplib") == imported.split()


def test_a_package_that_the_workload_s_folder_shadows_is_not_imported(tmp_path):
    (tmp_path / "colorsys.py").write_text("")

    assert _imported(tmp_path, "import wave\nimport colorsys\nimport imaplib", "wave", "colorsys", "imaplib") == [
        "wave"
    ]


_FORKED = """
import os, sys
import torch
from reportgen.runner import warm

def shared_mib():
    with open("/proc/self/smaps_rollup") as file:
        return {line.split(":")[0]: int(line.split()[1]) // 1024 for line in file if "kB" in line}["Shared_Dirty"]

warm._MADV_POPULATE_WRITE = int(sys.argv[1])
if os.fork() == 0:
    before = shared_mib()
    warm.own_memory()
    print(before, shared_mib(), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the kernel does not tell what is shared")
@pytest.mark.parametrize("advice", [23, 9999], ids=["in one call", "page by page"])
def test_a_child_shares_no_page_that_its_first_step_would_have_to_copy(advice):
    command = [sys.executable, "-c", _FORKED, str(advice)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())

    assert before > 20  # what torch's imports wrote
    assert after < before / 10
