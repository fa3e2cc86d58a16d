"""How often unchanged nights raise an alarm, and how often a change is told in the number of nights that is promised.

    python -m benchmarks.nights [--histories 1000]

Each history is drawn anew: a night's true step time is log-normal around the level (between nights), its samples are
log-normal around that (within the night) and count as one figure, their median. Device time has its own, far smaller
noise. Nothing is measured a second time here, as real nights are before an alarm: the false alarms are an upper bound.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from reportgen.history import noise
from reportgen.history.quantities import BY_NAME
from reportgen.history.series import FEWEST_NIGHTS, changes, read_last

STEP, DEVICE = BY_NAME["step_time"], BY_NAME["device_time"]
NUM_NIGHTS = 60
CHANGE_ON = 30
SAMPLES = 20
LEVEL_US = 6500.0
DEVICE_LEVEL_US = 1300.0


class Noise(NamedTuple):
    """Standard deviations of logarithms; `wild` nights are slower by `wild_by`."""

    between: float
    within: float
    wild: float = 0.0
    wild_by: float = 0.3


class Measured(NamedTuple):
    """Real nights: how the logarithms of their step times lie around their mean, and the deviation within a night."""

    name: str
    nights_us: tuple[float, ...]
    within: float

    @property
    def between(self) -> float:
        """Return the standard deviation of the nights' logarithms."""
        return statistics.stdev([math.log(value) for value in self.nights_us])

    def draw(self, source: random.Random) -> float:
        """Return how far a night lies from the level: one of those measured, moved by a little (smoothed bootstrap).

        The measured nights lie nearer to their own mean than to the true one, and a sum of both parts has the
        deviation that was measured.
        """
        num = len(self.nights_us)
        logs = [math.log(value) for value in self.nights_us]
        away = (source.choice(logs) - statistics.fmean(logs)) * math.sqrt(num / (num - 1))
        width = 0.9 * num**-0.2
        return (away + source.gauss(0.0, width * self.between)) / math.sqrt(1.0 + width**2)


def draw(
    noise_: Noise | Measured, source: random.Random, level_us: float, num_nights: int, factor: float = 1.0
) -> list[float]:
    """Return the figures of a history whose level is `factor` times as high from night `CHANGE_ON` on."""
    nights = []
    for night in range(num_nights):
        level = math.log(level_us * (factor if night >= CHANGE_ON else 1.0))
        if isinstance(noise_, Measured):
            level += noise_.draw(source)
        else:
            level += source.gauss(0.0, noise_.between) + (noise_.wild_by if source.random() < noise_.wild else 0.0)
        samples = [source.gauss(level, noise_.within) for _ in range(SAMPLES)]
        nights.append(math.exp(statistics.median(samples)))
    return nights


def false_alarms(noise_: Noise | Measured, num_histories: int, seed: int) -> float:
    """Return the share of unchanged histories in which any night is called a change of the step time."""
    source = random.Random(seed)
    histories = (draw(noise_, source, LEVEL_US, NUM_NIGHTS) for _ in range(num_histories))
    return sum(bool(changes(values, STEP)) for values in histories) / num_histories


def found_in_time(noise_: Noise | Measured, factor: float, nights: int, num_histories: int, seed: int) -> float:
    """Return the share of histories in which a change of the step time is told within its first `nights`."""
    source = random.Random(seed)
    found = 0
    for _ in range(num_histories):
        values = draw(noise_, source, LEVEL_US, CHANGE_ON + nights, factor)
        found += any(change.known >= CHANGE_ON and change.new > change.base for change in changes(values, STEP))
    return found / num_histories


def device_time(sigma: float, num_histories: int, seed: int) -> tuple[float, float]:
    """Return the share of unchanged histories with an alarm, and of 5 % more told on the very night."""
    source, noise_ = random.Random(seed), Noise(sigma, 0.0)
    alarms = sum(bool(changes(draw(noise_, source, DEVICE_LEVEL_US, NUM_NIGHTS), DEVICE)) for _ in range(num_histories))
    told = sum(
        read_last(draw(noise_, source, DEVICE_LEVEL_US, CHANGE_ON + 1, 1.05), DEVICE).verdict == "worse"
        for _ in range(num_histories)
    )
    return alarms / num_histories, told / num_histories


def stated_nights(noise_: Noise | Measured, factor: float) -> int | None:
    """Return how many nights the program promises for a change, where it knows the spread from 30 nights before."""
    median_error = math.sqrt(math.pi / 2 / SAMPLES) * noise_.within  # of the median of normal samples
    needed = noise.nights_needed(math.log(factor), math.hypot(noise_.between, median_error), CHANGE_ON, CHANGE_ON - 1)
    return max(needed, FEWEST_NIGHTS) if needed else None


NOISES = (
    Noise(0.01, 0.05),
    Noise(0.02, 0.05),
    Noise(0.03, 0.08),
    Noise(0.05, 0.10),
    Noise(0.02, 0.05, wild=0.05),
)


# Of `benchmarks/real_nights.py` on 2 cores, no GPU, with eight other jobs at work: the steps that had their cores.
MEASURED = (
    Measured(
        "ten rounds of host code",
        (1675.0, 1611.0, 1759.0, 1676.0, 1619.0, 1719.0, 1612.0, 1665.0, 1779.0, 1616.0, 1589.0, 1738.0),
        0.04,
    ),
    Measured(
        "the same, four measurements a night",
        (1635.0, 1699.0, 1686.0, 1685.0, 1674.0, 1686.0, 1673.0, 1690.0, 1652.0, 1712.0, 1640.0, 1709.0),
        0.04 / 2.0,
    ),
    Measured(
        "gpt2 decode, tiny",
        (829.0, 758.0, 943.0, 809.0, 768.0, 956.0, 843.0, 814.0, 723.0, 864.0, 843.0, 916.0, 863.0),
        0.209,
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of docs/history.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--measured", action="store_true", help="only the table drawn from measured nights")
    parsed = parser.parse_args(arguments)
    if not parsed.measured:
        _print_device_times(parsed.histories)
        _print_stated(parsed.histories)
    _print_measured(parsed.histories)


def _print_device_times(num: int) -> None:
    print("| noise of device time | unchanged, 60 nights: alarm | +5 %: told on its night |\n| --- | --- | --- |")
    for sigma in (0.001, 0.002):
        alarms, told = device_time(sigma, num, seed=1)
        print(f"| {sigma:.1%} | {alarms:.1%} | {told:.1%} |")


def _print_stated(num: int) -> None:
    print(
        "\n| between | within | wild nights | unchanged, 60 nights: alarm | change | nights stated | told within them |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for noise_ in NOISES:
        shares = " | ".join(f"{share:.0%}" for share in (noise_.between, noise_.within, noise_.wild))
        _print_rows(shares, noise_, (1.1, 1.2), num)


def _print_measured(num: int) -> None:
    print(
        "\n| nights of | between | within | unchanged, 60 nights: alarm | change | nights stated | told within them |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for noise_ in MEASURED:
        head = f"{noise_.name} ({len(noise_.nights_us)}) | {noise_.between:.1%} | {noise_.within:.1%}"
        _print_rows(head, noise_, (1.1, 1.2, 1.5), num)


def _print_rows(head: str, noise_: Noise | Measured, factors: Sequence[float], num: int) -> None:
    alarms = false_alarms(noise_, num, seed=2)
    for factor in factors:
        nights = stated_nights(noise_, factor)
        found = f"{found_in_time(noise_, factor, nights, num, seed=3):.1%}" if nights else "not told"
        row = (head, f"{alarms:.1%}", f"+{factor - 1:.0%}", nights or "over 10", found)
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
