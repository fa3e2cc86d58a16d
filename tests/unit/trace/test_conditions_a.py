"""Conditions A1 to A6 of docs/conditions.md: files that do not parse."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from reportgen.errors import InputUnreadable
from reportgen.trace.columns import Trace, TraceNotice
from reportgen.trace.reader import read_trace
from tests.trace_builder import activity, base, frame, kernel, op, write_trace

PLACEHOLDER = "PLACEHOLDER"


def read_raw(tmp_path: Path, name: bytes, *, of: str = "frame") -> Trace:
    """Read three events, the middle one's name written as the raw bytes `name`."""
    make = frame if of == "frame" else op
    text = json.dumps(base(op("first", 0, 10), make(PLACEHOLDER, 1, 2), op("last", 20, 10))).encode()
    return read_trace(write_trace(tmp_path, text.replace(PLACEHOLDER.encode(), name)))


def frame_names(trace: Trace) -> list[str]:
    return [trace.names[code] for code in trace.frames.name]


def operator_names(trace: Trace) -> list[str]:
    return [trace.names[code] for code in trace.operators.name]


def notice(trace: Trace, code: str) -> TraceNotice:
    (found,) = (notice for notice in trace.notices if notice.code == code)
    return found


def codes(trace: Trace) -> set[str]:
    return {notice.code for notice in trace.notices}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (rb"torch\cuda\__init__.py(219): _lazy_init", r"torch\cuda\__init__.py(219): _lazy_init"),
        (rb"C:\new\torch\utils.py(3): f", r"C:\new\torch\utils.py(3): f"),
        (rb"C:\new\torch\nn.py(3): f", r"C:\new\torch\nn.py(3): f"),  # every escape in it is one that JSON knows
        (rb"\\server\new\q.py(3): f", r"\server\new\q.py(3): f"),  # the first two are JSON's own
        (rb"C:\work\ ".strip(), "C:\\work\\"),
    ],
)
def test_a1_single_backslashes_stay_legible_and_are_counted(tmp_path: Path, raw: bytes, name: str) -> None:
    trace = read_raw(tmp_path, raw)

    assert frame_names(trace) == [name]
    assert operator_names(trace) == ["first", "last"]
    assert notice(trace, "escapes-repaired").count == 1


def test_a1_backslashes_of_a_good_file_are_not_touched(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path, base(frame("C:\\new\\torch.py(3): f", 0, 1), frame('say "a\\b"', 2, 1))))

    assert frame_names(trace) == ["C:\\new\\torch.py(3): f", 'say "a\\b"']
    assert "escapes-repaired" not in codes(trace)


def test_a1_a_path_outside_the_events_is_repaired_too(tmp_path: Path) -> None:
    text = json.dumps(base(op("a", 0, 1), distributedInfo={"rank": 3}))[:-1].encode() + rb', "traceName": "C:\tmp\q"}'
    trace = read_trace(write_trace(tmp_path, text))

    assert trace.info.rank == 3
    assert notice(trace, "escapes-repaired").count == 1


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b'{"device": "cpu"}(12): run', '{"device": "cpu"}(12): run'),
        (b'lib = L("a")\n(1): <module>', 'lib = L("a")\n(1): <module>'),
        (b'f("}, {")(1): <module>', 'f("}, {")(1): <module>'),
    ],
)
def test_a2_quotes_and_line_breaks_inside_a_name_cost_no_event(tmp_path: Path, raw: bytes, name: str) -> None:
    trace = read_raw(tmp_path, raw, of="op")

    assert operator_names(trace) == ["first", name, "last"]
    assert notice(trace, "names-repaired").count == 1


def test_a2_an_event_that_cannot_be_repaired_is_the_only_one_lost(tmp_path: Path) -> None:
    text = json.dumps(base(op("first", 0, 10), op(PLACEHOLDER, 1, 2), op("last", 20, 10))).encode()
    trace = read_trace(write_trace(tmp_path, text.replace(b'"PLACEHOLDER", "ts": 1000001', b'"x" = ]')))

    assert operator_names(trace) == ["first", "last"]
    lost = notice(trace, "events-lost")
    assert lost.count == 1
    assert lost.share == pytest.approx(1 / 3)
    assert lost.affects_conclusions


