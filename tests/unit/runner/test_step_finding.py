"""What counts as a step of an unknown script."""

import types
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from reportgen.errors import UsageError  # noqa: E402 - after the check for torch
from reportgen.recording import Recording  # noqa: E402
from reportgen.runner.exec_script import ScriptRequest, run_script  # noqa: E402
from reportgen.runner.step_finding import FORWARDS_WITHOUT_UPDATE, ScriptSteps, instrumented  # noqa: E402

SCRIPT = Path(__file__).resolve().parents[2] / "integration" / "scripts" / "unchanged.py"


@pytest.fixture
def request_(tmp_path):
    return ScriptRequest(script=str(SCRIPT), output=str(tmp_path), device="cpu", tell=str(tmp_path / "told"))


def _network():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))


def _counted(request):
    """Return the case that was recorded, and how many steps of the script it says there were."""
    (case,) = Recording.open(Path(Path(request.tell).read_text())).manifest.cases
    return case.phase, int(case.reason.split(" steps")[0].rpartition(" ")[2])


def test_updates_of_the_first_optimizer_count_whatever_else_is_called(request_):
    model, other = _network(), _network()
    first, second = torch.optim.SGD(model.parameters()), torch.optim.SGD(other.parameters())
    with ScriptSteps(request_):
        for _ in range(5):
            model(torch.ones(1, 4)).sum().backward()
            model(torch.ones(1, 4)).sum().backward()
            first.step()
            other(torch.ones(1, 4)).sum().backward()
            second.step()

    assert _counted(request_) == ("train", 5)


def test_without_an_update_calls_of_the_whole_model_count_once_each(request_):
    model = _network()
    with ScriptSteps(request_), torch.inference_mode():
        for _ in range(FORWARDS_WITHOUT_UPDATE + 4):
            model(torch.ones(1, 4))

    assert _counted(request_) == ("forward", FORWARDS_WITHOUT_UPDATE + 4)


def test_a_script_whose_model_is_called_a_few_times_is_not_captured(request_):
    with ScriptSteps(request_), torch.inference_mode():
        _network()(torch.ones(1, 4))

    assert not Path(request_.tell).exists()


def test_a_function_by_name_is_followed_and_the_lines_stay(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "class Job:\n    def step(self):\n        return 7\n\n\nresult = [Job().step() for _ in range(3)]\n"
    )
    calls, names = [], {}

    exec(instrumented(script, "Job.step", lambda: calls.append(1), names), names)

    assert (names["result"], len(calls)) == ([7, 7, 7], 3)
    assert names["Job"].step.__wrapped__.__code__.co_firstlineno <= 2


def test_a_function_of_a_module_is_followed(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "made_up", types.SimpleNamespace(work=lambda: 1))
    script = tmp_path / "script.py"
    script.write_text("from made_up import work\nwork()\n")
    calls = []

    exec(instrumented(script, "made_up.work", lambda: calls.append(1), {}), {})

    assert calls == [1]


def test_an_unknown_function_is_refused():
    with pytest.raises(UsageError, match="--step-of no_such_function: no function"):
        instrumented(SCRIPT, "no_such_function", lambda: None, {})


def test_a_script_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="no script nowhere"):
        run_script(ScriptRequest(script="nowhere.py"))
