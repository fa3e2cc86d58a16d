import copy
import pickle

import pytest

from reportgen.errors import UsageError
from reportgen.workload import Case, Step, Workload


def _run():
    return None


def test_parameters_read_as_attributes_whatever_their_value():
    case = Case("prefill", phase="prefill", batch=2, weights=None)

    assert case.batch == 2
    assert case.weights is None


def test_an_undeclared_parameter_names_the_case_and_the_closest_declared_one():
    case = Case("decode", phase="decode", batch=1, past_len=512)

    with pytest.raises(UsageError, match=r"case 'decode' declares no parameter 'past_length'.*Did you mean past_len\?"):
        _ = case.past_length


def test_asking_whether_a_parameter_is_declared_raises_nothing():
    assert not hasattr(Case("decode", phase="decode"), "batch")


def test_a_case_cannot_be_changed_by_assignment_or_through_its_parameters():
    case = Case("decode", phase="decode", batch=1)

    with pytest.raises(AttributeError):
        case.batch = 2
    with pytest.raises(TypeError):
        case.parameters["batch"] = 2


def test_changing_a_parameter_makes_a_new_case_and_keeps_the_old_one():
    case = Case("decode", phase="decode", batch=1, past_len=512)

    changed = case.with_parameters({"batch": 8})

    assert (changed.batch, changed.past_len, case.batch) == (8, 512, 1)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda case: pickle.loads(pickle.dumps(case))])
def test_a_copy_of_a_case_equals_it(duplicate):
    case = Case("decode", phase="decode", sizes=[1, 2])

    assert duplicate(case) == case


def test_an_unknown_phase_is_refused_with_the_closest_one():
    with pytest.raises(UsageError, match=r"no phase 'prefil'.*Did you mean prefill\?"):
        Case("a", phase="prefil")


def test_a_parameter_that_json_cannot_hold_is_refused():
    with pytest.raises(UsageError, match=r"case 'a': dtype=.* is no JSON value"):
        Case("a", phase="forward", dtype=object())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run": 3}, "cannot be called"),
        ({"before": 3}, "cannot be called"),
        ({"mode": "async"}, "no mode 'async'"),
        ({"tokens": 0}, "0 tokens a step"),
        ({"samples": -1}, "-1 samples a step"),
        ({"samples": "many"}, "'many' samples a step"),
        ({"tokens": float("inf")}, "inf tokens a step"),
        ({"provenance": {"weights": None}}, "no dictionary of text"),
        ({"provenance": "real"}, "no dictionary of text"),
    ],
)
def test_a_step_that_cannot_be_run_as_described_is_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        Step(**{"run": _run, "model": None, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cases": ()}, "has no case"),
        ({"cases": (Case("a", phase="train"), Case("a", phase="train"))}, "two cases named 'a'"),
        ({"cases": ("a",)}, "tuple of Case"),
        ({"build": None}, "cannot be called"),
        ({"name": ""}, "needs a name"),
        ({"description": 7}, "description=7 is no text"),
        ({"variants": 5}, "variants= takes a dictionary"),
    ],
)
def test_a_workload_that_cannot_run_is_refused(arguments, message):
    whole = {"name": "w", "description": "", "cases": (Case("a", phase="train"),), "build": _run}

    with pytest.raises(UsageError, match=message):
        Workload(**{**whole, **arguments})
