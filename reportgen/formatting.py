"""The one place where numbers become words: rounding, units, plurals. See `docs/decisions/0001-formatting-below-findings.md`."""
