"""Attention written out: a product, a softmax over the whole matrix of scores, and a product that consumes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import AttentionChain
from reportgen.analysis.replay.changes import group_key
from reportgen.analysis.steps.window import count, durations_ns
from reportgen.analysis.work_models import model_of

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Int32, Int64, Trace

# Operators with work of their own between a product and its softmax: scale, mask, bias, dropout, casts.
MOST_BETWEEN = 12
MOST_ROWS = 20


class _Chain(NamedTuple):
    """Rows of the detail pass's operators."""

    product: int
    softmax: int
    consumer: int
    between: tuple[int, ...]  # from the product to the softmax


def find_attention_chains(attribution: Attribution) -> tuple[AttentionChain, ...]:
    """Find chains whose three ends lie in one call of one user function, with scores of two dimensions or more.

    The first product writes as many elements as the softmax reads, and the second reads as many. Needs shapes; forward
    only, since the backward of such attention follows from it.
    """
    trace = attribution.detail
    counted = count(trace)
    forward = np.array([group.direction == "forward" for group in attribution.groups] + [False])
    working = np.zeros(len(trace.operators.start_ns), dtype=bool)
    launched = trace.activities.operator[counted.activities]
    working[launched[launched >= 0]] = True
    rows = np.flatnonzero(working & counted.operators & forward[attribution.detail_group])
    families = {int(code): _family(trace.names[code]) for code in np.unique(trace.operators.name[rows])}
    user = follow(attribution.detail_frame, attribution.frames.user)
    found: dict[tuple[object, ...], list[_Chain]] = {}
    for thread in np.unique(trace.operators.thread[rows]).tolist():
        own = rows[trace.operators.thread[rows] == thread]
        family = [families[int(code)] for code in trace.operators.name[own]]
        for chain in _chains(trace, own, family, user):
            source = attribution.frames.source(int(attribution.detail_frame[chain.softmax]))
            found.setdefault((source, _shape(trace, chain.softmax, 0)), []).append(chain)
    summarized = [_summary(attribution, chains, counted.num_steps) for chains in found.values()]
    return tuple(sorted(summarized, key=lambda chain: -chain.between_us_per_step)[:MOST_ROWS])


def _family(name: str) -> str | None:
    model = model_of(name)
    return model.family if model else None


def _chains(trace: Trace, rows: Int64, family: list[str | None], user: Int32) -> list[_Chain]:
    chains = []
    for at in [index for index, name in enumerate(family) if name == "softmax"]:
        scores = math.prod(_shape(trace, int(rows[at]), 0))
        before = _nearest(family, range(at - 1, max(at - 1 - MOST_BETWEEN, -1), -1))
        after = _nearest(family, range(at + 1, min(at + 1 + MOST_BETWEEN, len(rows))))
        if before is None or after is None or len(_shape(trace, int(rows[at]), 0)) < 2:
            continue
        product, softmax, consumer = int(rows[before]), int(rows[at]), int(rows[after])
        if not user[product] == user[softmax] == user[consumer]:
            continue
        if scores > 1 and scores == _written(trace, product) and scores in _read(trace, consumer):
            chains.append(_Chain(product, softmax, consumer, tuple(rows[before + 1 : at].tolist())))
    return chains


def _nearest(family: list[str | None], positions: range) -> int | None:
    return next((index for index in positions if family[index] == "matrix product"), None)


def _shape(trace: Trace, operator: int, position: int) -> tuple[int, ...]:
    code = int(trace.operators.signature[operator])
    shapes = trace.signatures[code].shapes if code >= 0 else None
    return shapes[position] if shapes and position < len(shapes) else ()


def _factors(trace: Trace, operator: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of a product's two factors: the last two inputs with two dimensions or more."""
    code = int(trace.operators.signature[operator])
    shapes = (trace.signatures[code].shapes if code >= 0 else None) or ()
    return tuple(shape for shape in shapes if len(shape) >= 2)[-2:]


def _written(trace: Trace, product: int) -> int:
    factors = _factors(trace, product)
    return math.prod(factors[0][:-1]) * factors[1][-1] if len(factors) == 2 else 0


def _read(trace: Trace, product: int) -> tuple[int, ...]:
    return tuple(math.prod(shape) for shape in _factors(trace, product))


def _summary(attribution: Attribution, chains: list[_Chain], num_steps: int) -> AttentionChain:
    trace = attribution.detail
    operators, activities = trace.operators, trace.activities
    inside = np.full(len(activities.start_ns), -1, dtype=np.int64)
    call = np.maximum(activities.call, 0)
    launch_ns = trace.calls.start_ns[call] if len(trace.calls.start_ns) else activities.start_ns
    thread = trace.calls.thread[call] if len(trace.calls.start_ns) else np.zeros(len(call))
    for number, chain in enumerate(chains):
        first, last = operators.start_ns[chain.product], operators.end_ns[chain.consumer]
        same = (activities.call >= 0) & (thread == operators.thread[chain.product])
        inside[same & (launch_ns >= first) & (launch_ns < last)] = number
    products = np.array([row for chain in chains for row in (chain.product, chain.consumer)])
    spent_ns = durations_ns(activities)
    in_products = np.isin(activities.operator, products)
    others = np.unique(attribution.detail_group[activities.operator[(inside >= 0) & ~in_products]])
    groups = [attribution.groups[number] for number in others.tolist()]
    sample = chains[0]
    code = int(operators.signature[sample.softmax])
    types = trace.signatures[code].types if code >= 0 else None
    names = dict.fromkeys(trace.names[operators.name[row]] for row in sample.between)
    return AttentionChain(
        scores_shape=_shape(trace, sample.softmax, 0),
        scores_type=types[0] if types else None,
        count_per_step=len(chains) / num_steps,
        activities_per_step=int((inside >= 0).sum()) / num_steps,
        device_us_per_step=float(spent_ns[inside >= 0].sum()) / 1e3 / num_steps,
        between_us_per_step=float(spent_ns[(inside >= 0) & ~in_products].sum()) / 1e3 / num_steps,
        scaling_operators=tuple(names),
        between_operators=tuple(group_key(group.name, group.signature, group.direction) for group in groups),
        source=attribution.frames.source(int(attribution.detail_frame[sample.softmax])),
    )
