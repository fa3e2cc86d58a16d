"""Patterns that cost time and have a name: copies, optimizer updates, attention written out, compilation."""
