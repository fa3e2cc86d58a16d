"""What `session.step()` costs outside the window: 100 000 steps before it opens, and as many after it is over."""

import tempfile
import time

import reportgen

NUM_STEPS = 100_000
LIMIT_US = 2.0


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        reportgen.capture("bench", output=folder, skip=NUM_STEPS, device="cpu", report=False) as session,
    ):
        before_us = _cost_us(session.step, NUM_STEPS - 1)
        for _ in range(1000):  # through the window
            session.step()
        after_us = _cost_us(session.step, NUM_STEPS)
    print(f"before the window {before_us:.3f} us a step, after it {after_us:.3f} us; the limit is {LIMIT_US:g} us")
    if max(before_us, after_us) > LIMIT_US:
        raise SystemExit(1)


def _cost_us(step, num_steps: int) -> float:  # type: ignore[no-untyped-def]
    start = time.perf_counter_ns()
    for _ in range(num_steps):
        step()
    return (time.perf_counter_ns() - start) / 1e3 / num_steps


if __name__ == "__main__":
    main()
