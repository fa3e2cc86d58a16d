"""Feed damaged files to the readers: ``python benchmarks/fuzz.py [NUM_INPUTS] [--seed N]``.

Inputs are small traces and snapshots with bytes flipped, cut, doubled, replaced or spliced. Each has to end in a trace,
or in the one error that says why there is none; anything else, or more than 10 s for a megabyte, is a failure, whose
input is kept. Exits with 1 where there was one.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from reportgen.errors import InputUnreadable
from reportgen.trace.plain_pickle import load_plain_pickle
from reportgen.trace.reader import read_trace
from reportgen.trace.snapshot import read_snapshot

_SECONDS_PER_MB = 10.0
_SEED_BYTES = 24 << 10
_TOKENS = (
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\x00", b"\xff", b"NaN", b"-inf", b"null", b"1e999", b"-1",
    b"99999999999999999999", b'"traceEvents": [', b'"args": {', b'"ts": ', b'"dur": ', b'"ph": "X", ', b"\\u", b"{}",
    b"\x80\x05", b"c", b"R", b"]" * 50, b"[" * 2000,
)  # fmt: skip
Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Small well-formed files of one kind, and what reads them."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[Path], object]


def flip(chance: random.Random, text: bytes, _seeds: Sequence[bytes]) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(chance: random.Random, text: bytes, _seeds: Sequence[bytes]) -> bytes:
    return text[: chance.randrange(len(text))]


def leave_out(chance: random.Random, text: bytes, _seeds: Sequence[bytes]) -> bytes:
    begin = chance.randrange(len(text))
    return text[:begin] + text[begin + chance.choice((1, 4, 200, 4000)) :]


def repeat(chance: random.Random, text: bytes, _seeds: Sequence[bytes]) -> bytes:
    begin, at = chance.randrange(len(text)), chance.randrange(len(text))
    return text[:at] + text[begin : begin + chance.choice((1, 20, 500, 4000))] + text[at:]


def insert(chance: random.Random, text: bytes, _seeds: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(_TOKENS) + text[at + chance.choice((0, 0, 1, 5)) :]


def splice(chance: random.Random, text: bytes, seeds: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return text[: chance.randrange(len(text))] + other[chance.randrange(len(other)) :]


MUTATIONS: tuple[Mutation, ...] = (flip, cut, leave_out, repeat, insert, insert, splice)


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a seed with one to four mutations; one in six compressed, some of these damaged once more."""
    text = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 2, 4))):
        text = chance.choice(MUTATIONS)(chance, text, seeds) or b" "
    if chance.random() < 1 / 6:
        text = gzip.compress(text, compresslevel=1)
        text = chance.choice((flip, cut, leave_out))(chance, text, seeds) if chance.random() < 0.5 else text
    return text


def shortened(trace: bytes, chance: random.Random) -> bytes:
    """Return a trace with about `_SEED_BYTES` of its events, from several places of it."""
    begin = trace.find(b'"traceEvents": [') + len(b'"traceEvents": [')
    end = trace.rfind(b"]")
    events = trace[begin:end].split(b"\n  },")
    if begin < len(b'"traceEvents": [') or len(events) < 100:
        return trace[:_SEED_BYTES]
    per_place = max(_SEED_BYTES * len(events) // (end - begin) // 8, 1)
    places = sorted(chance.randrange(len(events) - per_place) for _ in range(8))
    kept = [event for place in places for event in events[place : place + per_place]]
    return trace[:begin] + b"\n  },".join(kept) + b"\n  }" + trace[end:]


def corpora(folder: Path, chance: random.Random) -> list[Corpus]:
    """Return the traces and the snapshots under `folder`, cut small."""
    traces = [gzip.decompress(path.read_bytes()) for path in sorted(folder.rglob("*.json.gz"))]
    pickles = [gzip.decompress(path.read_bytes()) for path in sorted(folder.rglob("*.pickle.gz"))]
    if not traces or not pickles:
        sys.exit(f"{folder} holds no traces and snapshots to begin with")
    small = sorted(pickles, key=len)[:3]
    # The same as a recording holds them; of damaged text more can be read than of damaged pickles.
    small += [msgspec.json.encode(load_plain_pickle(content)) for content in small]
    return [
        Corpus("traces", [shortened(trace, chance) for trace in traces], read_trace),
        Corpus("snapshots", small, read_snapshot),
    ]


def attempt(corpus: Corpus, content: bytes, path: Path) -> str:
    """Read `content` and return how that ended: "read", "refused", or what is wrong."""
    path.write_bytes(content)
    began = time.process_time()
    try:
        corpus.read(path)
        outcome = "read"
    except InputUnreadable as error:
        outcome = "refused" if "\n" not in str(error) else "refused in several lines"
    except Exception:  # noqa: BLE001  # the very thing that is looked for
        outcome = traceback.format_exc()
    seconds = time.process_time() - began
    if seconds > max(_SECONDS_PER_MB * len(content) / 1e6, 1.0):
        return f"{seconds:.1f} s for {len(content)} bytes"
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("num_inputs", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--traces", type=Path, required=True, help="a folder with traces and snapshots")
    parser.add_argument("--share", type=float, default=0.8, help="the share of inputs that are traces")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    traces, snapshots = corpora(options.traces, chance)
    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        for index in range(options.num_inputs):
            corpus = traces if index < options.num_inputs * options.share else snapshots
            content = mutated(chance, corpus.seeds)
            outcome = attempt(corpus, content, path)
            if outcome not in ("read", "refused"):
                kept = Path(f"fuzz-{corpus.name}-{options.seed}-{index}")
                kept.write_bytes(content)
                print(f"{kept}: {outcome}", flush=True)
                outcome = "failed"
            outcomes[corpus.name, outcome] += 1
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{name}: {count} {outcome}")
    sys.exit(any(outcome == "failed" for _, outcome in outcomes))


if __name__ == "__main__":
    main()
