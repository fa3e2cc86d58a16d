import pytest

from reportgen.errors import UsageError
from reportgen.workload import Case, select_cases
from reportgen.workload.selection import parse_value

CASES = (
    Case("prefill", phase="prefill", batch=1, seq_len=512, weights=None),
    Case("decode", phase="decode", batch=1, past_len=512, weights=None),
)


def _values(cases, key):
    return [case.parameters.get(key) for case in cases]


def test_without_options_every_case_is_run_as_declared():
    assert select_cases(CASES) == CASES


def test_named_cases_are_run_in_the_order_of_the_workload():
    assert [case.name for case in select_cases(CASES, names=["decode", "prefill"])] == ["prefill", "decode"]


def test_a_setting_without_a_case_goes_to_every_case_that_declares_it():
    assert _values(select_cases(CASES, settings=["batch=8", "seq_len=64"]), "batch") == [8, 8]
    assert _values(select_cases(CASES, settings=["seq_len=64"]), "seq_len") == [64, None]


def test_a_setting_with_a_case_goes_to_it_alone():
    assert _values(select_cases(CASES, settings=["decode.batch=8"]), "batch") == [1, 8]


def test_a_setting_for_a_case_that_is_not_chosen_changes_nothing():
    (case,) = select_cases(CASES, names=["prefill"], settings=["past_len=8", "decode.batch=8", "batch=2"])

    assert (case.name, case.batch) == ("prefill", 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ("[1,2]", [1, 2]),
        ("gpt2", "gpt2"),
        ("a.b/c=d", "a.b/c=d"),
    ],
)
def test_a_value_is_json_where_it_is_json_and_text_otherwise(text, value):
    assert parse_value(text) == value
    assert _values(select_cases(CASES, settings=[f"prefill.weights={text}"]), "weights")[0] == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["decod"]}, r"no such case; there are prefill, decode. Did you mean decode\?"),
        ({"settings": ["batc=8"]}, r"no case declares 'batc'.*Did you mean batch\?"),
        ({"settings": ["decode.seq_len=8"]}, "case 'decode' does not declare 'seq_len'"),
        ({"settings": ["dekode.batch=8"]}, r"no case 'dekode'.*Did you mean decode\?"),
        ({"settings": ["batch"]}, "write --set KEY=VALUE"),
        ({"settings": ["=8"]}, "write --set KEY=VALUE"),
        ({"names": ["prefill"], "sweeps": ["past_len=8"]}, "no case declares 'past_len'"),
        ({"sweeps": ["batch="]}, "write --sweep KEY=V1,V2"),
        ({"sweeps": ["bach=1,2"]}, r"Did you mean batch\?"),
    ],
)
def test_what_no_chosen_case_has_is_a_wrong_usage(options, message):
    with pytest.raises(UsageError, match=message):
        select_cases(CASES, **options)


def test_a_sweep_makes_a_case_of_each_value_and_leaves_other_cases_alone():
    cases = select_cases(CASES, sweeps=["seq_len=64,128"])

    assert [case.name for case in cases] == ["prefill[seq_len=64]", "prefill[seq_len=128]", "decode"]
    assert _values(cases, "seq_len") == [64, 128, None]


def test_sweeps_multiply():
    cases = select_cases(CASES, names=["prefill"], sweeps=["batch=1,8", "weights=a,b"])

    assert [(case.batch, case.weights) for case in cases] == [(1, "a"), (1, "b"), (8, "a"), (8, "b")]


def test_a_swept_list_is_one_value():
    cases = select_cases(CASES, names=["prefill"], sweeps=["weights=[1,2],[3]"])

    assert _values(cases, "weights") == [[1, 2], [3]]
