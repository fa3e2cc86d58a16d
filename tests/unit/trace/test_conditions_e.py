"""Conditions E1, E2, E4, E6, E7, E8 of docs/conditions.md: what is work, what is not, and whose it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.trace.columns import Trace
from tests.trace_builder import activity, kernel, launch, op, span, step
from tests.trace_reading import busy_us, device_us_by_operator, notices, plain

Read = Callable[..., Trace]


def test_e1_device_time_is_the_innermost_operators(read: Read) -> None:
    trace = read(op("A", 0, 20), op("B", 1, 10), launch(2, 1, 1), kernel(30, 10, 1))

    assert device_us_by_operator(trace) == {"A": 0, "B": 10}


def test_e2_spans_of_annotations_on_the_device_are_neither_work_nor_steps(read: Read) -> None:
    on_device = [span("gpu_user_annotation", name, 20, 100, pid=0, tid=7) for name in ("ProfilerStep#1", "forward")]
    trace = read(step(1, 0, 100), *on_device, launch(1, 1, 1), kernel(30, 10, 1))

    assert trace.steps.number.tolist() == [1]
    assert busy_us(trace) == 10


def test_e4_a_wait_of_a_stream_is_no_work(read: Read) -> None:
    trace = read(launch(0, 1, 1), kernel(2, 5, 1), activity("cuda_sync", "Stream Wait Event", 2, 1000, 2))

    assert busy_us(trace) == 5
    assert len(trace.stream_syncs.name) == 1


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
        "NCCLDEVKERNEL_ALLGATHER_RING_LL",
        "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void mscclpp::allreduce<float>()",
        "two_shot_all_reduce_kernel",
        "void deep_ep::internode::dispatch<false, 8>()",
        "oneccl_allreduce_large_bf16",
    ],
)
def test_e6_communication_is_recognised_in_several_spellings(read: Read, name: str) -> None:
    trace = read(launch(0, 1, 1), kernel(2, 5, 1, name=name), distributedInfo={"rank": 0, "world_size": 8})

    assert trace.activities.communication.tolist() == [True]
    assert "communication-not-recorded" not in notices(trace)


@pytest.mark.parametrize(
    "name",
    [
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()",
        "triton_poi_fused_add_all_reduce_wait_tensor_0",
        "void cub::DeviceReduceKernel<>()",
        "void at::native::vectorized_gather_kernel<16, long>()",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256",
    ],
)
def test_e6_compute_is_no_communication(read: Read, name: str) -> None:
    assert read(launch(0, 1, 1), kernel(2, 5, 1, name=name)).activities.communication.tolist() == [False]


def test_e6_several_ranks_without_communication_are_said(read: Read) -> None:
    events = (launch(0, 1, 1), kernel(2, 5, 1))

    assert "communication-not-recorded" in notices(read(*events, distributedInfo={"rank": 3, "world_size": 8}))
    assert "communication-not-recorded" not in notices(read(*events, distributedInfo={"rank": 0, "world_size": 1}))
    assert "communication-not-recorded" not in notices(read(*events))


def test_e7_a_kernel_belongs_to_the_step_that_launched_it_though_it_runs_in_the_next(read: Read) -> None:
    trace = read(step(1, 0, 10), launch(1, 1, 1), kernel(12, 8, 1), step(2, 10, 20))

    assert trace.activities.step.tolist() == [0]


def test_e8_the_profilers_own_work_is_told_from_the_drivers(read: Read) -> None:
    overheads = [
        span("overhead", "Activity Buffer Request", 500, 2900, tid=-1),
        span("overhead", "Command Buffer Full", 4000, 100),
        span("overhead", "Lazy Function Loading", 5000, 100),
    ]
    launches = [launch(5 * n, 5, n + 1) for n in range(100)]
    trace = read(*launches, launch(500, 3000, 101), *overheads, *(kernel(6000 + n, 1, n + 1) for n in range(101)))

    assert len(trace.overheads.name) == 3
    notice = notices(trace)["profiler-at-work"]
    assert notice.count == 1
    assert "2.90 ms" in plain(notice.text)
