"""Arithmetic on columns: spans of time, groups of rows, links between tables, sequences held against each other."""
