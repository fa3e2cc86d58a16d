"""Real runs of small workloads: what a case leaves behind, and what its end costs."""

import contextlib
import gzip
import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from reportgen.errors import UsageError
from reportgen.recording import Recording
from reportgen.runner.interpreters import WarmInterpreter
from reportgen.runner.progress import CaseEnded, CaseStarted, PassEnded, PassStarted
from reportgen.runner.run import RunOptions, record

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[3]

WORKLOAD = """
    import ctypes
    import os
    import signal
    import sys
    import time

    import torch
    from reportgen import Case, Step, Workload

    def build(case, device):
        print("building", case.name, flush=True)
        ctypes.CDLL(None).puts(b"C code speaks")
        weight = torch.ones(case.size, case.size, device=device)
        calls = []

        def step():
            calls.append(None)
            has_stacks = sys.getprofile() is not None
            if len(calls) == case.fatal_call or (case.name == "detailed" and has_stacks):
                FATAL[case.name]()
            return weight @ weight

        return Step(step, model=None, samples=2, provenance={"inputs": "ones"})

    def raise_an_error():
        raise RuntimeError("the step is broken\\nin two lines")

    FATAL = {
        "raises": raise_an_error,
        "detailed": raise_an_error,
        "exits": lambda: os._exit(7),
        "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "hangs": lambda: time.sleep(60),
    }
    WORKLOAD = Workload(
        name="faulty",
        description="Steps that end in every way",
        cases=(
            Case("good", phase="forward", size=16, fatal_call=0),
            Case("raises", phase="forward", size=16, fatal_call=1),
            Case("detailed", phase="forward", size=16, fatal_call=0),
            Case("exits", phase="forward", size=16, fatal_call=1),
            Case("killed", phase="forward", size=16, fatal_call=4),
            Case("hangs", phase="forward", size=16, fatal_call=2),
        ),
        build=build,
    )
"""


def _write(folder, text=WORKLOAD):
    path = folder / "faulty.py"
    path.write_text(textwrap.dedent(text))
    return path


def _record(folder, *cases, text=WORKLOAD, progress=lambda event: None, warm=None, **options):
    options = RunOptions(cases=cases, device="cpu", **options)

    def place(workload, device):
        return folder / f"{workload}-{device}"

    return record(_write(folder, text), place, options, progress, warm)


def _case(recording, name):
    return next(case for case in recording.manifest.cases if case.name == name)


@pytest.fixture(scope="module", params=["forked", pytest.param("fresh", marks=pytest.mark.full)])
def faulty(request, tmp_path_factory):
    """A run of six cases, five of which come to a bad end, and what it told of itself; by what its children are."""
    events = []
    with contextlib.ExitStack() as stack:
        warm = stack.enter_context(WarmInterpreter()) if request.param == "forked" else None
        recording = _record(tmp_path_factory.mktemp("faulty"), timeout_s=10, progress=events.append, warm=warm)
    return recording, events


def test_a_case_that_ends_in_order_has_every_pass(faulty):
    case = _case(faulty[0], "good")

    assert (case.outcome, case.reason) == ("done", None)
    assert [(record.name, record.outcome) for record in case.passes] == [
        ("cold", "done"),
        ("timing", "done"),
        ("timeline", "done"),
        ("detail", "done"),
        ("sync", "skipped"),
        ("memory", "skipped"),
    ]
    assert case.first_step_us > 0
    assert case.timing.mode == "pipelined"
    assert len(case.timing.pipelined.samples_us) > 0
    assert (case.samples_per_step, case.provenance) == (2, {"inputs": "ones"})


def test_what_was_recorded_is_what_the_manifest_on_disk_says(faulty):
    assert Recording.open(faulty[0].path).manifest == faulty[0].manifest
    assert faulty[0].path.name == "faulty-cpu"


def test_the_timeline_is_light_and_the_detail_has_shapes_memory_and_stacks(faulty):
    recording, _ = faulty
    case = _case(recording, "good")
    light = json.loads(gzip.decompress(recording.trace_path(case, "timeline").read_bytes()))
    deep = json.loads(gzip.decompress(recording.trace_path(case, "detail").read_bytes()))

    marks = [event for event in light["traceEvents"] if event["name"].startswith("ProfilerStep#")]
    assert len(marks) == 5
    assert not any(event.get("cat") == "python_function" for event in light["traceEvents"])
    products = [event for event in deep["traceEvents"] if event["name"] == "aten::mm"]
    assert len(products) == 3
    assert products[0]["args"]["Input Dims"] == [[16, 16], [16, 16]]
    assert any(event["name"] == "[memory]" for event in deep["traceEvents"])
    assert sum(event["name"].startswith("faulty.py") and "step" in event["name"] for event in deep["traceEvents"]) == 3


