"""Alternatives: the step with one thing changed, timed beside the step as it is, without touching its source."""
