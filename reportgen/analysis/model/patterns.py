"""Patterns that cost time and have a name: copies, optimizer updates, written-out attention, compilation, autograd."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.values import Source, Where


class CopyRow(msgspec.Struct, frozen=True, kw_only=True):
    """Copies of one direction and kind of memory that one operator asked for in one function."""

    direction: Literal["host-to-device", "device-to-host", "device-to-device", "peer-to-peer", "other"]
    memory: Literal["pageable", "pinned", "device", "unknown"]  # of the host's side; "device" where there is none
    operator: str | None
    source: Source | None
    count_per_step: float
    bytes_per_step: float | None
    us_per_step: float
    # The part during which nothing computes or communicates on the device.
    exposed_us_per_step: float
    # Device waits by these copies, drain and refill, the profiler's share taken out.
    cost_us_per_step: float
    where: Where | None = None  # the longest in the step that documents show, else of all


class CopyChain(msgspec.Struct, frozen=True, kw_only=True):
    """Copies on the device that read at once what the one before wrote, with nothing between.

    `restores` is True where the last leaves type and strides as the first found them: then all are needless, else all
    but one. `types` are those of the data before the first and after each copy.
    """

    num_copies: int
    restores: bool
    types: tuple[str, ...]
    shape: tuple[int, ...]
    count_per_step: float
    device_us_per_step: float
    removable_us_per_step: float
    # The operators that make the needless ones, as a replay's changes name them, with the share of their device time
    # that is needed elsewhere.
    left_of_operators: dict[str, float] = {}
    source: Source | None
    where: Where | None = None


class UserCopy(msgspec.Struct, frozen=True, kw_only=True):
    """Copies on the device that the program itself asks for, by a method of the tensor."""

    method: str  # "Tensor.float"
    shape: tuple[int, ...] | None
    count_per_step: float
    device_us_per_step: float
    source: Source | None


class OptimizerUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The optimizer's part of a step: what its own span launched."""

    name: str  # "AdamW"
    activities_per_step: float
    # Tensors updated, each once however many backward passes accumulate its gradient. At most this many where passes
    # of one update differ (they may share parameters or not), and where several optimizers update after one pass.
    parameters_per_step: float
    device_us_per_step: float
    host_us_per_step: float  # as the trace shows it, the profiler's share included
    # Device work in and waits under the span, the profiler's share taken out: what the step would lack without it.
    extent_us_per_step: float
    source: Source | None
    where: Where | None = None  # the first of them


class AttentionChain(msgspec.Struct, frozen=True, kw_only=True):
    """Attention written out: product, softmax over the whole matrix of scores, product, in one function."""

    scores_shape: tuple[int, ...]  # [.., T, S]
    scores_type: str | None
    count_per_step: float
    activities_per_step: float  # from the first product to the last
    device_us_per_step: float
    # Of all but the two products: what reading and writing the scores in between takes.
    between_us_per_step: float
    scaling_operators: tuple[str, ...]  # between the first product and the softmax
    between_operators: tuple[str, ...] = ()  # of all between the products, as a replay's changes name them
    source: Source | None
    where: Where | None = None


class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """Dynamo's or Inductor's work inside the recorded steps, for one function of the user's."""

    count_per_step: float
    host_us_per_step: float
    num_steps: int  # in how many recorded steps it occurs
    source: Source | None
    where: Where | None = None


class AutogradWork(msgspec.Struct, frozen=True, kw_only=True):
    """What autograd did in the steps: nodes made by forward operators, and nodes run backward."""

    nodes_per_step: float
    backward_operators_per_step: float
    source: Source | None  # the function that made most nodes
