from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from reportgen.errors import InputUnreadable
from reportgen.trace.columns import ActivityKind, CopyDirection, Signature
from reportgen.trace.reader import read_trace
from tests.trace_builder import activity, base, frame, kernel, launch, memory, op, step, write_trace


def test_a_small_trace_becomes_tables(tmp_path: Path) -> None:
    trace = read_trace(
        write_trace(
            tmp_path,
            base(
                step(4, 0, 100),
                frame("train.py(3): main", 1, 90),
                op("aten::mm", 2, 10, **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}),
                memory(3, 512, total=512),
                launch(4, 2, c=1),
                kernel(8, 5, c=1, grid=[1, 2, 3], block=[32, 1, 1]),
            ),
        )
    )

    assert trace.origin_text == "1000000.000"
    assert [trace.names[code] for code in trace.operators.name] == ["aten::mm"]
    assert trace.operators.start_ns.tolist() == [2000]
    assert trace.operators.end_ns.tolist() == [12_000]
    assert trace.signatures[trace.operators.signature[0]] == Signature(
        shapes=((2, 3), (3, 4)), types=("float", "float"), strides=None, concrete=None
    )
    assert trace.activities.stream.tolist() == [7]
    assert trace.activities.correlation.tolist() == [1]
    assert trace.dimensions[trace.activities.dimensions[0]] == ((1, 2, 3), (32, 1, 1))
    assert trace.memory.bytes.tolist() == [512]
    assert trace.memory.device_type.tolist() == [1]
    assert trace.steps.number.tolist() == [4]
    assert (trace.info.with_stack, trace.info.record_shapes, trace.info.profile_memory) == (True, True, True)


def test_a_list_of_tensors_becomes_as_many_inputs(tmp_path: Path) -> None:
    inputs = {
        "Input Dims": [[[4, 1], [4, 2]], []],
        "Input type": ["TensorList", "Scalar"],
        "Input Strides": [[[1, 1], [2, 1]], []],
        "Concrete Inputs": ["", "1"],
    }
    trace = read_trace(write_trace(tmp_path, base(op("aten::cat", 0, 1, **inputs))))

    assert trace.signatures == (
        Signature(
            shapes=((4, 1), (4, 2), ()),
            types=("TensorList", "TensorList", "Scalar"),
            strides=((1, 1), (2, 1), ()),
            concrete=("", "", "1"),
        ),
    )


def test_threads_are_numbered_as_the_file_has_them_whatever_the_hash_of_their_names(tmp_path: Path) -> None:
    names = [f"{number} (python)" for number in (8, 3, 6, 1, 7, 2, 5, 4)]
    trace = read_trace(write_trace(tmp_path, base(*(op("aten::mm", ts, 1, tid=name) for ts, name in enumerate(names)))))

    assert [thread.thread for thread in trace.threads] == names


def test_tables_are_sorted_by_start_and_parents_precede(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path, base(op("late", 5, 1), op("child", 0, 1), op("parent", 0, 4))))

    assert [trace.names[code] for code in trace.operators.name] == ["parent", "child", "late"]


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("Memcpy HtoD (Pageable -> Device)", CopyDirection.HOST_TO_DEVICE_PAGEABLE),
        ("Memcpy HtoD (Pinned -> Device)", CopyDirection.HOST_TO_DEVICE_PINNED),
        ("Memcpy DtoH (Device -> Pageable)", CopyDirection.DEVICE_TO_HOST_PAGEABLE),
        ("Memcpy DtoH (Device -> Host)", CopyDirection.DEVICE_TO_HOST),
        ("Memcpy DtoD (Device -> Device)", CopyDirection.DEVICE_TO_DEVICE),
        ("Memcpy PtoP (Device -> Device)", CopyDirection.PEER_TO_PEER),
        ("copy", CopyDirection.OTHER),
    ],
)
def test_copies_know_their_direction(tmp_path: Path, name: str, direction: CopyDirection) -> None:
    copy = activity("gpu_memcpy", name, 0, 4, c=1, bytes=4096)
    trace = read_trace(write_trace(tmp_path, base(copy)))

    assert trace.activities.kind.tolist() == [ActivityKind.COPY]
    assert trace.activities.copy_direction.tolist() == [direction]
    assert trace.activities.bytes.tolist() == [4096]


def test_gzip_reads_like_the_plain_file(tmp_path: Path) -> None:
    events = base(step(1, 0, 10), op("a", 1, 2), launch(2, 1, c=1), kernel(4, 3, c=1))
    plain = read_trace(write_trace(tmp_path, events))
    packed = read_trace(write_trace(tmp_path, events, "trace.json.gz"))

    assert packed.names == plain.names
    for column in ("start_ns", "end_ns", "correlation", "call", "operator", "step"):
        np.testing.assert_array_equal(getattr(packed.activities, column), getattr(plain.activities, column))


def test_gzip_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    packed = tmp_path / "trace.json"
    packed.write_bytes(gzip.compress(write_trace(tmp_path, base(op("a", 0, 1)), "plain.json").read_bytes()))
    plain = tmp_path / "trace.json.gz"
    plain.write_bytes((tmp_path / "plain.json").read_bytes())

    assert read_trace(packed).names == read_trace(plain).names == ("a",)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    picture = tmp_path / "trace.json"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")

    with pytest.raises(InputUnreadable, match=r"trace\.json"):
        read_trace(picture)
