"""What a command line means, and what is said of one that means nothing."""

import pytest

from reportgen.arguments import with_command
from reportgen.cli import COMMANDS, main
from reportgen.errors import UsageError


def _with_command(*words):
    return with_command(words, COMMANDS, lambda: ["gpt2", "resnet"])


@pytest.mark.parametrize(
    "words", [("workloads/gpt2.py",), ("gpt2.py", "--quiet"), ("gpt2",), ("--device", "cpu", "gpt2"), ("./x/y",)]
)
def test_run_is_put_before_what_can_only_be_a_workload(words):
    assert _with_command(*words) == ["run", *words]


@pytest.mark.parametrize("words", [("analyze", "x.json"), ("list",), ("--help",), ("--version",)])
def test_a_command_stays_as_it_is(words):
    assert _with_command(*words) == list(words)


@pytest.mark.parametrize(
    ("word", "meant"), [("anlyze", "analyze"), ("gpt3", "gpt2"), ("trace.json.gz", "reportgen analyze trace.json.gz")]
)
def test_a_word_that_is_nothing_is_answered_with_what_may_be_meant(word, meant):
    with pytest.raises(UsageError, match=f"Did you mean {meant}"):
        _with_command(word)


def test_a_word_that_is_close_to_nothing_is_answered_with_where_to_look():
    with pytest.raises(UsageError, match="--help lists the commands"):
        _with_command("zzz")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a workload or a command"),
        (("anlyze",), "Did you mean analyze?"),
        (("analyze", "x.json", "--format", "hmtl"), "no format 'hmtl'; there are html, pdf, json. Did you mean html?"),
        (("analyze", "x.json", "--threshold", "host-bound=1"), "write RULE.NAME=VALUE with a number"),
        (("analyze", "x.json", "--threshold", "no-rule.ratio=1"), "no threshold is called 'no-rule.ratio'"),
        (("run", "nothing.py"), "there is no such file"),
        (("run", "gpt2", "--timeout", "0"), "is no number of seconds above 0"),
        (
            ("render", "x", "--frmat", "pdf"),
            "unrecognized arguments: --frmat pdf. Did you mean --format? reportgen render --help says more",
        ),
        (("gpt2", "--quiet", "--divice=cpu"), "unrecognized arguments: --divice=cpu. Did you mean --device?"),
        (("exec", "--step-off", "step", "script.py", "--frmat"), "Did you mean --step-of?"),
        (("--vresion",), "the following arguments are required: WORKLOAD. Did you mean --version?"),
        (("render", "x", "--zzz"), "unrecognized arguments: --zzz; reportgen render --help says more"),
        (("list", "x"), "unrecognized arguments: x; reportgen list --help says more"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(words, said, capsys):
    assert main(words) == 2

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert said in lines[0]


def test_a_word_and_its_options_may_be_repeated():
    from reportgen.arguments import make_parser

    words = ["run", "gpt2", "--case", "a", "--case", "b", "--set", "x=1", "--format", "json,html,json"]
    parsed = make_parser(COMMANDS).parse_args(words)

    assert (parsed.cases, parsed.settings, parsed.formats) == (["a", "b"], ["x=1"], ("json", "html"))


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    assert set(COMMANDS) <= set(capsys.readouterr().out.split())
