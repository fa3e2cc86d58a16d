"""Automated profiling reports for PyTorch workloads."""
