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


def test_a_workload_that_raises_is_one_line_with_its_place(tmp_path, capsys):
    path = tmp_path / "buggy.py"
    path.write_text(
        "from reportgen import Case, Workload\n\n\ndef build(case, device):\n    return modle\n\n\n"
        'WORKLOAD = Workload(name="buggy", description="one bug", cases=(Case("one", phase="forward"),), build=build)\n'
    )

    assert main([str(path)]) == 1
    assert capsys.readouterr().out == "NameError: name 'modle' is not defined (buggy.py:5)\n"
