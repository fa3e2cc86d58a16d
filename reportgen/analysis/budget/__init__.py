"""The budget: the step's time, every instant in exactly one part, with the reason of every wait."""
