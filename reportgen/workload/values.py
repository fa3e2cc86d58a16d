"""What a workload's author writes: `Workload`, its cases, and the `Step` that building a case gives."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from reportgen.errors import UsageError, did_you_mean

Phase = Literal["prefill", "decode", "forward", "encode", "generate", "train"]
PHASES: tuple[Phase, ...] = get_args(Phase)
MODES = ("pipelined", "drained")

# The most steps of one lap, see `Step`.
NUM_FIRST_VISITS = 256


class UndeclaredParameter(UsageError, AttributeError):
    """A parameter was read that the case does not declare."""


@dataclasses.dataclass(frozen=True, init=False, eq=True)
class Case:
    """One thing to measure: a name, its phase, and parameters that `--set` can change.

    Parameters are JSON values and read as attributes: ``case.batch``. One that is not declared raises
    `UndeclaredParameter`, which names the case and what it does declare.
    """

    name: str
    phase: Phase
    parameters: Mapping[str, Any]

    def __init__(self, name: str, *, phase: Phase, **parameters: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"a case needs a name, not {name!r}")
        if phase not in PHASES:
            raise UsageError(
                f"case {name!r}: no phase {phase!r}; it is one of {', '.join(PHASES)}."
                + did_you_mean(str(phase), PHASES)
            )
        for key, value in parameters.items():
            if not _is_json(value):
                raise UsageError(
                    f"case {name!r}: {key}={value!r} is no JSON value; write it as text, a number, a flag, None, "
                    "a list or a dictionary, and turn it into what you need in build()"
                )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "phase", phase)
        object.__setattr__(self, "parameters", MappingProxyType(dict(parameters)))

    def __getattr__(self, key: str) -> Any:
        # Reached only for what is no field. Dunder names are asked for by copy, pickle and inspect.
        if key.startswith("__") or key in {"name", "parameters"}:
            raise AttributeError(key)
        if key in self.parameters:
            return self.parameters[key]
        declared = ", ".join(self.parameters) or "none"
        raise UndeclaredParameter(
            f"case {self.name!r} declares no parameter {key!r}; it declares {declared}."
            + did_you_mean(key, self.parameters)
        )

    def __reduce__(self) -> tuple[Callable[..., Case], tuple[str, Phase, dict[str, Any]]]:
        return _rebuild, (self.name, self.phase, dict(self.parameters))

    def __hash__(self) -> int:
        return hash((self.name, self.phase))

    def with_parameters(self, parameters: Mapping[str, Any], name: str | None = None) -> Case:
        """Return the case with `parameters` in place of its own where they are given."""
        return Case(name or self.name, phase=self.phase, **{**self.parameters, **parameters})


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a case, ready to run, and what the runner should know of it.

    ``run()`` is one step. ``before(index)`` prepares it and is not timed: the device is drained around it, so the step
    has a drained time only. `index` counts 0, 1, 2, … over one lap of at most `NUM_FIRST_VISITS` steps and then starts
    again at 0; it never skips. A step that meets a new shape each time (a cache that grows) goes back to its first
    shape at index 0, so the first lap sees each shape once and later laps see it again: their times are kept apart.

    `mode` is the step time that counts: "pipelined" for steps issued back to back, "drained" where the loop itself
    waits for the device each step. `tokens` or `samples` per step give the throughput. `provenance` says in a few
    words what of the work is real and what is made up. The model and the optimizer let the runner tell parameters
    from activations.
    """

    run: Callable[[], object]
    _: dataclasses.KW_ONLY
    model: Any
    optimizer: Any = None
    before: Callable[[int], object] | None = None
    mode: Literal["pipelined", "drained"] = "pipelined"
    tokens: float | None = None
    samples: float | None = None
    provenance: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.run):
            raise UsageError(f"Step(run): {self.run!r} cannot be called; give a function that runs one step")
        if self.before is not None and not callable(self.before):
            raise UsageError(f"Step(before=): {self.before!r} cannot be called; give a function of the step's index")
        if self.mode not in MODES:
            raise UsageError(f"Step(mode=): no mode {self.mode!r}; it is pipelined or drained")
        for name, amount in (("tokens", self.tokens), ("samples", self.samples)):
            if amount is not None and not (isinstance(amount, numbers.Real) and 0 < amount < math.inf):
                raise UsageError(f"Step({name}=): {amount!r} {name} a step; give a number above 0 or leave it out")
        if not isinstance(self.provenance, Mapping) or not all(
            isinstance(text, str) for item in self.provenance.items() for text in item
        ):
            raise UsageError(
                f"Step(provenance=): {self.provenance!r} is no dictionary of text; say each in a few words"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Workload:
    """A workload: its cases, and ``build(case, device)``, which makes a `Step` of one of them.

    `variants` are other ways to build the same step, by name, as functions like `build`: a padded vocabulary, another
    cache. The runner times them beside the original as the alternatives ``variant:NAME``.
    """

    name: str
    description: str
    cases: tuple[Case, ...]
    build: Callable[[Case, Any], Step]
    variants: Mapping[str, Callable[[Case, Any], Step]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        check_words(self.name, self.description)
        object.__setattr__(self, "cases", check_cases(self.name, self.cases))
        if not callable(self.build):
            raise UsageError(f"workload {self.name!r}: build={self.build!r} cannot be called; give build(case, device)")
        if not isinstance(self.variants, Mapping):
            raise UsageError(f"workload {self.name!r}: variants= takes a dictionary of functions like build, by name")
        for name, build in self.variants.items():
            if not callable(build):
                raise UsageError(f"workload {self.name!r}: variant {name!r} cannot be called; give build(case, device)")


def check_words(name: object, description: object) -> None:
    """Raise `UsageError` where a workload's name or description is no text, or the name is empty."""
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"a workload needs a name, not {name!r}")
    if not isinstance(description, str):
        raise UsageError(f"workload {name!r}: description={description!r} is no text")


def check_cases(workload: str, cases: object) -> tuple[Case, ...]:
    """Return `cases` as a tuple of cases with different names; raise `UsageError` where they are none."""
    if not isinstance(cases, tuple | list) or not all(isinstance(case, Case) for case in cases):
        raise UsageError(f"workload {workload!r}: cases= takes a tuple of Case(…)")
    if not cases:
        raise UsageError(f"workload {workload!r} has no case; give it one Case(…) at least")
    names = [case.name for case in cases]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f"workload {workload!r} has two cases named {repeated!r}")
    return tuple(cases)


def _rebuild(name: str, phase: Phase, parameters: dict[str, Any]) -> Case:
    return Case(name, phase=phase, **parameters)


def _is_json(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_json(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return value is None or isinstance(value, str | int | float | bool)
