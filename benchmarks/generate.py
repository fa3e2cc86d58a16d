"""Write a large trace by repeating a small real one: ``python benchmarks/generate.py SMALL LARGE NUM_EVENTS``.

Every copy is later by the span of the original, and has correlation ids, event ids and step numbers of its own, so that
the result links like a long recording. SMALL may be gzipped, and LARGE is where its name ends in ``.gz``.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

# What a copy changes: times, ids that join events, and the number of the step.
_CHANGING = re.compile(
    rb'"ts": (?P<ts>\d+(?:\.\d+)?)'
    rb'|"(?:correlation|External id|Ev Idx|Python id|Python parent id|Sequence number'
    rb'|wait_on_cuda_event_record_corr_id|id)": (?P<id>\d+)'
    rb"|ProfilerStep#(?P<step>\d+)"
)
_EVENTS = re.compile(rb'"traceEvents":\s*\[')


@dataclasses.dataclass(frozen=True)
class Template:
    """A trace cut into what stays as it is and what every copy counts on."""

    head: bytes
    tail: bytes
    fixed: list[bytes]  # one more than `counters`
    counters: list[tuple[str, int, int]]  # kind, value (times in ns), digits after the point
    num_events: int
    strides: dict[str, int]  # by how much a copy is ahead of the one before

    def copy(self, index: int) -> bytes:
        """Return the events of copy `index`, without a comma at the end."""
        parts = [self.fixed[0]]
        for (kind, value, digits), following in zip(self.counters, self.fixed[1:], strict=True):
            number = value + index * self.strides[kind]
            if kind == "ts":
                parts.append(b"%d.%03d" % divmod(number, 1000) if digits else b"%d" % (number // 1000))
            else:
                parts.append(b"%d" % number)
            parts.append(following)
        return b"".join(parts)


def read_template(path: Path) -> Template:
    """Cut up the trace at `path`, which is written as PyTorch writes it."""
    text = path.read_bytes()
    if text.startswith(b"\x1f\x8b"):
        text = gzip.decompress(text)
    opening = _EVENTS.search(text)
    if opening is None:
        sys.exit(f"{path} holds no traceEvents")
    end = text.rindex(b"]", 0, text.rindex(b"}"))
    body = text[opening.end() : end].rstrip()
    fixed: list[bytes] = []
    counters: list[tuple[str, int, int]] = []
    at = 0
    for match in _CHANGING.finditer(body):
        kind = cast("str", match.lastgroup)
        digits = match[kind].partition(b".")[2]
        value = int(match[kind].replace(b".", b"")) * 10 ** (3 - len(digits)) if kind == "ts" else int(match[kind])
        fixed.append(body[at : match.start(kind)])
        counters.append((kind, value, len(digits)))
        at = match.end(kind)
    fixed.append(body[at:])
    return Template(
        head=text[: opening.end()],
        tail=text[end:],
        fixed=fixed,
        counters=counters,
        num_events=body.count(b'"ph":'),
        strides={
            kind: _stride(kind, [value for of, value, _ in counters if of == kind]) for kind in ("ts", "id", "step")
        },
    )


def _stride(kind: str, values: list[int]) -> int:
    if not values:
        return 1
    if kind == "ts":
        return max(values) - min(values) + 1_000_000
    return max(values) + 1 if kind == "id" else max(values) - min(values) + 1


def texts(template: Template, num_events: int) -> Iterator[bytes]:
    """Yield the text of a trace of at least `num_events`, copy by copy."""
    yield template.head
    for index in range(-(-num_events // template.num_events)):
        if index:
            yield b","
        yield template.copy(index)
    yield template.tail


def write_trace(template: Template, path: Path, num_events: int) -> None:
    """Write a trace of at least `num_events` to `path`, compressed where its name ends in ``.gz``."""
    with contextlib.ExitStack() as stack:
        file: BinaryIO | gzip.GzipFile = stack.enter_context(path.open("wb"))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.open(file, "wb", compresslevel=6))
        for text in texts(template, num_events):
            file.write(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("small", type=Path)
    parser.add_argument("large", type=Path)
    parser.add_argument("num_events", type=int)
    options = parser.parse_args()
    write_trace(read_template(options.small), options.large, options.num_events)


if __name__ == "__main__":
    main()
