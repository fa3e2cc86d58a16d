"""Real nights, one fresh process each: unchanged ones, then some with a change, and how much the nights differ.

    python -m benchmarks.real_nights gpt2 -o /tmp/nights --nights 20 -- --set preset=tiny --device cpu --try none
    python -m benchmarks.real_nights benchmarks/workloads/gpt2_scaled.py -o /tmp/device --nights 8 --limit 240 \\
        --plant ROWS=128 --planted-nights 1 -- --try none
    python -m benchmarks.real_nights benchmarks/workloads/host_rounds.py -o /tmp/host --nights 10 \\
        --plant ROUNDS=11 --planted-nights 4 -- --device cpu --try none

Prints a line a night and what it told, then the noise of each case's step and device time, which ``noise.json`` keeps
for ``benchmarks/nights.py``. Ends with 1 where an unchanged night raised an alarm or no planted one did.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from reportgen.history.quantities import BY_NAME
from reportgen.history.store import DEFAULT_NAME, open_store
from reportgen.nightly.summary import NightSummary
from reportgen.report.model import Report

# Seconds left of a limit that the planted nights are given, each, in units of the longest night so far.
_ROOM = 1.2


class CaseNoise(NamedTuple):
    """What a case's figure did over unchanged nights: a value a night, and the spread of the samples within one."""

    case: str
    quantity: str
    nights: list[float]
    within: float | None

    @property
    def between(self) -> float:
        """Return the standard deviation of the nights' logarithms."""
        return statistics.stdev([math.log(value) for value in self.nights])


class Night(NamedTuple):
    """One night as it ended."""

    summary: NightSummary
    exit_code: int
    seconds: float

    @property
    def has_alarm(self) -> bool:
        """Tell whether something was told to have got worse."""
        return any(told.verdict in ("worse", "new") for workload in self.summary.workloads for told in workload.told)


