"""Kernels that a compiler generated: bytes from the tensors they are given, operations unknown.

Inductor calls a generated kernel with all its inputs and outputs, so that each of them is moved at least once: but for
a table of which another input, whole numbers, names some rows.
"""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, total_bytes

# How Inductor names what it generates (torch/_inductor/codegen/triton.py).
PREFIX = "triton_"


# What can be an index; a mask or a byte cannot.
_INDEX_TYPES = ("long int", "int")


def generated(call: Call) -> Work:
    """Every tensor moved once; one that is updated in place counts once, the least.

    Where an index is among them, any larger one may be a table that is read in part: then the bytes are unknown.
    """
    indexes = [tensor.numel for tensor in call.tensors if tensor.type in _INDEX_TYPES]
    if not call.tensors or (indexes and max(tensor.numel for tensor in call.tensors) > min(indexes)):
        return UNKNOWN
    return Work(None, total_bytes(*(tensor.bytes for tensor in call.tensors)))
