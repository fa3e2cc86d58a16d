"""Operations and least bytes of every family, counted by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reportgen.analysis.work_models import Call, Work, model_of

HALF, FLOAT, LONG, BF16 = "c10::Half", "float", "long int", "c10::BFloat16"
NO = ("", "", ())  # an input that is not given


def work(name: str, *inputs: tuple[Any, ...], list_type: str | None = None) -> Work:
    """Return the work of a call whose inputs are (type, scalar as text, shape[, strides]) each."""
    call = Call(
        name=name,
        types=tuple(given[0] for given in inputs),
        values=tuple(given[1] for given in inputs),
        shapes=tuple(given[2] for given in inputs),
        strides=tuple(given[3] if len(given) > 3 else _contiguous(given[2]) for given in inputs),
        list_type=list_type,
    )
    model = model_of(name)
    assert model is not None
    return model.work(call)


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[position + 1 :]) for position in range(len(shape)))


def half(*shape: int) -> tuple[str, str, tuple[int, ...]]:
    return (HALF, "", shape)


def floats(*shape: int) -> tuple[str, str, tuple[int, ...]]:
    return (FLOAT, "", shape)


def listed(*shape: int) -> tuple[str, str, tuple[int, ...]]:
    return ("TensorList", "", shape)


def scalar(text: str) -> tuple[str, str, tuple[int, ...]]:
    return ("Scalar", text, ())


def numbers(text: str) -> tuple[str, str, tuple[int, ...]]:
    return ("ScalarList", text, ())


class TestProducts:
    def test_mm(self) -> None:
        # 2x3 by 3x4: 2 * 2*4*3 operations; 6 + 12 + 8 elements of 2 bytes.
        assert work("aten::mm", half(2, 3), half(3, 4)) == Work(48.0, 52.0)

    def test_addmm_reads_its_bias_once(self) -> None:
        assert work("aten::addmm", half(4), half(2, 3), half(3, 4), scalar("1"), scalar("1")) == Work(48.0, 60.0)

    def test_bmm_and_baddbmm(self) -> None:
        assert work("aten::bmm", floats(5, 2, 3), floats(5, 3, 4)) == Work(240.0, 5 * 26 * 4.0)
        assert work("aten::baddbmm", floats(5, 2, 4), floats(5, 2, 3), floats(5, 3, 4)) == Work(240.0, 5 * 34 * 4.0)

    def test_a_factor_expanded_over_the_batch_is_read_once(self) -> None:
        expanded = (FLOAT, "", (5, 3, 4), (0, 4, 1))
        assert work("aten::bmm", floats(5, 2, 3), expanded).bytes == (5 * 6 + 12 + 5 * 8) * 4.0

    def test_linear_counts_leading_dimensions_as_rows(self) -> None:
        assert work("aten::linear", half(5, 2, 3), half(4, 3), half(4)).flops == 2.0 * 10 * 3 * 4

    def test_matmul_broadcasts_batches(self) -> None:
        assert work("aten::matmul", floats(7, 1, 2, 3), floats(5, 3, 4)).flops == 2.0 * 35 * 2 * 3 * 4

    def test_a_product_of_8_bit_factors_writes_the_type_asked_for(self) -> None:
        eight = ("c10::Float8_e4m3fn", "", (16, 32))
        turned = ("c10::Float8_e4m3fn", "", (32, 16), (1, 32))
        found = work("aten::_scaled_mm", eight, turned, floats(), floats(), NO, NO, scalar("15"), scalar("False"))
        assert found == Work(2.0 * 16 * 16 * 32, 512 + 512 + 4 + 4 + 256 * 2.0)

    def test_shapes_that_do_not_fit_are_unknown(self) -> None:
        assert work("aten::mm", half(2, 3), half(4, 4)) == Work(None, None)


class TestAttention:
    QUERY = half(2, 4, 8, 16)

    def flash(self, key: tuple[str, str, tuple[int, ...]], causal: str) -> Work:
        inputs = (self.QUERY, key, key, scalar("0."), scalar(causal), scalar("False"))
        return work("aten::_scaled_dot_product_flash_attention", *inputs)

    def test_two_products_of_queries_and_keys(self) -> None:
        # 8x8 pairs in 2x4 heads, 2 * 16 operations each, twice; four tensors of 1024 elements.
        assert self.flash(self.QUERY, "False") == Work(2.0 * 64 * 8 * 32, 4 * 1024 * 2.0)

    def test_a_causal_mask_leaves_a_triangle(self) -> None:
        assert self.flash(self.QUERY, "True").flops == 2.0 * 36 * 8 * 32

    def test_grouped_heads_read_their_keys_once(self) -> None:
        found = self.flash(half(2, 1, 8, 16), "False")
        assert found == Work(2.0 * 64 * 8 * 32, (2 * 1024 + 2 * 256) * 2.0)

    def test_one_query_over_a_long_cache(self) -> None:
        query, cache = half(2, 4, 1, 16), half(2, 4, 100, 16)
        inputs = (query, cache, cache, NO, scalar("False"), scalar("0."), scalar("False"), scalar("False"), NO)
        found = work("aten::_scaled_dot_product_cudnn_attention", *inputs)
        assert found == Work(2.0 * 100 * 8 * 32, (128 + 2 * 12800 + 128) * 2.0)

    @pytest.mark.parametrize(
        ("name", "inputs"),
        [
            (
                "aten::_scaled_dot_product_efficient_attention",
                (QUERY, QUERY, QUERY, NO, scalar("False"), scalar("0."), scalar("True")),
            ),
            (
                "aten::_cudnn_attention_forward",
                (QUERY, QUERY, QUERY, *(NO,) * 3, *(scalar("8"),) * 2, *map(scalar, ("False", "0.", "True", "False"))),
            ),
            ("aten::_scaled_dot_product_flash_attention_for_cpu", (QUERY, QUERY, QUERY, scalar("0."), scalar("True"))),
            (
                "aten::_flash_attention_forward",
                (half(2, 8, 4, 16),) * 3 + (NO, NO, scalar("8"), scalar("8"), scalar("0."), scalar("True")),
            ),
            (
                "aten::_efficient_attention_forward",
                (half(2, 8, 4, 16),) * 3 + (NO, NO, NO, NO, NO, scalar("0."), scalar("1"), scalar("False")),
            ),
        ],
    )
    def test_every_backend_counts_the_same(self, name: str, inputs: tuple[Any, ...]) -> None:
        assert work(name, *inputs) == Work(2.0 * 36 * 8 * 32, 4 * 1024 * 2.0)

    def test_packed_sequences_count_as_equally_long(self) -> None:
        # 24 tokens in 3 sequences: 3 x 8x8 pairs in 4 heads.
        packed, offsets = half(24, 4, 16), ("int", "", (4,))
        inputs = (packed, packed, packed, offsets, offsets, scalar("8"), scalar("8"), scalar("0."), scalar("False"))
        assert work("aten::_flash_attention_forward", *inputs).flops == 2.0 * 3 * 64 * 4 * 32

    def test_backward_makes_five_products(self) -> None:
        statistics, words = floats(2, 4, 8), ("long int", "", ())
        inputs = (self.QUERY,) * 5 + (statistics, NO, NO, scalar("8"), scalar("8"), scalar("0."), scalar("False"))
        found = work("aten::_scaled_dot_product_flash_attention_backward", *inputs, words, words)
        # Gradient, three inputs and the output are read, three gradients written.
        assert found == Work(2.0 * 64 * 8 * 5 * 16, 8 * 1024 * 2.0)


class TestConvolutions:
    # 2 images of 3x8x8, 5 filters of 3x3, stride 2 and padding 1: 4x4 points.
    IMAGES, FILTERS = floats(2, 3, 8, 8), floats(5, 3, 3, 3)

    def test_forward_of_cudnn(self) -> None:
        lists = (numbers("[1, 1]"), numbers("[2, 2]"), numbers("[1, 1]"), scalar("1"))
        found = work("aten::cudnn_convolution", self.IMAGES, self.FILTERS, *lists)
        assert found == Work(2.0 * 2 * 16 * 135, (384 + 135 + 160) * 4.0)

    def test_groups_multiply_fewer_channels(self) -> None:
        lists = (numbers("[1, 1]"), numbers("[1, 1]"), numbers("[1, 1]"), scalar("3"))
        found = work("aten::cudnn_convolution", self.IMAGES, floats(3, 1, 3, 3), *lists)
        assert found.flops == 2.0 * 2 * 64 * 27

    def test_a_transposed_one_scatters_from_its_input(self) -> None:
        lists = (numbers("[2, 2]"), numbers("[0, 0]"), numbers("[1, 1]"), scalar("True"), numbers("[0, 0]"))
        found = work("aten::convolution", floats(2, 5, 4, 4), floats(5, 3, 2, 2), NO, *lists, scalar("1"))
        assert found == Work(2.0 * 2 * 16 * 60, (160 + 60 + 2 * 3 * 64) * 4.0)

    @pytest.mark.parametrize(("mask", "times"), [("[True, True, False]", 2), ("[False, True, True]", 1)])
    def test_backward_costs_a_forward_for_each_gradient(self, mask: str, times: int) -> None:
        lists = (NO, numbers("[2, 2]"), numbers("[1, 1]"), numbers("[1, 1]"), scalar("False"), numbers("[0, 0]"))
        inputs = (floats(2, 5, 4, 4), self.IMAGES, self.FILTERS, *lists, scalar("1"), numbers(mask))
        assert work("aten::convolution_backward", *inputs).flops == times * 2.0 * 2 * 16 * 135

    def test_without_its_stride_the_work_is_unknown(self) -> None:
        assert work("aten::cudnn_convolution", self.IMAGES, self.FILTERS, NO, NO, NO) == Work(None, None)


class TestTheRest:
    def test_elementwise_reads_every_input_and_writes_the_result(self) -> None:
        assert work("aten::add", half(4, 5), half(5), scalar("1")) == Work(20.0, (20 + 5 + 20) * 2.0)

    def test_an_out_is_written_and_not_read(self) -> None:
        assert work("aten::add", half(4, 5), half(4, 5), scalar("1"), half(4, 5)).bytes == 3 * 20 * 2.0
        assert work("aten::exp", half(4, 5), half(4, 5)).bytes == 2 * 20 * 2.0

    def test_a_result_has_the_wider_type(self) -> None:
        assert work("aten::mul", half(4, 5), floats(4, 5)).bytes == 20 * (2 + 4 + 4.0)

    def test_in_place_writes_the_first_input(self) -> None:
        assert work("aten::add_", half(4, 5), floats(4, 5), scalar("1")).bytes == 20 * (2 + 4 + 2.0)

    def test_a_comparison_writes_bytes(self) -> None:
        assert work("aten::eq", floats(4, 5), scalar("0")).bytes == 20 * (4 + 1.0)

    def test_a_mask_chooses_between_values(self) -> None:
        assert work("aten::where", ("bool", "", (4, 5)), half(4, 5), half(4, 5)).bytes == 20 * (1 + 2 + 2 + 2.0)

    def test_a_cast_reads_one_type_and_writes_the_other(self) -> None:
        assert work("aten::copy_", half(4, 5), floats(4, 5), scalar("False")) == Work(0.0, 20 * 6.0)

    def test_an_expanded_source_is_read_as_it_is_stored(self) -> None:
        assert work("aten::copy_", half(4, 5), (HALF, "", (4, 5), (0, 1)), scalar("False")).bytes == (20 + 5) * 2.0

    def test_a_list_has_the_type_that_stands_in_for_it(self) -> None:
        assert work("aten::cat", listed(4, 5), listed(2, 5), scalar("0"), list_type=HALF).bytes == 2 * 30 * 2.0
        assert work("aten::cat", listed(4, 5), listed(2, 5), scalar("0")).bytes is None

    def test_layer_norm_keeps_two_statistics_a_row(self) -> None:
        found = work("aten::native_layer_norm", half(6, 10), numbers("[10]"), half(10), half(10), scalar("1e-5"))
        assert found == Work(8.0 * 60, (60 + 60 + 20) * 2 + 6 * 2 * 4.0)

    def test_batch_norm(self) -> None:
        found = work("aten::cudnn_batch_norm", floats(2, 3, 4, 4), *[floats(3)] * 4, scalar("True"))
        assert found == Work(8.0 * 96, (96 + 96 + 12) * 4.0)

    def test_layer_norm_backward_writes_three_gradients(self) -> None:
        inputs = (half(6, 10), half(6, 10), numbers("[10]"), floats(6, 1), floats(6, 1), half(10), half(10))
        found = work("aten::native_layer_norm_backward", *inputs, numbers("[True, True, True]"))
        assert found.bytes == (60 + 60 + 20) * 2 + 12 * 4 + (60 + 20) * 2.0

    def test_softmax_into_a_wider_type(self) -> None:
        assert work("aten::_softmax", half(6, 10), scalar("-1"), scalar("True")) == Work(300.0, 60 * (2 + 4.0))

    def test_softmax_backward(self) -> None:
        found = work("aten::_softmax_backward_data", half(6, 10), half(6, 10), scalar("-1"), scalar("5"))
        assert found == Work(240.0, 3 * 60 * 2.0)

    def test_a_loss_picks_one_element_a_row(self) -> None:
        inputs = (floats(6, 1000), (LONG, "", (6,)), NO, scalar("1"), scalar("-100"))
        assert work("aten::nll_loss_forward", *inputs).bytes == 6 * (4 + 8.0)

    @pytest.mark.parametrize(("dimensions", "left"), [("[]", 1), ("[-1]", 6), ("[0]", 10), ("[0, 1]", 1)])
    def test_a_reduction_writes_what_is_left(self, dimensions: str, left: int) -> None:
        found = work("aten::sum", floats(6, 10), numbers(dimensions), scalar("False"), NO)
        assert found == Work(60.0, (60 + left) * 4.0)

    def test_an_embedding_touches_the_rows_asked_for(self) -> None:
        found = work("aten::embedding", half(50257, 8), (LONG, "", (2, 3)), scalar("-1"))
        assert found.bytes == 2 * 6 * 8 * 2 + 6 * 8.0

    def test_index_select_along_a_dimension(self) -> None:
        assert work("aten::index_select", floats(7, 9), scalar("1"), (LONG, "", (2,))).bytes == 2 * 14 * 4 + 2 * 8.0

    def test_gather_reads_one_element_for_each_index(self) -> None:
        found = work("aten::gather", half(50, 8), scalar("0"), (LONG, "", (6, 8), (1, 0)), scalar("False"))
        assert found.bytes == 2 * 48 * 2 + 6 * 8.0

    def test_a_small_table_is_read_once_however_often_its_rows_are_asked_for(self) -> None:
        found = work("aten::gather", half(2, 8), scalar("0"), (LONG, "", (60, 8), (1, 0)), scalar("False"))
        assert found.bytes == 2 * 8 * 2 + 60 * 8 * 2 + 60 * 8.0
        assert work("aten::embedding", half(2, 8), (LONG, "", (60,)), scalar("-1")).bytes == found.bytes

    def test_a_generated_kernel_may_read_a_part_of_what_an_index_points_into(self) -> None:
        assert work("triton_red_fused_embedding_0", (LONG, "", (1, 512)), half(50257, 768), half(512, 768)) == Work(
            None, None
        )
        assert work("triton_poi_fused_add_1", (LONG, "", (512,)), (LONG, "", (512,))) == Work(None, 2 * 512 * 8.0)

    def test_the_gradient_of_an_embedding_is_written_where_it_was_asked_for(self) -> None:
        found = work("aten::embedding_dense_backward", floats(2, 3, 8), (LONG, "", (2, 3)), scalar("100"))
        assert found.bytes == 48 * 4 + 6 * 8 + 48 * 4.0
        small = work("aten::embedding_dense_backward", floats(2, 3, 8), (LONG, "", (2, 3)), scalar("2"))
        assert small.bytes == 48 * 4 + 6 * 8 + 2 * 8 * 4.0

    def test_adam_reads_four_lists_and_writes_three(self) -> None:
        lists = [listed(10), listed(2, 5)] * 4 + [listed(), listed()]
        tail = [scalar("0.1")] * 5 + [scalar("False"), scalar("False"), NO, NO]
        assert work("aten::_fused_adamw_", *lists, *tail, list_type=FLOAT) == Work(16.0 * 20, 7 * 20 * 4.0)

    def test_a_squared_gradient_is_read_once(self) -> None:
        """``moment.addcmul_(gradient, gradient)``: moment read and written, and what may be one tensor twice."""
        assert work("aten::addcmul_", floats(6, 10), floats(6, 10), floats(6, 10), scalar("1")).bytes == 3 * 60 * 4.0
        assert (
            work("aten::addcmul_", floats(6, 10), floats(6, 10), floats(10), scalar("1")).bytes == (3 * 60 + 10) * 4.0
        )
        lists = [listed(10), listed(2, 5)] * 3
        assert work("aten::_foreach_addcmul_", *lists, scalar("1"), list_type=FLOAT).bytes == 3 * 20 * 4.0

    def test_a_list_too_long_to_be_recorded_is_unknown(self) -> None:
        assert work("aten::_fused_adamw_", *[listed()] * 6, list_type=FLOAT) == Work(None, None)

    @pytest.mark.parametrize(
        ("name", "lists", "passes"),
        [("sqrt", 1, 2), ("mul_", 1, 2), ("add_", 2, 3), ("addcdiv_", 3, 4)],
    )
    def test_operators_over_lists(self, name: str, lists: int, passes: int) -> None:
        inputs = [listed(10), listed(2, 5)] * lists
        found = work(f"aten::_foreach_{name}", *inputs, scalar("1"), list_type=FLOAT)
        assert found == Work(20.0, passes * 20 * 4.0)

    def test_a_generated_kernel_moves_its_tensors_and_keeps_its_arithmetic_to_itself(self) -> None:
        found = work("triton_poi_fused_add_0", half(4, 5), half(4, 5), scalar("20"))
        assert found == Work(None, 2 * 20 * 2.0)

    def test_an_unknown_operator_has_no_model(self) -> None:
        assert model_of("mine::special") is None
