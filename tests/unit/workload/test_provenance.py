import types

import pytest

from reportgen.workload.provenance import describe_lengths, describe_loader


def test_lengths_and_the_share_of_padding():
    # 10 + 20 + 30 of 3 x 30 positions are tokens: a third is padding.
    assert describe_lengths([10, 20, 30], 30) == {
        "lengths": "10 to 30 tokens, median 20 of 3 sequences",
        "padding": "33.3\N{NO-BREAK SPACE}% of the computed positions",
    }


def test_each_sequence_may_be_padded_to_its_own_batch():
    assert describe_lengths([10, 10, 40, 40], [10, 10, 40, 40])["padding"] == "none"


def test_one_sequence_has_one_length():
    assert describe_lengths([322], 322)["lengths"] == "322\N{NO-BREAK SPACE}tokens in one sequence"


@pytest.mark.parametrize(("lengths", "padded"), [([], 4), ([1, 2], [2]), ([5], 4)])
def test_what_does_not_fit_together_is_refused(lengths, padded):
    with pytest.raises(ValueError, match="sequence"):
        describe_lengths(lengths, padded)


def test_a_loader_says_how_it_loads():
    plain = types.SimpleNamespace(num_workers=0, pin_memory=False)
    busy = types.SimpleNamespace(num_workers=2, pin_memory=True, prefetch_factor=4, persistent_workers=False)

    assert describe_loader(plain) == {"loader": "in the loop's own process"}
    assert describe_loader(busy) == {
        "loader": "2 worker processes, pinned memory, 4 batches ahead each, workers started anew each epoch"
    }
