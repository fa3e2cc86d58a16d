"""The budget: the step's time, every instant in exactly one part, with the reason of every wait."""

from reportgen.analysis.budget.compute import compute_budget

__all__ = ["compute_budget"]
