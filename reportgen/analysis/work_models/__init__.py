"""Work models: the operations and the least bytes of an operator call, from its recorded shapes, types and strides.

One family a module, each with its formula and its source. `model_of` finds the model of an operator by its name.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from reportgen.analysis.work_models import (
    attention,
    convolution,
    copies,
    elementwise,
    generated,
    indexing,
    normalization,
    optimizers,
    products,
    reductions,
    softmax,
)
from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, WorkModel

__all__ = ["MATRIX_FAMILIES", "UNKNOWN", "Call", "Family", "Model", "Work", "WorkModel", "model_of"]

Family = Literal[
    "matrix product",
    "attention",
    "convolution",
    "normalisation",
    "softmax",
    "elementwise",
    "reduction",
    "indexing",
    "optimizer",
    "copy",
    "generated",
]
# The families whose work runs on matrix units, and whose operations a model's FLOPs are counted by.
MATRIX_FAMILIES: frozenset[Family] = frozenset({"matrix product", "attention", "convolution"})


class Model(NamedTuple):
    """A work model and the family that it belongs to."""

    family: Family
    work: WorkModel


_FAMILIES: tuple[tuple[Family, dict[str, WorkModel]], ...] = (
    ("matrix product", products.MODELS),
    ("attention", attention.MODELS),
    ("convolution", convolution.MODELS),
    ("normalisation", normalization.MODELS),
    ("softmax", softmax.MODELS),
    ("elementwise", elementwise.MODELS),
    ("reduction", reductions.MODELS),
    ("indexing", indexing.MODELS),
    ("optimizer", optimizers.MODELS),
    ("copy", copies.MODELS),
)
_MODELS: dict[str, Model] = {
    name: Model(family, model) for family, models in _FAMILIES for name, model in models.items()
}


def model_of(name: str) -> Model | None:
    """Return the work model of the operator `name` ("aten::mm"), None where there is none."""
    if name.startswith(generated.PREFIX):
        return Model("generated", generated.generated)
    return _MODELS.get(name)
