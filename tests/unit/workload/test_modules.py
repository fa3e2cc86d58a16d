import textwrap

import pytest

from reportgen.errors import UsageError
from reportgen.workload import find_workload, list_workloads, load_workload, read_outline

LITERAL = """
    import a_module_that_does_not_exist
    from reportgen import Case, Workload

    def build(case, device):
        raise RuntimeError

    WORKLOAD = Workload(
        name="literal",
        description="A workload "
        "in two pieces",
        cases=(
            Case("prefill", phase="prefill", batch=1, weights=None, sizes=[1, 2]),
            Case(name="decode", phase="decode", batch=1),
        ),
        build=build,
    )
"""
COMPUTED = """
    from reportgen import Case, Workload

    BATCHES = (1, 8)
    WORKLOAD = Workload(
        name="computed",
        description="One case a batch size",
        cases=tuple(Case(f"batch-{batch}", phase="forward", batch=batch) for batch in BATCHES),
        build=lambda case, device: None,
    )
"""


@pytest.fixture
def module(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


def test_an_outline_is_read_without_importing_the_module(module):
    outline = read_outline(module("literal.py", LITERAL))

    assert (outline.name, outline.description) == ("literal", "A workload in two pieces")
    assert [(case.name, case.phase) for case in outline.cases] == [("prefill", "prefill"), ("decode", "decode")]
    assert dict(outline.cases[0].parameters) == {"batch": 1, "weights": None, "sizes": [1, 2]}


def test_the_list_has_what_can_be_read_and_says_of_the_rest_why_not(module, tmp_path):
    module("literal.py", LITERAL)
    module("computed.py", COMPUTED)
    module("broken.py", "WORKLOAD = (")
    module("helper.py", "VALUE = 1")
    module("_private.py", LITERAL)

    listed = {outline.name: outline for outline in list_workloads([tmp_path])}

    assert list(listed) == ["broken", "computed", "literal"]
    assert len(listed["literal"].cases) == 2
    assert "known only when it runs" in listed["computed"].description
    assert "broken.py:1 is no valid Python" in listed["broken"].description


def test_a_computed_workload_has_an_outline_only_when_it_is_loaded(module):
    path = module("computed.py", COMPUTED)

    with pytest.raises(UsageError, match=r"computed\.py: WORKLOAD's cases are not written out"):
        read_outline(path)
    assert [case.name for case in load_workload(path).cases] == ["batch-1", "batch-8"]


def test_a_module_finds_what_lies_beside_it(module):
    module("beside_the_workload.py", "SIZES = (4,)")
    path = module("uses.py", COMPUTED.replace("BATCHES = (1, 8)", "from beside_the_workload import SIZES as BATCHES"))

    assert load_workload(path).cases[0].batch == 4


@pytest.mark.parametrize("text", ["X = 1", "def f():\n    WORKLOAD = Workload()"])
def test_a_module_without_a_workload_is_a_wrong_usage(module, text):
    with pytest.raises(UsageError, match="has no WORKLOAD; a workload module defines"):
        read_outline(module("empty.py", text))


def test_a_module_nested_deeper_than_the_parser_follows_is_a_wrong_usage(module):
    with pytest.raises(UsageError, match="is nested too deep to be read"):
        read_outline(module("deep.py", "WORKLOAD = " + "-" * 100_000 + "1"))


def test_a_module_whose_workload_is_something_else_is_a_wrong_usage(module):
    with pytest.raises(UsageError, match="has no WORKLOAD"):
        load_workload(module("other.py", "WORKLOAD = 3"))


def test_a_workload_is_found_by_its_path_its_name_and_its_file(module, tmp_path):
    path = module("file_name.py", LITERAL)

    assert find_workload(str(path), []) == path
    assert find_workload("literal", [tmp_path]) == path
    assert find_workload("file_name", [tmp_path]) == path


def test_a_word_that_is_no_workload_gets_the_closest_name(module, tmp_path):
    module("file_name.py", LITERAL)

    with pytest.raises(UsageError, match=r"no workload 'litteral'; there are literal. Did you mean literal\?"):
        find_workload("litteral", [tmp_path])


def test_a_path_that_is_not_there_is_a_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        find_workload(str(tmp_path / "absent.py"), [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "5"}, "needs a name, not 5"),
        ({"description": "7"}, "description=7 is no text"),
        ({"build": "5"}, "cannot call build=5"),
        ({"build": None}, "lacks build="),
        ({"colour": "5"}, "has no colour="),
        ({"cases": "(Case('a', 'train'),)"}, "takes all but the name by keyword"),
    ],
)
def test_a_workload_written_wrongly_is_a_wrong_usage_before_anything_runs(module, given, message):
    whole = {"name": "'w'", "description": "''", "cases": "(Case('a', phase='train'),)", "build": "build", **given}
    written = ", ".join(f"{key}={value}" for key, value in whole.items() if value is not None)

    with pytest.raises(UsageError, match=message) as raised:
        read_outline(module("wrong.py", f"WORKLOAD = Workload({written})"))
    assert type(raised.value) is UsageError
