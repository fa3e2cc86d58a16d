"""One step looked at closely: as a strip, with its events, and what set a slow one apart."""
