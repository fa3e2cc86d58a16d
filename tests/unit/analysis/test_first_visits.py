from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import kernel, launch, op, step

Analyze = Callable[..., CaseAnalysis]


def attention(at: float, length: int, us: float) -> dict[str, Any]:
    return op("attention", at, us, **{"Input Dims": [[1, length]], "Input type": ["float"]})


def steps(lengths: Sequence[Sequence[int]], first_us: float) -> list[dict[str, Any]]:
    """Return steps of 100 ms that attend over `lengths` in turn: `first_us` at the first visit of one, 100 µs later."""
    events: list[dict[str, Any]] = []
    seen: set[int] = set()
    for number, visited in enumerate(lengths):
        events.append(step(number, number * 100_000, 100_000))
        for place, length in enumerate(visited):
            us = 100 if length in seen else first_us
            events.append(attention(number * 100_000 + place * 20_000, length, us))
            seen.add(length)
    return events


def test_new_shapes_step_after_step_are_first_visits(analyze: Analyze) -> None:
    case = analyze(*steps([(1, 1), (2, 2), (3, 3)], first_us=5_000))

    (visit,) = case.first_visits
    assert (visit.operator, visit.num_signatures) == ("attention", 3)
    assert (visit.first_us, visit.later_us) == (5_000, 100)
    assert visit.excess_us_per_step == 4_900  # one new length a step


def test_shapes_first_seen_in_one_step_alone_were_met_before_the_window(analyze: Analyze) -> None:
    # The three lengths come again in every step: the steps before the window will have met them.
    case = analyze(*steps([(1, 2, 3), (1, 2, 3), (1, 2, 3)], first_us=5_000))

    assert case.first_visits == ()


def test_a_first_visit_under_a_millisecond_more_is_none(analyze: Analyze) -> None:
    case = analyze(*steps([(1, 1), (2, 2), (3, 3)], first_us=1_050))

    assert case.first_visits == ()


def test_the_first_call_of_a_step_may_have_more_to_do_where_the_host_does_the_work(analyze: Analyze) -> None:
    # No shapes: each step begins with a call fifty times as long as the others, as a model's first layer may.
    events = [
        event
        for number in range(3)
        for event in (
            step(number, number * 100_000, 100_000),
            op("linear", number * 100_000, 5_000),
            op("linear", number * 100_000 + 20_000, 100),
            op("linear", number * 100_000 + 40_000, 100),
        )
    ]
    assert analyze(*events).first_visits == ()


def called_once(attention_us: float, num_steps: int = 4, **words: Any) -> list[dict[str, Any]]:
    """Return steps of 100 ms with three products of 20 µs and one attention, each with one launch of 4 µs."""
    events: list[dict[str, Any]] = []
    for number in range(num_steps):
        at, c = number * 100_000, 10 * number + 1
        events.append(step(number, at, 100_000))
        for place, (name, us) in enumerate([("mm", 20.0), ("mm", 20.0), ("mm", 20.0), ("attention", attention_us)]):
            begin = at + 1_000 * place
            events += [op(name, begin, us + 4, **(words if name == "attention" else {}))]
            events += [launch(begin + 2, 4, c + place), kernel(begin + us + 10, 50, c + place)]
    return events


def test_an_operator_called_once_a_step_is_held_against_others_that_launch(analyze: Analyze) -> None:
    (visit,) = analyze(*called_once(5_000)).first_visits

    assert (visit.operator, visit.by_peers, visit.are_shapes_known) == ("attention", True, False)
    # Twelve products at 20 µs and four attentions at 5 ms: the median of those that launch is a product's.
    assert (visit.first_us, visit.later_us) == (5_000, 20)


def test_a_launching_operator_that_takes_less_than_a_millisecond_more_is_ordinary(analyze: Analyze) -> None:
    assert analyze(*called_once(1_000)).first_visits == ()


def test_what_launches_many_kernels_is_judged_by_its_time_for_each(analyze: Analyze) -> None:
    """A compiled region takes 5 ms of host time for six launches: under a millisecond each."""
    events = called_once(5_000)
    for number in range(4):
        for more in range(5):
            at, c = number * 100_000 + 4_000 + 20 * more, 1_000 + 10 * number + more
            events += [launch(at, 4, c), kernel(at + 10, 5, c)]

    assert analyze(*events).first_visits == ()


def test_an_operator_slow_in_one_step_alone_is_no_first_visit(analyze: Analyze) -> None:
    slow, quick = called_once(5_000), called_once(20)
    one_slow_step = [event for event in slow if event["ts"] < 100_000] + [
        event for event in quick if event["ts"] >= 100_000
    ]

    assert analyze(*one_slow_step).first_visits == ()


def test_where_the_host_does_the_work_the_pass_with_shapes_tells(read: Callable[..., Trace]) -> None:
    detail = steps([(1, 1), (2, 2), (3, 3)], first_us=5_000)
    timeline = [{**event, "args": {}} for event in detail]
    inputs = CaseInputs(name="case", timeline=read(*timeline), detail=read(*detail, name="detail.json"))

    (visit,) = analyze_case(inputs).first_visits

    assert (visit.operator, visit.num_signatures, visit.first_us, visit.later_us) == ("attention", 3, 5_000, 100)
    assert visit.are_shapes_known
