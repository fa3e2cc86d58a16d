from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.analysis.attribution.frames import FrameIndex, FrameName, call_label, is_user_file, parse_name
from reportgen.trace.columns import Trace
from tests.trace_builder import frame


def test_a_name_holds_file_line_of_the_def_and_function() -> None:
    assert parse_name("planted.py(57): hook") == FrameName(file="planted.py", line=57, function="hook")
    assert parse_name(r"C:\work (old)\run.py(3): f(x)") == FrameName(
        file=r"C:\work (old)\run.py", line=3, function="f(x)"
    )
    assert parse_name("nn.Module: Linear_3") is None
    assert parse_name("<built-in function len>") is None


@pytest.mark.parametrize(
    "file",
    [
        "planted.py",
        "workloads/gpt2.py",
        "/home/u1/train.py",
        "mymodel/layers.py",
        "/opt/team/torch_utils.py",
        "<stdin>",
    ],
)
def test_code_outside_installed_packages_is_the_users(file: str) -> None:
    assert is_user_file(file)


@pytest.mark.parametrize(
    "file",
    [
        "torch/nn/modules/linear.py", "transformers/models/gpt2/modeling_gpt2.py", "contextlib.py", "<frozen os>",
        "<string>", "/usr/lib/python3.11/threading.py", "/venv/lib/python3.11/site-packages/mylib/core.py",
        r"C:\Python\Lib\site-packages\torch\nn\functional.py", "reportgen/runner/passes.py",
    ],
)  # fmt: skip
def test_libraries_are_not_the_users(file: str) -> None:
    assert not is_user_file(file)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("<built-in method item of Tensor object at 0x7f00>", "Tensor.item"),
        ("<built-in method layer_norm of type object at 0x7f00>", "layer_norm"),
        ("<built-in function linear>", "linear"),
        ("torch/nn/functional.py(2914): layer_norm", "torch/nn/functional.py: layer_norm"),
    ],
)
def test_what_was_called_is_named_as_a_reader_knows_it(name: str, label: str) -> None:
    assert call_label(name) == label


def test_each_frame_knows_the_users_function_and_what_it_called(read: Callable[..., Trace]) -> None:
    index = FrameIndex(
        read(
            frame("threading.py(1): run", 0, 100),
            frame("train.py(3): main", 1, 98),
            frame("nn.Module: Net_0", 2, 90),
            frame("transformers/models/net.py(5): forward", 3, 80),
            frame("nn.Module: Linear_4", 4, 70),
            frame("<built-in function linear>", 5, 60),
            frame("<built-in method item of Tensor object at 0x1>", 95, 1),
        )
    )

    assert index.user.tolist() == [-1, 1, 1, 1, 1, 1, 1]
    sources = [index.source(row) for row in range(7)]
    assert sources[0] is None
    assert all(source.function == "main" and source.line_kind == "def" for source in sources[1:] if source)
    assert [source.beneath for source in sources[1:] if source] == [
        None,
        "nn.Module: Net_0",
        "transformers/models/net.py: forward",
        "transformers/models/net.py: forward",
        "transformers/models/net.py: forward",
        "Tensor.item",
    ]
    modules = index.module_name().tolist()
    assert [index.module_label(code) if code >= 0 else None for code in modules] == [
        None, None, "Net_0", "Net_0", "Linear_4", "Linear_4", None,
    ]  # fmt: skip
