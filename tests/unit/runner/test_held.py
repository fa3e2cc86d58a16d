"""What the step's functions hold besides the model: a prompt, a cache, and never the model itself."""

import pytest

pytestmark = pytest.mark.torch


class KeyCache:
    """A cache as transformers have it: layers with tensors of their own."""

    def __init__(self, layers):
        self.layers = layers


def test_a_prompt_is_an_input_and_what_a_cache_holds_is_cache():
    torch = pytest.importorskip("torch")
    from reportgen.runner.held import tensors_held
    from reportgen.workload import Step

    model, prompt = torch.nn.Linear(2, 2), torch.ones(3)
    cache = KeyCache([{"keys": torch.zeros(4)}, {"keys": torch.zeros(5)}])

    def run():
        return model(prompt), cache

    held = [(kind, len(tensor)) for kind, tensor in tensors_held(Step(run, model=model))]

    assert sorted(held) == [("cache", 4), ("cache", 5), ("inputs", 3)]


def test_a_closure_that_refers_to_itself_ends():
    torch = pytest.importorskip("torch")
    from reportgen.runner.held import tensors_held
    from reportgen.workload import Step

    ring = [torch.ones(2)]
    ring.append(ring)

    assert len(list(tensors_held(Step(lambda: ring, model=None)))) == 1


def test_a_workload_may_hold_nothing():
    pytest.importorskip("torch")
    from reportgen.runner.held import tensors_held
    from reportgen.workload import Step

    assert list(tensors_held(Step(int, model=None))) == []