def run_night(workload: str, output: Path, number: int, options: Sequence[str]) -> Night:
    """Run one night in a process of its own and return what it had to say."""
    told = output / f"night-{number:03}.json"
    command = [sys.executable, "-m", "reportgen", "nightly", workload, "-o", str(output), "--quiet", "--format", "json"]
    gates = ["--fail-on", "regression", "--fail-on", "memory", "--notify", f"cat > {told}"]
    began = time.monotonic()
    done = subprocess.run([*command, *gates, *options], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if not told.is_file():
        sys.exit(f"night {number} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return Night(msgspec.json.decode(told.read_bytes(), type=NightSummary), done.returncode, seconds)


def show(number: int, kind: str, night: Night) -> None:
    """Print a night in a line, and a line for all that it told."""
    verdict = night.summary.verdict
    print(f"night {number:3} {kind:9} {night.seconds:6.1f} s  exit {night.exit_code}  {verdict}", flush=True)
    for workload in night.summary.workloads:
        again = " (measured again)" if workload.measured_again else ""
        for row in workload.told:
            print(f"    {row.verdict} {row.case}: {row.text}{again}")
            for moved in row.moved:
                print(f"        {moved}")
        for text in (*workload.waiting, *([workload.failure] if workload.failure else [])):
            print(f"    {text}{again}", flush=True)


def planted(workload: str, change: str, folder: Path) -> str:
    """Return the path of a copy of the workload's module with the constant of `change` ("NAME=VALUE") at that value."""
    name, _, value = change.partition("=")
    text = Path(workload).read_text(encoding="utf-8")
    changed, count = re.subn(rf"^{re.escape(name)} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"{workload} has no constant {name}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / Path(workload).name
    path.write_text(changed, encoding="utf-8")
    return str(path)


def measured_noise(output: Path, num_unchanged: int) -> list[CaseNoise]:
    """Return the noise of step and device time of each case over the first `num_unchanged` nights of a store."""
    store = open_store(output / DEFAULT_NAME)
    rows = store.trend("")
    nights = [night.id for night in reversed(store.nights())][:num_unchanged]
    folders = {night: [row.folder for row in reports] for night, reports in store.reports_of(nights).items()}
    store.close()
    values: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.night_id in nights and row.quantity in ("step_time", "device_time"):
            values[f"{row.workload} {row.case}", row.quantity][row.night_id].append(row.value)
    within = _within(output, [folder for names in folders.values() for folder in names[:1] if folder])
    return [
        CaseNoise(
            case,
            quantity,
            list(map(statistics.fmean, points.values())),
            within.get(case) if quantity == "step_time" else None,
        )
        for (case, quantity), points in values.items()
        if len(points) > 1
    ]


def _within(output: Path, folders: Sequence[str]) -> dict[str, float]:
    """Return the standard deviation of the logarithms of a night's samples, by case: the median over the nights."""
    found: dict[str, list[float]] = defaultdict(list)
    for folder in folders:
        report = msgspec.json.decode((output / folder / "report.json").read_bytes(), type=Report)
        for case in report.cases:
            timing = case.timing
            times = timing and timing.counted
            samples = times.undisturbed_us if times else ()
            if len(samples) > 1:
                name = f"{report.workload.name if report.workload else ''} {case.name}"
                found[name].append(statistics.stdev([math.log(value) for value in samples]))
    return {name: statistics.median(values) for name, values in found.items()}


def show_noise(noises: Sequence[CaseNoise]) -> None:
    """Print a table of the noise."""
    print("\n| case | figure | nights | least | median | most | between nights | within a night |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for noise in noises:
        text = BY_NAME[noise.quantity].text
        figures = (min(noise.nights), statistics.median(noise.nights), max(noise.nights))
        within = "" if noise.within is None else f"{noise.within:.1%}"
        cells = (
            noise.case,
            noise.quantity,
            str(len(noise.nights)),
            *map(text, figures),
            f"{noise.between:.2%}",
            within,
        )
        print(f"| {' | '.join(cells)} |")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the nights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--nights", type=int, default=20, help="unchanged nights at most")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds for all of them")
    parser.add_argument("--plant", metavar="NAME=VALUE", help="a constant of the module, and its other value")
    parser.add_argument("--planted-nights", type=int, default=1)
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, options = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parsed = parser.parse_args(own)
    num_planted = parsed.planted_nights if parsed.plant else 0
    parsed.output.mkdir(parents=True, exist_ok=True)

    began, longest = time.monotonic(), 0.0
    unchanged: list[Night] = []
    while len(unchanged) < parsed.nights:
        # A night with something to tell is measured twice.
        needed = longest * _ROOM * (1 + 2 * num_planted)
        if unchanged and time.monotonic() - began + needed > parsed.limit:
            break
        unchanged.append(run_night(parsed.workload, parsed.output, len(unchanged) + 1, options))
        longest = max(longest, unchanged[-1].seconds)
        show(len(unchanged), "unchanged", unchanged[-1])
    noises = measured_noise(parsed.output, len(unchanged))

    found, number = 0, len(unchanged)
    for number in range(len(unchanged) + 1, len(unchanged) + num_planted + 1):
        changed = planted(parsed.workload, parsed.plant, parsed.output / "planted")
        night = run_night(changed, parsed.output, number, options)
        show(number, parsed.plant, night)
        found += night.has_alarm
        if found:
            break
    show_noise(noises)
    (parsed.output / "noise.json").write_bytes(msgspec.json.format(msgspec.json.encode(noises), indent=1))
    alarms = sum(night.has_alarm for night in unchanged)
    outcome = "told on the last" if found else "not told"
    print(f"\n{len(unchanged)} unchanged nights: {alarms} with an alarm")
    if num_planted:
        print(f"{number - len(unchanged)} with a change: {outcome}")
    return int(bool(alarms) or (num_planted > 0 and not found))


if __name__ == "__main__":
    sys.exit(main())
