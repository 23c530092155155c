"""Tests for sampling filters and for the frequencies of sampled tokens."""

import pytest
import torch
from torch.testing import assert_close

from transformer_lab.generation.sampling import check_logits, filter_logits, greedy, make_sampler, sample_next

PROBABILITIES = torch.tensor([[0.1, 0.4, 0.2, 0.3]])


def filtered(**options):
    return filter_logits(PROBABILITIES.log(), **options).softmax(-1)[0].tolist()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_k": 1}, [0, 1, 0, 0]),
        ({"top_k": 2}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_k": 9}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_p": 0.01}, [0, 1, 0, 0]),
        ({"top_p": 0.39}, [0, 1, 0, 0]),
        ({"top_p": 0.41}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.69}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.71}, [0, 4 / 9, 2 / 9, 3 / 9]),
        ({"top_p": 1.0}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_k": 3, "top_p": 0.75}, [0, 4 / 7, 0, 3 / 7]),  # after top_k, 0.4 and 0.3 make up 78 % of the probability
        ({"min_p": 0.49}, [0, 4 / 9, 2 / 9, 3 / 9]),
        ({"min_p": 0.51}, [0, 4 / 7, 0, 3 / 7]),
        ({"min_p": 1.0}, [0, 1, 0, 0]),
        ({"min_p": 0.26, "temperature": 0.5}, [0, 16 / 25, 0, 9 / 25]),
        ({"temperature": 0.5}, [1 / 30, 16 / 30, 4 / 30, 9 / 30]),
        ({"temperature": 0.5, "top_p": 0.8}, [0, 16 / 25, 0, 9 / 25]),
    ],
    ids=str,
)
def test_filtered_probabilities_match_expected_values(options, expected):
    assert filtered(**options) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("top_p", [0.75, 1.0])
def test_top_p_keeps_the_smallest_sufficient_set(top_p, dtype):
    logits = 4 * torch.randn(1, 50_021, generator=torch.Generator().manual_seed(5)).to(dtype)
    ranked, total, n = logits[0].double().softmax(0).sort(descending=True).values.tolist(), 0.0, 0
    while top_p < 1 and total < top_p:
        total, n = total + ranked[n], n + 1
    kept = filter_logits(logits, top_p=top_p).isfinite()
    assert int(kept.sum()) == (n or 50_021)
    assert not n or logits[kept].min() >= logits[~kept].max()


def test_filters_each_row_independently():
    rows = torch.tensor([[3.0, 2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 9.0, 0.0, 1.0]])
    together = filter_logits(rows, 0.7, 3, 0.95)
    assert_close(together, torch.cat([filter_logits(row[None], 0.7, 3, 0.95) for row in rows]))


def test_top_k_keeps_exactly_k_tied_tokens():
    assert int(filter_logits(torch.zeros(1, 9), top_k=4).isfinite().sum()) == 4


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_greedy_picks_the_first_of_tied_tokens(rows):
    logits = torch.tensor([[0.0, 2.0, 2.0, -torch.inf], [3.0, 3.0, 3.0, 3.0], [-torch.inf, -1.0, 0.0, 0.0]])[:rows]
    assert greedy(logits).tolist() == [1, 0, 2][:rows]


@pytest.mark.parametrize(
    "options", [{}, {"top_k": 3}, {"top_p": 0.8}, {"temperature": 2.0, "top_k": 4, "top_p": 0.9}], ids=str
)
def test_sample_frequencies_match_probabilities(options):
    logits = torch.randn(1, 7, generator=torch.Generator().manual_seed(1))
    n = 30_000
    drawn = sample_next(logits.expand(n, 7), **options, generator=torch.Generator().manual_seed(2))
    expected = filter_logits(logits, **options).softmax(-1)[0].double() * n
    counts = drawn.bincount(minlength=7)
    assert (counts[expected == 0] == 0).all()
    kept = expected > 0
    assert ((counts[kept] - expected[kept]) ** 2 / expected[kept]).sum() < 22.5  # p = 0.001 with 6 degrees of freedom


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("temperature", [1e-30, 1e-45, 1e-300])
def test_tiny_temperature_does_not_overflow(temperature, dtype):
    logits = torch.tensor([[3.0, 200.0, -5.0], [90.0, 1.0, 2.0]], dtype=dtype)
    assert sample_next(logits, temperature).tolist() == [1, 0]


def test_generator_determines_the_samples():
    logits = torch.zeros(5, 11)
    before = torch.get_rng_state()
    first, second = (sample_next(logits, generator=torch.Generator().manual_seed(3)) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0.0},
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"min_p": 0.0},
        {"min_p": 1.5},
    ],
    ids=str,
)
def test_rejects_invalid_sampling_options(options):
    [(name, value)] = options.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        filter_logits(PROBABILITIES.log(), **options)


def test_make_sampler_rejects_options_immediately():
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    assert make_sampler(0.0)(logits).tolist() == make_sampler(9.0, top_k=1)(logits).tolist() == [1]
    with pytest.raises(ValueError, match="temperature=-1"):
        make_sampler(-1.0)


@pytest.mark.parametrize("wrong", [[0.0, torch.nan, 1.0], [0.0, torch.inf, 1.0], [-torch.inf] * 3], ids=str)
def test_rejects_logits_that_define_no_distribution(wrong):
    valid = [-torch.inf, 0.0, 5.0]
    check_logits(torch.tensor([valid, valid]))
    with pytest.raises(ValueError, match=r"the maximum of row 1 of the logits is (nan|inf|-inf): check for NaN"):
        check_logits(torch.tensor([valid, wrong]))
