"""What the rules about shapes say of a step of 10 ms on a device of 1000 TFLOP/s and 4 TB/s."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import CaseAnalysis, Coverage, Cut, Launching, Operator, Timing
from reportgen.findings.evaluate import evaluate
from reportgen.findings.model import Finding, RuleRecord
from reportgen.recording import Ceilings, Device, Environment
from tests.case_builder import host_bound_case, operator
from tests.trace_reading import plain

PEAK = 1000e12


def case(*rows: Operator, **fields: Any) -> CaseAnalysis:
    values: dict[str, Any] = {
        "timing": Timing(step_us=10_000.0, mode="pipelined", basis="unprofiled"),
        "launching": Launching(host_low_us=1000.0),
        "coverage": Coverage(operators=1.0, shapes=1.0),
        "operators": Cut(items=rows, total=len(rows)),
    }
    return host_bound_case(**(values | fields))


def judge(cases: list[CaseAnalysis], rule: str, which: int = -1) -> tuple[RuleRecord, list[Finding]]:
    findings, records = evaluate(cases, Environment())
    name = cases[which].name
    record = next(record for record in records if record.id == rule and record.case == name)
    return record, [finding for finding in findings if finding.rule == rule]


def product(rows: int, inner: int, columns: int, us: float, **fields: Any) -> Operator:
    """Return a half-precision product called once a step, B stored by columns, as a linear layer calls it."""
    flops = 2.0 * rows * inner * columns
    values: dict[str, Any] = {
        "input_shapes": ((rows, inner), (inner, columns)),
        "input_types": ("c10::Half", "c10::Half"),
        "input_strides": ((inner, 1), (1, inner)),
        "device_us_per_step": us,
        "share_of_device": 0.5,
        "family": "matrix product",
        "flops": flops,
        "bytes": 2.0 * (rows * inner + inner * columns + rows * columns),
        "flops_per_s": flops / us * 1e6,
        "ceiling": "float16",
        "bound": "compute",
        "ridge": 250.0,
        "roof_us": flops / PEAK * 1e6,
        "roof_share": flops / PEAK * 1e6 / us,
        "kernels": ("some_kernel",),
    }
    return operator("aten::mm", **(values | fields))


class TestGemmMisaligned:
    # 2 * 8192 * 1024 * 50257 = 843 GFLOP: 0.843 ms at the peak.
    ODD = product(8192, 1024, 50257, 8000.0)

    def test_an_odd_number_of_columns_is_held_against_the_peak_where_nothing_compares(self) -> None:
        record, (finding,) = judge([case(self.ODD)], "gemm-misaligned")

        assert record.outcome == "fired"
        assert finding.gain is not None
        # At 70 % of the peak 1.2045 ms, so 6.795 ms are to be had; 7.157 ms at the peak itself.
        assert finding.gain.at_least_us_per_step == pytest.approx(6795.5, abs=0.1)
        assert finding.gain.at_most_us_per_step == pytest.approx(7156.8, abs=0.1)
        assert finding.confidence == "medium"
        assert finding.evidence[1].text.endswith("multiple of 16 bytes: output")

    def test_an_aligned_product_of_the_same_step_is_the_better_measure(self) -> None:
        aligned = product(8192, 4096, 16384, 1374.4)  # 1.0995 TFLOP at 800 TFLOP/s
        _, (finding,) = judge([case(self.ODD, aligned)], "gemm-misaligned")

        assert finding.gain is not None
        assert finding.gain.at_least_us_per_step == pytest.approx(8000 - 843_172.5 / 800, abs=1)
        assert finding.confidence == "high"

    def test_products_that_one_padding_mends_are_one_finding(self) -> None:
        """The output of one product is an input of the other: both have rows of 50257; a third has rows of 1001."""
        backward = product(8192, 50257, 1024, 6000.0)  # A has the odd rows: 843 GFLOP at 700 TFLOP/s take 1204.5 us
        other = product(8192, 8192, 1001, 2000.0)  # 134 GFLOP: 192 us
        long = Timing(step_us=20_000.0, mode="pipelined", basis="unprofiled")
        _, found = judge([case(self.ODD, backward, other, timing=long)], "gemm-misaligned")

        assert [one.title.partition(" takes ")[0].partition(" take ")[0] for one in found] == [
            "2 products of odd stride",
            "mm with an odd stride",
        ]
        merged = found[0]
        assert merged.gain is not None
        assert merged.gain.at_least_us_per_step == pytest.approx(8000 + 6000 - 2 * 1204.5, abs=1)
        assert [line.value for line in merged.evidence[:2]] == [8000, 6000]
        assert plain(merged.evidence[2].text).endswith("16 bytes: 50 257 elements")

    def test_padding_acquits(self) -> None:
        record, found = judge([case(product(8192, 1024, 50304, 1100.0))], "gemm-misaligned")
        assert (record.outcome, found) == ("passed", [])

    def test_an_odd_number_of_rows_is_harmless(self) -> None:
        record, _ = judge([case(product(8191, 1024, 4096, 1000.0))], "gemm-misaligned")
        assert record.outcome == "passed"

    def test_a_fast_odd_product_is_left_alone(self) -> None:
        record, _ = judge([case(product(8192, 1024, 50257, 1300.0))], "gemm-misaligned")
        assert record.outcome == "passed"

    def test_slow_odd_products_that_are_a_small_part_of_the_step_are_said(self) -> None:
        # 843 GFLOP at 700 TFLOP/s take 1204 of the 8000 us: 6.80 ms less, 0.7 % of a second.
        long = case(self.ODD)
        assert long.timing is not None
        long = msgspec.structs.replace(long, timing=msgspec.structs.replace(long.timing, step_us=1e6))
        record, _ = judge([long], "gemm-misaligned")
        assert record.outcome == "passed"
        assert record.reason is not None
        assert plain(record.reason) == "1 product of odd stride would be 6.80 ms faster aligned, 0.7 % of the step"

    def test_the_gain_ends_at_the_host(self) -> None:
        busy_host = case(self.ODD, launching=Launching(host_low_us=9500.0))
        _, (finding,) = judge([busy_host], "gemm-misaligned")
        assert finding.gain is not None
        assert finding.gain.at_most_us_per_step == 500.0

    def test_without_products_it_does_not_apply(self) -> None:
        record, _ = judge([case(operator("aten::add", device_us_per_step=50.0))], "gemm-misaligned")
        assert record.outcome == "not-applicable"

    def test_without_shapes_nothing_is_evaluated(self) -> None:
        record, _ = judge([case(self.ODD, coverage=Coverage(operators=1.0, shapes=0.0))], "gemm-misaligned")
        assert record.outcome == "not-evaluated"


class TestTensorCoresUnused:
    def test_full_precision_products_fire_at_half_their_time(self) -> None:
        slow = product(4096, 4096, 4096, 4000.0, ceiling="float32", roof_us=2000.0, roof_share=0.5)
        record, (finding,) = judge([case(slow)], "tensor-cores-unused")

        assert (record.outcome, record.value) == ("fired", 0.2)
        assert finding.gain is not None
        assert finding.gain.at_least_us_per_step == 2000.0
        assert finding.beware is not None

    def test_the_device_s_ceiling_tells_what_tf32_gives(self) -> None:
        # 137.4 GFLOP at 70 % of 400 TFLOP/s: 491 us of 4000.
        slow = product(4096, 4096, 4096, 4000.0, ceiling="float32", roof_us=2000.0, roof_share=0.5)
        device = Device(index=0, name="some", ceilings=Ceilings(matmul_flops_per_s={"tf32": 400e12}, method="measured"))
        findings, _ = evaluate([case(slow)], Environment(), devices=[device])
        (finding,) = [one for one in findings if one.rule == "tensor-cores-unused"]

        assert finding.gain is not None
        assert finding.gain.at_least_us_per_step == pytest.approx(4000 - 2 * 4096**3 / (0.7 * 400e12) * 1e6)

    def test_a_tf32_kernel_acquits(self) -> None:
        row = product(4096, 4096, 4096, 4000.0, ceiling="float32", kernels=("sm80_xmma_gemm_tf32f32_tn",))
        assert judge([case(row)], "tensor-cores-unused")[0].outcome == "passed"

    def test_half_precision_is_not_its_subject(self) -> None:
        assert judge([case(product(64, 64, 64, 50.0))], "tensor-cores-unused")[0].outcome == "not-applicable"


def convolution(strides: tuple[int, ...] | None, main_us: float) -> Operator:
    return operator(
        "aten::cudnn_convolution",
        family="convolution",
        input_shapes=((8, 64, 32, 32), (64, 64, 3, 3)),
        input_strides=None if strides is None else (strides, (576, 9, 3, 1)),
        device_us_per_step=1000.0,
        main_kernel_us_per_step=main_us,
        kernels=("convolve", "turn"),
    )


class TestLayoutConversion:
    FIRST, LAST = (65536, 1024, 32, 1), (65536, 1, 2048, 64)

    def test_kernels_beside_the_main_one_of_channels_first_convolutions_count(self) -> None:
        record, (finding,) = judge([case(convolution(self.FIRST, 600.0))], "layout-conversion")
        assert (record.outcome, record.value) == ("fired", 0.04)
        assert finding.gain is not None
        assert (finding.gain.at_least_us_per_step, finding.gain.at_most_us_per_step) == (0.0, 400.0)
        assert finding.beware is not None

    def test_little_beside_the_main_kernel_is_no_matter(self) -> None:
        assert judge([case(convolution(self.FIRST, 900.0))], "layout-conversion")[0].outcome == "passed"

    def test_unknown_strides_are_not_judged(self) -> None:
        assert judge([case(convolution(None, 600.0))], "layout-conversion")[0].outcome == "not-evaluated"


class TestLowRoofline:
    def test_an_operator_far_under_its_roof_is_shown_with_its_headroom(self) -> None:
        row = product(4096, 4096, 4096, 1000.0, roof_us=140.0, roof_share=0.14)
        record, (finding,) = judge([case(row)], "low-roofline")

        assert (record.outcome, record.value) == ("fired", 0.086)
        assert (finding.severity, finding.confidence) == ("low", "low")

    @pytest.mark.parametrize(
        "row",
        [
            product(4096, 4096, 4096, 1000.0, roof_us=600.0, roof_share=0.6),
            product(64, 64, 64, 900.0, calls_per_step=100.0, roof_us=1.0, roof_share=0.11),
            product(8192, 1024, 50257, 8000.0),
        ],
        ids=["ordinary", "short-kernels", "explained-by-its-stride"],
    )
    def test_what_is_ordinary_short_or_explained_elsewhere_is_not(self, row: Operator) -> None:
        assert judge([case(row)], "low-roofline")[0].outcome == "passed"

    def test_without_ceilings_it_is_not_evaluated(self) -> None:
        row = product(64, 64, 64, 900.0, roof_us=None, roof_share=None, bound=None)
        assert judge([case(row)], "low-roofline")[0].outcome == "not-evaluated"


class TestPhaseContrast:
    PREFILL = case(product(512, 4096, 4096, 500.0), name="prefill", phase="prefill")
    DECODE = case(product(1, 4096, 4096, 20.0, bound="memory"), name="decode", phase="decode")

    def test_decode_beside_prefill_says_what_limits_each(self) -> None:
        record, (finding,) = judge([self.PREFILL, self.DECODE], "phase-contrast")
        assert record.outcome == "fired"
        assert finding.case == "decode"
        assert finding.severity == "info"
        assert finding.title == "Matrix product: limited by arithmetic in prefill, by memory in decode"

    def test_one_phase_alone_has_no_contrast(self) -> None:
        assert judge([self.DECODE], "phase-contrast")[0].outcome == "not-applicable"
