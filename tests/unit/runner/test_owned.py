import time

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture
def training():
    torch = pytest.importorskip("torch")
    from reportgen.workload import Step

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8))
    optimizer = torch.optim.Adam(model.parameters())

    def run():
        optimizer.zero_grad(set_to_none=True)
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    return Step(run, model=model, optimizer=optimizer)


def test_parameters_optimizer_state_and_gradients_are_told_apart(training):
    from reportgen.runner.owned import OwnedStorages

    before_us = time.time_ns() / 1e3
    with OwnedStorages(training) as owned:
        training.run()
        training.run()
    rows = owned.all()
    by_category = {
        name: [row for row in rows if row.category == name] for name in ("parameters", "optimizer", "gradients")
    }

    # Linear: weight 4x8 and bias 8; BatchNorm: weight, bias, two running statistics of 8 and a counter of 8 bytes.
    assert sum(row.bytes for row in by_category["parameters"]) == 4 * (32 + 8 + 4 * 8) + 8
    # Adam: two moments a parameter and a counter of 4 bytes for each of the four.
    assert sum(row.bytes for row in by_category["optimizer"]) == 2 * 4 * (32 + 8 + 8 + 8) + 4 * 4
    # Four gradients in each of two steps, each with the time at which it was seen.
    assert len(by_category["gradients"]) == 8
    assert all(row.time_us >= before_us for row in by_category["gradients"])
    assert all(row.time_us == -1 for row in by_category["parameters"])
    assert training.model[0].weight.data_ptr() in {row.address for row in by_category["parameters"]}


def test_gradients_are_noted_only_while_the_context_is_open(training):
    from reportgen.runner.owned import OwnedStorages

    with OwnedStorages(training) as owned:
        pass
    training.run()

    assert not [row for row in owned.all() if row.category == "gradients"]


def test_a_step_without_a_model_owns_nothing():
    pytest.importorskip("torch")
    from reportgen.runner.owned import OwnedStorages
    from reportgen.workload import Step

    with OwnedStorages(Step(lambda: None, model=None)) as owned:
        assert owned.all() == []