def test_what_a_case_prints_is_in_its_log_also_from_c(faulty, capfd):
    log = (faulty[0].path / _case(faulty[0], "good").folder / "log.txt").read_text()

    assert "building good" in log
    assert "C code speaks" in log
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises", "cold: RuntimeError: the step is broken (faulty.py:27)"),
        ("exits", "cold: its process ended itself with exit code 7"),
        ("killed", "timing: its process was ended by SIGKILL; the machine may have run out of memory"),
        ("hangs", "timing: not done after 10 s, the time-out"),
    ],
)
def test_a_case_that_fails_says_so_in_one_line_and_costs_only_itself(faulty, name, reason):
    case = _case(faulty[0], name)

    assert (case.outcome, case.reason) == ("failed", reason)
    assert _case(faulty[0], "good").outcome == "done"


def test_passes_after_a_failed_first_step_are_skipped_with_the_reason(faulty):
    outcomes = {record.name: (record.outcome, record.reason) for record in _case(faulty[0], "raises").passes}

    assert outcomes["timeline"] == ("skipped", "the cold pass failed")
    assert "Traceback" in (faulty[0].path / "raises" / "log.txt").read_text()


def test_passes_that_a_dead_process_never_reached_are_not_recorded(faulty):
    assert [record.name for record in _case(faulty[0], "killed").passes] == ["cold", "timing"]


def test_a_run_tells_how_it_gets_on(faulty):
    _, events = faulty
    started = [event for event in events if isinstance(event, CaseStarted)]
    of_good = [event for event in events if getattr(event, "case", None) == "good"]

    assert [(event.case, event.number, event.total) for event in started][:2] == [("good", 1, 6), ("raises", 2, 6)]
    assert sum(isinstance(event, CaseEnded) for event in events) == 6
    passes = [event.name for event in of_good if isinstance(event, PassStarted)]
    assert passes == ["cold", "timing", "timeline", "timing", "detail", "timing", "sync", "memory"]
    assert [event.record.name for event in of_good if isinstance(event, PassEnded)] == passes


def test_a_pass_that_fails_costs_only_itself(faulty):
    case = _case(faulty[0], "detailed")
    outcomes = {record.name: record.outcome for record in case.passes}

    assert (outcomes["timeline"], outcomes["detail"], outcomes["timing"]) == ("done", "failed", "done")
    assert (case.outcome, case.reason) == ("failed", "detail: RuntimeError: the step is broken (faulty.py:27)")
    assert faulty[0].trace_path(case, "timeline") is not None
    assert faulty[0].trace_path(case, "detail") is None
    assert max(case.timing.pipelined.blocks) >= 2


def test_a_computed_workload_runs_like_one_that_is_written_out(tmp_path):
    text = textwrap.dedent(WORKLOAD).replace('name="faulty"', 'name="faul" + "ty"')
    recording = _record(tmp_path, "raises", text=text, settings=("raises.size=4",))

    assert recording.manifest.workload.name == "faulty"
    assert _case(recording, "raises").parameters == {"size": 4, "fatal_call": 1}


def test_a_computed_workload_that_cannot_be_loaded_is_not_blamed_on_torch(tmp_path):
    text = "from reportgen import *\nWORKLOAD = Workload(name='w', description='', cases=tuple([]), build=print)"

    with pytest.raises(UsageError, match=r"^workload 'w' has no case"):
        _record(tmp_path, text=text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "no such device; it is auto, cuda, cuda:N or cpu"),
        ({"device": "cuda:99"}, "cuda:99: "),
        ({"cases": ("goood",)}, "Did you mean good"),
        ({"settings": ("siz=4",)}, "Did you mean size"),
    ],
)
def test_what_cannot_run_as_asked_is_refused_before_anything_is_written(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        record(_write(tmp_path), lambda *_: pytest.fail("a folder was asked for"), RunOptions(**options))


_PARENT = """
import sys
from pathlib import Path
from reportgen.runner.run import RunOptions, record

options = RunOptions(device="cpu", cases=("hangs",), settings=(sys.argv[3],))
record(Path(sys.argv[1]), lambda *_: Path(sys.argv[2]), options)
"""


def _start_parent(folder, setting):
    arguments = [sys.executable, "-c", _PARENT, str(_write(folder)), str(folder / "recording"), setting]
    return subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.DEVNULL)


