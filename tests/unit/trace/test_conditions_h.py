"""Condition H2 of docs/conditions.md: a snapshot is a pickle, read as data and never run."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from reportgen.errors import InputUnreadable
from reportgen.trace.memory_columns import Action, BlockState, StackFrame
from reportgen.trace.snapshot import read_snapshot

FRAME = {"filename": "train.py", "line": 58, "name": "hook"}
BLOCK = {"address": 0x1000, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": [FRAME]}
SEGMENT = {
    "device": 0, "address": 0x1000, "total_size": 2 << 20, "allocated_size": 512, "active_size": 512,
    "stream": 0, "segment_type": "small", "blocks": [BLOCK],
}  # fmt: skip
ENTRY = {
    "action": "alloc",
    "addr": 0x1000,
    "size": 512,
    "stream": 0,
    "time_us": 1_700_000_000_000_000,
    "frames": [FRAME],
}
SNAPSHOT: dict[str, Any] = {"segments": [SEGMENT], "device_traces": [[ENTRY]], "allocator_settings": {"roundup": 2.5}}


def _written(folder: Path, content: bytes, name: str = "memory.pickle") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _check(path: Path) -> None:
    history = read_snapshot(path)
    assert history.segments.reserved_bytes.tolist() == [2 << 20]
    assert history.blocks.bytes.tolist() == [512]
    assert history.blocks.state.tolist() == [BlockState.ACTIVE_ALLOCATED]
    assert history.events.action.tolist() == [Action.ALLOC]
    assert history.events.time_us.tolist() == [1_700_000_000_000_000]
    assert history.stacks == ((StackFrame(file="train.py", line=58, function="hook"),),)
    assert history.blocks.stack.tolist() == history.events.stack.tolist() == [0]
    assert history.notices == ()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_h2_plain_data_is_read_at_each_protocol(tmp_path: Path, protocol: int) -> None:
    _check(_written(tmp_path, pickle.dumps(SNAPSHOT, protocol=protocol)))


def test_h2_a_compressed_pickle_and_json_read_alike(tmp_path: Path) -> None:
    _check(_written(tmp_path, gzip.compress(pickle.dumps(SNAPSHOT)), "memory.pickle.gz"))
    _check(_written(tmp_path, gzip.compress(json.dumps(SNAPSHOT).encode()), "memory.json.gz"))


class _Command:
    """Runs a command when a pickle of it is loaded."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_h2_a_pickle_that_calls_a_function_is_refused_in_one_line_and_does_not_run(
    tmp_path: Path, protocol: int
) -> None:
    proof = tmp_path / "it-ran"
    malicious = pickle.dumps({**SNAPSHOT, "allocator_settings": _Command(f"touch {proof}")}, protocol=protocol)
    path = _written(tmp_path, malicious)

    with pytest.raises(InputUnreadable) as refused:
        read_snapshot(path)

    assert not proof.exists()
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


# Each names or builds something that is no plain data, by another instruction; all but the first would load.
DISGUISES = {
    "global": b"\x80\x02cbuiltins\nexec\n.",
    "stack-global": b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93.",
    "instance": b"\x80\x02(cbuiltins\nobject\no.",
    "inst": b"\x80\x02(ibuiltins\nobject\n.",
    "new-object": b"\x80\x02cbuiltins\nobject\n)\x81.",
    "extension": b"\x80\x02\x82\x01.",
    "persistent-id": b"\x80\x02K\x01Q.",
    "buffer": b"\x80\x05\x97.",
    "bytearray": b"\x80\x05\x96\x01\x00\x00\x00\x00\x00\x00\x00a.",
}


@pytest.mark.parametrize("name", DISGUISES)
def test_h2_nothing_but_plain_data_is_admitted(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputUnreadable, match="not read, since"):
        read_snapshot(_written(tmp_path, DISGUISES[name]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80",
        b"\x80\x02",
        b"\x80\x63}.",
        pickle.dumps(SNAPSHOT)[:-20],
        pickle.dumps([1, 2]),
        pickle.dumps({"segments": 3}),
        b"\x80\x02\x8b\xff\xff\xff\x7f.",  # an integer of 2 GiB that is not in the file
        b"\x80\x02}r\xff\xff\xff\x7f.",  # a memo number that makes the loader allocate 16 GiB
        b"{}",
        b'{"traceEvents": []}',
        gzip.compress(pickle.dumps(SNAPSHOT))[:-12],
    ],
)
def test_h2_what_is_no_snapshot_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputUnreadable) as refused:
        read_snapshot(_written(tmp_path, content))

    assert "\n" not in str(refused.value)


def test_h2_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="No such file"):
        read_snapshot(tmp_path / "memory.pickle")


@pytest.mark.parametrize("protocol", [2, 4])
def test_h2_a_pickle_that_ends_anywhere_is_said_to_be_cut_off(tmp_path: Path, protocol: int) -> None:
    whole = pickle.dumps([2.5, 70_000, 300, 5, (1, 2), SNAPSHOT, SNAPSHOT], protocol=protocol)
    for length in range(2, len(whole)):
        with pytest.raises(InputUnreadable, match="since it is cut off"):
            read_snapshot(_written(tmp_path, whole[:length]))


@pytest.mark.parametrize("protocol", [0, 1])
def test_h2_a_pickle_of_a_protocol_that_is_not_read_is_not_called_json(tmp_path: Path, protocol: int) -> None:
    with pytest.raises(InputUnreadable, match="neither a pickle of protocol 2 to 5 nor JSON"):
        read_snapshot(_written(tmp_path, pickle.dumps(SNAPSHOT, protocol=protocol)))