def test_a3_raw_control_characters_are_accepted_and_said(tmp_path: Path) -> None:
    trace = read_raw(tmp_path, b"a\x01b\tc", of="op")

    assert operator_names(trace) == ["first", "a\x01b\tc", "last"]
    assert notice(trace, "control-characters").count == 1


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "NaN", "-nan", "-nan(ind)", "Infinity", "N/A", '"N/A"'])
def test_a4_what_is_no_number_is_missing(tmp_path: Path, number: str) -> None:
    copy = activity("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 5, 0, c=1, bytes=64, bandwidth=PLACEHOLDER)
    text = json.dumps(base(copy, kernel(10, 4, c=2))).replace(f'"{PLACEHOLDER}"', number)
    trace = read_trace(write_trace(tmp_path, text.encode()))

    assert (trace.activities.end_ns - trace.activities.start_ns).tolist() == [0, 4000]
    assert trace.activities.bytes.tolist() == [64, -1]
    assert ("numbers-missing" in codes(trace)) == (number != '"N/A"')


@pytest.mark.parametrize("duration", ["inf", "NaN", '"N/A"', "1e999"])
def test_a4_a_duration_that_is_no_number_reaches_no_sum(tmp_path: Path, duration: str) -> None:
    text = json.dumps(base(kernel(5, 7, c=1), kernel(20, 77.5, c=2))).replace("77.5", duration)
    trace = read_trace(write_trace(tmp_path, text.encode()))

    assert (trace.activities.end_ns - trace.activities.start_ns).tolist() == [7000, 0]


def test_a5_the_exporter_of_2020(tmp_path: Path) -> None:
    event = b'{"name":"add","ph":"X","ts":101.524,"dur":134.49,"tid":1,"pid":"CPU functions","args":{}}'
    trace = read_trace(write_trace(tmp_path, b"[" + event + b"]"))

    assert operator_names(trace) == ["add"]
    assert trace.origin_text == "101.524"
    assert trace.operators.end_ns.tolist() == [134_490]
    assert trace.info.layout == "list"
    assert notice(trace, "format-bare-list").affects_conclusions is False


def test_a5_a_key_without_its_first_quote_is_restored(tmp_path: Path) -> None:
    event = b'{"name":"add","ph":"X","ts":101.5,"dur":134.5,tid": 0,"pid":"CPU functions","args":{}}'
    trace = read_trace(write_trace(tmp_path, b"[" + event + b"," + event.replace(b"add", b"mul") + b"]"))

    assert operator_names(trace) == ["add", "mul"]
    assert trace.threads[0].thread == "0"
    assert notice(trace, "quotes-restored").count == 2


THREE = base(op("a", 0, 10), op("b", 20, 10), op("c", 40, 10))


def test_a6_a_file_cut_inside_an_event_keeps_the_complete_ones(tmp_path: Path) -> None:
    text = json.dumps(THREE).encode()
    trace = read_trace(write_trace(tmp_path, text[: text.index(b'"c"') + 20]))

    assert operator_names(trace) == ["a", "b"]
    cut = notice(trace, "file-cut-off")
    assert (cut.count, cut.affects_conclusions) == (2, True)
    assert "after 2 events, 30.0 µs" in cut.text.replace("\u00a0", " ").replace("\u202f", " ")


def test_a6_every_cut_of_a_file_reads_or_is_refused(tmp_path: Path) -> None:
    text = json.dumps(THREE).encode()
    first_end = text.index(b"}", text.index(b"}") + 1) + 1
    for length in range(len(text)):
        path = write_trace(tmp_path, text[:length])
        if length < first_end:
            try:
                assert operator_names(read_trace(path)) == []
            except InputUnreadable:
                continue
        else:
            trace = read_trace(path)
            assert operator_names(trace) == ["a", "b", "c"][: text[:length].count(b"}}")]
            is_closed = b"]" in text[text.index(b'"c"') : length]
            assert ("file-cut-off" in codes(trace)) != is_closed


def test_a6_a_gz_cut_at_60_percent_keeps_what_it_holds(tmp_path: Path) -> None:
    names = [f"op{index * 7919 % 10007}" for index in range(2000)]
    packed = gzip.compress(json.dumps(base(*(op(name, 10 * i, 5) for i, name in enumerate(names)))).encode())
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed[: len(packed) * 6 // 10])
    trace = read_trace(path)

    count = len(trace.operators.name)
    assert 800 < count < 1800
    assert operator_names(trace) == names[:count]
    assert notice(trace, "file-cut-off").count == count


def test_a6_damaged_compressed_data_keeps_what_comes_before(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(json.dumps(base(*(op(f"op{i}", 10 * i, 5) for i in range(20_000)))).encode()))
    middle = len(packed) * 9 // 10
    packed[middle : middle + 64] = bytes(64)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(bytes(packed))
    trace = read_trace(path)

    assert operator_names(trace)[:100] == [f"op{i}" for i in range(100)]
    assert codes(trace) & {"file-damaged", "file-cut-off", "events-lost"}


@pytest.mark.parametrize("tail", [b"\0\0\0\0\0\0\0\0", b"good length"])
def test_a6_a_checksum_that_does_not_fit_costs_no_event_and_is_said(tmp_path: Path, tail: bytes) -> None:
    packed = gzip.compress(json.dumps(THREE).encode())
    tail = bytes(4) + packed[-4:] if tail == b"good length" else tail
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed[:-8] + tail)
    trace = read_trace(path)

    assert operator_names(trace) == ["a", "b", "c"]
    assert "does not fit its checksum" in notice(trace, "file-damaged").text


def test_a6_a_small_damaged_file_keeps_what_comes_before(tmp_path: Path) -> None:
    names = [f"op{index * 7919 % 10007}" for index in range(500)]
    packed = bytearray(gzip.compress(json.dumps(base(*(op(name, 10 * i, 5) for i, name in enumerate(names)))).encode()))
    packed[-12:] = bytes((0xFF,)) * 12
    path = tmp_path / "trace.json.gz"
    path.write_bytes(bytes(packed))
    trace = read_trace(path)

    count = len(trace.operators.name)
    assert count > 480
    assert operator_names(trace)[:480] == names[:480]
    assert codes(trace) & {"file-damaged", "file-cut-off"}


def test_a6_damage_in_a_second_member_repeats_nothing_of_the_first(tmp_path: Path) -> None:
    text = json.dumps(base(*(op(f"op{i}", 10 * i, 5) for i in range(4000)))).encode()
    second = gzip.compress(text[len(text) // 2 :])
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(text[: len(text) // 2]) + second[:-8] + bytes(8))
    trace = read_trace(path)

    assert operator_names(trace) == [f"op{i}" for i in range(4000)]
    assert "file-damaged" in codes(trace)


def test_a6_a_list_that_lacks_its_last_bracket_is_whole(tmp_path: Path) -> None:
    text = json.dumps(THREE["traceEvents"]).encode()
    for ending in (b"", b",", b",\n"):
        trace = read_trace(write_trace(tmp_path, text[:-1] + ending))
        assert operator_names(trace) == ["a", "b", "c"]
        assert "file-cut-off" not in codes(trace)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a6_what_yields_nothing_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    picture = b"\x89PNG\r\n\x1a\n\x00\x00"
    whole = json.dumps(THREE).encode()
    for content in (
        b"", picture, b"{", b"[", b"[]", b"null", b"\x1f\x8b", gzip.compress(whole)[:12], gzip.compress(picture),
        whole[: whole.index(b'"a"')], b'{"benchmarks": [1, 2]}', b'[{"id": 1}, {"id": 2}]', b"[1, 2, 3]", b"text",
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(InputUnreadable, match=r"trace\.json") as error:
            read_trace(path)
        assert "\n" not in str(error.value)


def test_a6_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(InputUnreadable):
            read_trace(path)
