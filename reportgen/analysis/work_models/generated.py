"""Kernels that a compiler generated: bytes from the tensors they are given, operations unknown.

Inductor calls a generated kernel with all its inputs and outputs, so that each of them is moved at least once.
"""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, total_bytes

# How Inductor names what it generates (torch/_inductor/codegen/triton.py).
PREFIX = "triton_"


def generated(call: Call) -> Work:
    """Every tensor moved once; one that is updated in place counts once, the least."""
    return Work(None, total_bytes(*(tensor.bytes for tensor in call.tensors))) if call.tensors else UNKNOWN
