"""Embeddings and indexing: only the elements that the index names are touched."""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Tensor, Work, WorkModel, size_bytes, total_bytes


def select(call: Call) -> Work:
    """``index_select(table, dim, index)``: as many slices as the index is long, read and written."""
    return _rows(call, dimension=call.integer(1) or 0, index=2)


def embedding(call: Call) -> Work:
    """``embedding(table, index)``: a row for every entry of the index, read and written."""
    return _rows(call, dimension=0, index=1)


def _rows(call: Call, *, dimension: int, index: int) -> Work:
    table, positions = call.tensor(0), call.tensor(index)
    if table is None or positions is None or not table.shape:
        return UNKNOWN
    slice_elements = table.numel // max(table.shape[dimension], 1)
    written = size_bytes((positions.numel, slice_elements), table.type)
    return Work(0.0, total_bytes(_read(table, written), written, positions.bytes))


def gather(call: Call) -> Work:
    """``gather(table, dim, index)``: an element for every entry of the index, read and written."""
    table, positions = call.tensor(0), call.tensor(2)
    if table is None or positions is None:
        return UNKNOWN
    written = size_bytes(positions.shape, table.type)
    return Work(0.0, total_bytes(_read(table, written), written, positions.bytes))


def _read(table: Tensor, written_bytes: float | None) -> float | None:
    """Return what is read of a table for a result of `written_bytes`: as much, but no element twice."""
    return min(written_bytes, table.bytes) if written_bytes is not None and table.bytes is not None else None


def scatter(call: Call) -> Work:
    """``scatter``, ``scatter_add``, ``index_add``, ``index_copy``: target elements written, those added to read too."""
    target, positions, values = call.tensor(0), call.tensor(2), call.tensor(3)
    if target is None or positions is None:
        return UNKNOWN
    elements = values.numel if values is not None else positions.numel
    written = size_bytes((elements,), target.type)
    is_added = "add" in call.name
    given = values.bytes if values is not None else 0.0
    return Work(
        float(elements) if is_added else 0.0,
        total_bytes(positions.bytes, given, written, written if is_added else 0.0),
    )


def put(call: Call) -> Work:
    """``index_put``: the values read and written; of the positions, a list, at least what was recorded."""
    target = call.tensor(0)
    # The values are the last tensor; positions that the profiler left out make them the second.
    if target is None or len(call.tensors) < 2 or call.tensors[-1].type != target.type:
        return UNKNOWN
    values, positions = call.tensors[-1], call.tensors[1:-1]
    written = size_bytes(values.shape, target.type)
    return Work(0.0, total_bytes(values.bytes, written, *(tensor.bytes for tensor in positions)))


def embedding_backward(call: Call) -> Work:
    """``embedding_dense_backward(gradient, index, rows)``: each row that was asked for is written.

    The whole table is zeroed first, by an operator of its own (``zero_`` or ``fill_``).
    """
    gradient, positions, num_rows = call.tensor(0), call.tensor(1), call.integer(2)
    if gradient is None or positions is None or num_rows is None:
        return UNKNOWN
    width = gradient.numel // max(positions.numel, 1)
    written = size_bytes((min(num_rows, positions.numel), width), gradient.type)
    return Work(float(gradient.numel), total_bytes(gradient.bytes, positions.bytes, written))


MODELS: dict[str, WorkModel] = {
    "aten::index_select": select,
    "aten::embedding": embedding,
    "aten::gather": gather,
    **{
        f"aten::{name}{suffix}": scatter
        for name in ("scatter", "scatter_add", "index_add", "index_copy")
        for suffix in ("", "_")
    },
    **dict.fromkeys(("aten::_index_put_impl_", "aten::index_put_", "aten::index_put"), put),
    "aten::embedding_dense_backward": embedding_backward,
}
