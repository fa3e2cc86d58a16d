"""Figures per step, added up by name: operators, kernels, functions, regions, streams; how much of it is known."""
