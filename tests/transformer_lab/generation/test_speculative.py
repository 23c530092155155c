"""Tests that speculative decoding preserves the model's distribution and needs fewer passes."""

import pytest
import torch

from tests.helpers.thoroughness import one_in
from transformer_lab.generation.decode import generate
from transformer_lab.generation.sampling import filter_logits
from transformer_lab.generation.speculative import speculate
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig


def model(seed, vocab_size=5, n_layers=2, scale=4.0, max_length=23):
    torch.manual_seed(seed)
    config = LanguageModelConfig(
        vocab_size, d_model=12, n_heads=3, d_ff=20, n_layers=n_layers, max_length=max_length, positions="rotary"
    )
    language_model = LanguageModel(config).eval()
    for parameter in language_model.parameters():
        parameter.data.mul_(scale if parameter.dim() > 1 else 1.0)
    return language_model


def next_probabilities(model, text, **options):
    with torch.no_grad():
        return filter_logits(model(torch.tensor([text]))[0, -1:], **options).softmax(-1)[0].double()


@pytest.mark.parametrize(
    "case",
    one_in(2, [({}, 3), ({"temperature": 0.7, "top_k": 2}, 1), ({"top_p": 0.8}, 3), ({"min_p": 0.3}, 2)]),
    ids=str,
)
def test_distribution_matches_the_model_alone(case):
    """Run a chi-square test over all continuations of two tokens."""
    options, num_draft_tokens = case
    large, small = model(0, vocab_size=3, n_layers=1), model(1, vocab_size=3, n_layers=1)
    generator = torch.Generator().manual_seed(2)
    n, counts = 500, torch.zeros(9, dtype=torch.float64)
    for _ in range(n):
        text = speculate(large, small, torch.tensor([[2, 1]]), 2, num_draft_tokens, generator=generator, **options)
        counts[int(text[0, 2]) * 3 + int(text[0, 3])] += 1

    def expected_counts(model):
        first = next_probabilities(model, [2, 1], **options)
        return n * torch.cat([first[t] * next_probabilities(model, [2, 1, t], **options) for t in range(3)])

    expected, draft = expected_counts(large), expected_counts(small)
    assert (counts[expected == 0] == 0).all()
    kept = expected > 0
    assert ((counts - expected) ** 2 / expected)[kept].sum() < 26  # p = 0.001 with 8 degrees of freedom
    assert ((draft - expected) ** 2 / expected)[kept].sum() > 100  # the draft model alone has a different distribution


def record_passes(model):
    passes = []
    model.norm.register_forward_hook(lambda *_: passes.append(1))
    return passes


def test_accepts_all_tokens_of_an_identical_draft():
    large, small = model(0), model(0)
    large_passes, small_passes = record_passes(large), record_passes(small)
    text = speculate(
        large, small, torch.tensor([[3, 1]]), 20, num_draft_tokens=4, generator=torch.Generator().manual_seed(3)
    )
    assert text.shape == (1, 22)
    assert (len(large_passes), len(small_passes)) == (4, 16)  # each large pass accepts 4 tokens and adds 1


def test_greedy_text_does_not_depend_on_the_draft():
    large = model(4)
    expected = generate(large, torch.tensor([[3, 1, 2]]), 18, temperature=0)
    for seed in range(5):
        assert speculate(large, model(seed), torch.tensor([[3, 1, 2]]), 18, 3, top_k=1).tolist() == expected.tolist()


def test_zero_new_tokens_returns_the_text():
    assert speculate(model(0), model(1), torch.tensor([[3]]), 0).tolist() == [[3]]


def test_stops_at_eos():
    for seed in range(20):
        text = speculate(
            model(5), model(6), torch.tensor([[3]]), 20, eos_id=2, generator=torch.Generator().manual_seed(seed)
        )[0].tolist()
        assert 2 not in text[1:-1]
        assert text[-1] == 2 or len(text) == 21


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": torch.ones(2, 3, dtype=torch.int64)}, "got 2 texts, vocabularies of 5 and 5, num_draft_tokens=4"),
        ({"draft": model(0, vocab_size=7)}, "vocabularies of 5 and 7"),
        ({"num_draft_tokens": 0}, "num_draft_tokens=0"),
        ({"max_new_tokens": -1}, "max_new_tokens must not be negative; got max_new_tokens=-1"),
        ({"max_new_tokens": 22}, r"1 to 23 tokens \(max_length\); got 24"),
        ({"draft": model(0, max_length=9)}, r"1 to 9 tokens \(max_length\); got 12"),
    ],
    ids=["texts", "vocabularies", "draft tokens", "negative", "length", "draft length"],
)
def test_rejects_invalid_arguments(arguments, message):
    given = {"model": model(0), "draft": model(1), "tokens": torch.tensor([[3, 1, 2]]), "max_new_tokens": 10}
    with pytest.raises(ValueError, match=message):
        speculate(**(given | arguments))
