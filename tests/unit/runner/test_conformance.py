"""A workload that breaks its promises is told so, promise by promise."""

import textwrap

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

from reportgen.runner.conformance import check_workload, main  # noqa: E402 - it imports torch

HEAD = """
import torch
from reportgen import Case, Step, Workload

def build(case, device):
    model = torch.nn.Linear(case.width, case.width)
"""
TAIL = """
WORKLOAD = Workload(name="w", description="one layer", cases=(Case("c", phase="{phase}", width=4),), build=build)
"""


def written(folder, body, phase="forward"):
    path = folder / "workload.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    ") + TAIL.format(phase=phase))
    return path


def test_a_good_workload_has_no_problem(tmp_path, capsys):
    path = written(
        tmp_path,
        """
        def run():
            with torch.inference_mode():
                return model(torch.ones(2, case.width))
        return Step(run, model=model, samples=2, provenance={"weights": "random", "inputs": "ones"})
        """,
    )

    assert check_workload(path, ["width=8", "seq_len=3"]) == ()
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == "workload.py: nothing wrong\n"


def test_what_is_missing_is_named(tmp_path):
    path = written(tmp_path, "return Step(lambda: model(torch.ones(2, case.width)), model=model)")
    problems = "\n".join(check_workload(path))

    assert "tokens= or samples=" in problems
    assert "weights and the inputs" in problems
    assert "torch.inference_mode()" in problems


def test_a_training_step_must_train(tmp_path):
    path = written(
        tmp_path,
        """
        provenance = {"weights": "random", "inputs": "ones"}
        return Step(lambda: None, model=model, samples=2, provenance=provenance)
        """,
        phase="train",
    )
    problems = "\n".join(check_workload(path))

    assert "optimizer=" in problems
    assert "changed no parameter" in problems


def test_a_lap_must_go_back(tmp_path):
    path = written(
        tmp_path,
        """
        rows = [1]
        def run():
            rows.append(1)
            with torch.inference_mode():
                return model(torch.ones(len(rows), case.width))
        provenance = {"weights": "random", "inputs": "ones"}
        return Step(run, model=model, before=lambda index: None, samples=2, provenance=provenance)
        """,
    )

    assert "before(0) does not go back" in "\n".join(check_workload(path))


def test_each_case_and_variant_that_raises_is_named_with_its_place(tmp_path, capsys):
    path = tmp_path / "buggy.py"
    path.write_text(
        """import torch
from reportgen import Case, Step, Workload


def build(case, device):
    if case.name == "two":
        return modle
    layer = torch.nn.Linear(1, 1)
    run = torch.inference_mode()(lambda: layer(torch.ones(1, 1)))
    return Step(run, model=layer, samples=1, provenance={"weights": "random", "inputs": "ones"})


def fast(case, device):
    return modle


WORKLOAD = Workload(
    name="buggy", description="two bugs", build=build, variants={"fast": fast},
    cases=(Case("one", phase="forward"), Case("two", phase="forward")),
)
"""
    )

    assert main([str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "case one: variant fast: NameError: name 'modle' is not defined (buggy.py:14)",
        "case two: NameError: name 'modle' is not defined (buggy.py:7)",
    ]


def test_a_module_that_cannot_be_loaded_is_one_line(tmp_path, capsys):
    path = written(tmp_path, "return None")
    path.write_text(path.read_text() + "\nraise KeyError('at the end')\n")

    assert main([str(path)]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line == f"KeyError: 'at the end' (workload.py:{len(path.read_text().splitlines())})"


def test_a_workload_that_is_not_there_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "none.py")]) == 1
    assert capsys.readouterr().out.splitlines() == [f"no workload {tmp_path / 'none.py'}: No such file or directory"]
