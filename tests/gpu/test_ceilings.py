"""Measured ceilings, and operators whose place under them is known, on a real device."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.analysis.comparison import compare_cases
from reportgen.analysis.inputs import load_recorded
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.recording import Recording
from tests.analyzing import analyze_case

pytestmark = pytest.mark.gpu
WORKLOADS = Path(__file__).parent / "workloads"
# One H200, measured apart from this program: a bf16 product of 8192 x 8192, and a copy, read plus written.
H200_BFLOAT16, H200_COPY = 799e12, 4.30e12
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


@pytest.fixture(scope="module", autouse=True)
def device_name() -> str:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    return str(torch.cuda.get_device_name())


def recorded(name: str, folder: Path, *sweeps: str) -> Recording:
    from reportgen.runner.run import RunOptions, record

    return record(WORKLOADS / f"{name}.py", lambda *_: folder / "recording", RunOptions(device="cuda", sweeps=sweeps))


def analyzed(recording: Recording) -> dict[str, CaseAnalysis]:
    return {case.name: analyze_case(load_recorded(recording, case).inputs) for case in recording.manifest.cases}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        return recorded("roofline_cases", tmp_path_factory.mktemp("cases"))


@pytest.fixture(scope="module")
def cases(recording: Recording) -> dict[str, CaseAnalysis]:
    return analyzed(recording)


def heaviest(case: CaseAnalysis) -> Operator:
    return max(case.operators.items, key=lambda row: row.device_us_per_step or 0.0)


def test_ceilings_agree_with_a_measurement_apart(recording: Recording, device_name: str) -> None:
    ceilings = recording.manifest.devices[0].ceilings
    print(ceilings)
    assert ceilings.method == "measured"
    if device_name != "NVIDIA H200":
        pytest.skip(f"the figures to compare with are those of an H200, not of {device_name}")
    assert ceilings.matmul_flops_per_s["bfloat16"] == pytest.approx(H200_BFLOAT16, rel=0.05)
    assert ceilings.copy_bytes_per_s == pytest.approx(H200_COPY, rel=0.05)


def test_a_large_product_reaches_the_roof(cases: dict[str, CaseAnalysis]) -> None:
    row = heaviest(cases["product"])
    print(row)
    assert row.bound == "compute"
    assert row.roof_share is not None
    assert 0.90 <= row.roof_share <= 1.02


def test_a_large_sum_reaches_the_bandwidth(cases: dict[str, CaseAnalysis]) -> None:
    row = heaviest(cases["add"])
    print(row)
    assert row.bound == "memory"
    assert row.roof_share is not None
    assert row.roof_share > 0.85


def test_a_linear_layer_for_one_token_is_limited_by_memory(cases: dict[str, CaseAnalysis]) -> None:
    row = heaviest(cases["linear"])
    print(row)
    assert row.bound == "memory"
    utilisation = cases["linear"].utilisation
    assert utilisation is not None
    # Eight layers of 4096 x 14336 in bf16, ten times over, and little else.
    assert utilisation.floor_bytes_per_step == pytest.approx(10 * 8 * 4096 * 14336 * 2, rel=0.01)


def test_a_small_product_is_limited_by_being_launched(cases: dict[str, CaseAnalysis]) -> None:
    row = heaviest(cases["small"])
    print(row)
    assert row.bound == "latency"


def test_a_sweep_over_the_batch_finds_where_products_turn(tmp_path: Path) -> None:
    sweep = "batch=" + ",".join(map(str, BATCHES))
    found = analyzed(recorded("decode_sweep", tmp_path, sweep))
    comparison = compare_cases(tuple(found.values()))

    assert comparison is not None
    assert comparison.parameter == "batch"
    turns = {turn.weight_shape: turn for turn in comparison.turns}
    print(turns)
    for weight in ((4096, 14336), (14336, 4096)):
        turn = turns[weight]
        assert turn.predicted is not None
        assert turn.measured is not None
        assert 1 / 1.5 < turn.predicted / turn.measured < 1.5
