"""Whose work an event is, and where: operator, shape, function, place in the code and in the trace."""