def _wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _has_timing(folder):
    path = folder / "recording"
    return (path / "recording.json").exists() and Recording.open(path).manifest.cases[0].timing is not None


@pytest.mark.full
def test_a_parent_killed_after_timing_leaves_no_child_and_a_recording_that_opens(tmp_path):
    # The step hangs at its 200th call, which is after the first block and inside a later pass.
    parent = _start_parent(tmp_path, "fatal_call=200")
    assert _wait_until(lambda: _has_timing(tmp_path))
    children = psutil.Process(parent.pid).children(recursive=True)

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    assert len(children) == 1
    assert _wait_until(lambda: not any(child.is_running() for child in children), 5)
    case = Recording.open(tmp_path / "recording").manifest.cases[0]
    assert case.outcome == "unfinished"
    assert case.pass_record("timing").outcome == "done"
    assert case.pass_record("memory") is None


def test_an_interrupted_parent_ends_its_child_and_keeps_the_recording(tmp_path):
    parent = _start_parent(tmp_path, "fatal_call=1")
    assert _wait_until(lambda: psutil.Process(parent.pid).children() and (tmp_path / "recording").exists())
    children = psutil.Process(parent.pid).children(recursive=True)

    parent.send_signal(signal.SIGINT)

    assert parent.wait(10) != 0
    assert _wait_until(lambda: not any(child.is_running() for child in children), 5)
    assert Recording.open(tmp_path / "recording").manifest.cases[0].name == "hangs"


def test_the_parent_does_not_import_torch():
    code = "import sys, reportgen.runner.run; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    """A run of the workload that ships, made small."""
    folder = tmp_path_factory.mktemp("gpt2")
    options = RunOptions(device="cpu", settings=("preset=tiny", "seq_len=32", "past_len=32"))
    return record(ROOT / "workloads" / "gpt2.py", lambda *_: folder / "recording", options)


@pytest.mark.full
def test_a_cache_that_grows_has_first_visits_and_revisits_and_no_pipelined_time(gpt2):
    timing = _case(gpt2, "decode").timing

    assert (timing.mode, timing.pipelined) == ("drained", None)
    assert len(timing.drained.samples_us) > len(timing.revisit.samples_us) >= 3
    assert _case(gpt2, "prefill").timing.revisit is None


@pytest.mark.full
def test_the_profiled_windows_of_a_growing_cache_saw_first_visits(gpt2):
    laps = {record.name: record.lap for record in _case(gpt2, "decode").passes}

    assert (laps["timeline"], laps["detail"]) == ("first", "first")
    assert {record.lap for record in _case(gpt2, "prefill").passes} == {None}


def test_each_profiled_decode_step_attends_to_one_position_more(gpt2):
    trace = json.loads(gzip.decompress(gpt2.trace_path(_case(gpt2, "decode"), "detail").read_bytes()))
    attention = [event for event in trace["traceEvents"] if event["name"] == "aten::scaled_dot_product_attention"]
    lengths = sorted({event["args"]["Input Dims"][1][-2] for event in attention})

    # Two layers, three recorded steps, a length each.
    assert len(attention) == 6
    assert lengths == [lengths[0], lengths[0] + 1, lengths[0] + 2]


def test_the_modes_in_force_inside_the_step_are_recorded(gpt2):
    flags = _case(gpt2, "prefill").flags

    assert (flags["inference_mode"], flags["grad_mode"], flags["training_mode"]) == (True, False, False)
    assert gpt2.manifest.environment.flags["default_dtype"] == "float32"
    assert gpt2.manifest.environment.runtime.kind == "none"


LEAVES_A_CHILD = """
    import subprocess

    import torch
    from reportgen import Case, Step, Workload

    def build(case, device):
        left = subprocess.Popen(["sleep", "4321"])
        raise RuntimeError(f"left {left.pid}")

    WORKLOAD = Workload(name="leaves", description="", cases=(Case("only", phase="forward"),), build=build)
"""


def test_what_a_case_started_ends_with_it(tmp_path):
    case = _case(_record(tmp_path, text=textwrap.dedent(LEAVES_A_CHILD)), "only")

    left = int(case.reason.partition("left ")[2].split()[0])
    assert _wait_until(lambda: not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE)
