"""A captured loop: what it computes stays the same, what it costs, and what it leaves however it ends."""

import contextlib
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

import reportgen  # noqa: E402 - after the check for torch
from reportgen.recording import Recording  # noqa: E402
from reportgen.runner.capture import ranks  # noqa: E402
from reportgen.runner.capture.session import SKIPPED_STEPS  # noqa: E402
from reportgen.runner.capture.shortfall import count_window_steps  # noqa: E402
from reportgen.trace.reader import read_trace  # noqa: E402

GUIDE = (Path(__file__).parents[3] / "docs" / "capture.md").read_text(encoding="utf-8")


def train(num_steps, session=None, fail_at=None):
    """Run a small training loop with dropout and return its losses."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    with session or contextlib.nullcontext() as entered:
        for number in range(num_steps):
            if number == fail_at:
                raise KeyError("the loop's own")
            loss = model(torch.randn(4, 8)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item().hex())
            if entered is not None:
                entered.step()
    return losses


def captured(folder, **options):
    return reportgen.capture("loop", output=folder, report=False, device="cpu", **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A loop that was long enough: its losses, and its recording."""
    session = captured(tmp_path_factory.mktemp("captured"), skip=2, samples=4, provenance={"inputs": "random"})
    losses = train(200, session)
    return losses, Recording.open(session.recording)


def test_the_loss_curve_is_bit_equal_with_and_without_it(finished):
    assert finished[0] == train(200)


def test_a_long_loop_leaves_every_pass_that_is_possible(finished):
    (case,) = finished[1].manifest.cases
    outcomes = {record.name: record.outcome for record in case.passes}

    assert outcomes == {
        "cold": "skipped",
        "sync": "skipped",
        "memory": "skipped",
        "alternatives": "skipped",
        "timing": "done",
        "timeline": "done",
        "detail": "done",
    }
    assert (case.outcome, case.reason) == ("done", None)
    assert (case.samples_per_step, case.provenance) == (4, {"inputs": "random"})
    assert set(case.timing.pipelined.blocks) == {0, 1}


def test_the_recorded_steps_are_marked(finished):
    recording = finished[1]
    (case,) = recording.manifest.cases

    assert len(read_trace(recording.trace_path(case, "timeline")).steps.start_ns) == 5
    assert len(read_trace(recording.trace_path(case, "detail")).steps.start_ns) == 3


def test_an_exception_is_raised_unchanged_and_the_recording_kept(tmp_path):
    session = captured(tmp_path, skip=0)

    with pytest.raises(KeyError, match="the loop's own"):
        train(70, session, fail_at=62)

    (case,) = Recording.open(session.recording).manifest.cases
    assert case.outcome == "failed"
    assert case.reason.startswith('KeyError: "the loop\'s own"')
    assert case.pass_record("timing").outcome == "done"


@pytest.mark.parametrize(("code", "outcome"), [(0, "done"), (None, "done"), (3, "failed")])
def test_a_program_that_ends_itself_has_failed_only_where_it_says_so(tmp_path, code, outcome):
    session = captured(tmp_path, skip=0)

    with pytest.raises(SystemExit), session:
        sys.exit(code)

    (case,) = Recording.open(session.recording).manifest.cases
    assert case.outcome == outcome


@pytest.mark.parametrize(
    ("num_steps", "reason"),
    [
        # Let pass, flags, settling: 2 + 1 + 4. Then 4, 6, 6 and 4 steps of a second, or 49, 6, 6 and 49 short ones.
        (
            4,
            "no step was recorded, since the loop ended after 4 steps: let it run longer; a window takes 27 steps of a "
            "second each, or 117 short ones",
        ),
        (60, "the loop ended after 60 steps, before these passes were over: timeline, detail"),
    ],
)
def test_a_loop_that_is_too_short_says_so(tmp_path, num_steps, reason):
    session = captured(tmp_path, skip=2)
    train(num_steps, session)

    (case,) = Recording.open(session.recording).manifest.cases
    assert (case.outcome, case.reason) == ("done", reason)


def test_the_documented_number_of_steps_is_a_whole_window():
    window = [count_window_steps(SKIPPED_STEPS, step_us) for step_us in (1e6, 1e3)]

    assert window == [35, 125]
    assert f"That takes {window[0]} steps of a second each, or {window[1]} short ones" in " ".join(GUIDE.split())


def test_as_many_short_steps_as_a_window_takes_are_enough(tmp_path):
    session = captured(tmp_path, skip=2)
    train(117, session)

    assert Recording.open(session.recording).manifest.cases[0].reason is None


def test_a_loop_that_never_says_that_a_step_ended_is_told_how(tmp_path):
    with captured(tmp_path) as session:
        pass
    assert Recording.open(session.recording).manifest.cases[0].reason == (
        "no step was seen: call session.step() at the end of each pass of the loop"
    )


def test_a_profiler_of_the_program_s_own_costs_only_the_profiled_passes(tmp_path):
    session = captured(tmp_path, skip=0)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
        train(120, session)

    (case,) = Recording.open(session.recording).manifest.cases
    assert case.pass_record("timing").outcome == "done"
    assert case.pass_record("timeline").outcome == "failed"
    assert "own profiler" in case.pass_record("timeline").reason
    assert any(event.key == "aten::addmm" for event in own.key_averages())


def test_each_rank_records_into_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")

    session = captured(tmp_path, skip=0)
    train(2, session)

    assert ranks.own_rank() == ranks.Rank(number=1, size=2)
    assert session.recording.parent.name.startswith("loop-cpu-rank1-")
    manifest = Recording.open(session.recording).manifest
    assert manifest.cases[0].parameters == {"rank": 1, "num_ranks": 2}
    assert "rank 1 of 2" in manifest.workload.description


def test_two_sessions_in_one_second_do_not_meet(tmp_path):
    first, second = captured(tmp_path), captured(tmp_path)
    with first, second:
        assert first.recording != second.recording


class Padded(torch.nn.Module):  # type: ignore[name-defined]
    """Means of embedded tokens; takes the mask by name, as models of transformers do."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(10, 4)

    def forward(self, input_ids, attention_mask=None):
        return (self.table(input_ids) * attention_mask[:, :, None]).mean()


def test_lengths_and_padding_are_read_off_the_masks_of_the_settling_steps(tmp_path):
    model = Padded()
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    with captured(tmp_path, skip=1, model=model, provenance={"inputs": "two texts"}) as session:
        for _ in range(12):
            model(torch.ones(2, 4, dtype=torch.long), attention_mask=mask).backward()
            session.step()

    (case,) = Recording.open(session.recording).manifest.cases
    # The step after the skipped one and four that settle: five batches of two, six of eight positions are tokens.
    assert case.provenance == {
        "inputs": "two texts",
        "lengths": "2 to 4 tokens, median 3 of 10 sequences",
        "padding": "25.0\N{NO-BREAK SPACE}% of the computed positions",
    }


def test_a_mask_of_who_attends_to_whom_says_nothing_of_lengths(tmp_path):
    model = Padded()
    with captured(tmp_path, skip=0, model=model) as session:
        for _ in range(8):
            model(torch.ones(2, 4, dtype=torch.long), attention_mask=torch.ones(2, 4))  # of floating point: weights
            session.step()

    assert Recording.open(session.recording).manifest.cases[0].provenance == {}
