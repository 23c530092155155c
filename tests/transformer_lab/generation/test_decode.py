"""Tests that every decoding step with a cache matches a step that processes the whole text again."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.decoding_models import BOS, EOS, FORMS, GPT, LLAMA, PAD, language_model, name, translator
from tests.helpers.uncached_decoding import uncached_greedy
from transformer_lab.generation.decode import generate, generate_steps, greedy_decode
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.generation.sampling import filter_logits, greedy


@torch.no_grad()
@pytest.mark.parametrize("form", [*FORMS, GPT, LLAMA], ids=name)
@pytest.mark.parametrize(
    "cuts", [[5, 6, 7, 8, 9, 10, 11, 12, 13], [1, 4, 5, 11, 13]], ids=["single tokens", "several tokens"]
)
def test_cached_logits_match_uncached_for_language_models(form, cuts):
    model = language_model(**form)
    text = torch.randint(1, 11, (3, 13))
    cache = model.new_cache(13)
    for start, end in itertools.pairwise([0, *cuts]):
        assert_close(model(text[:, start:end], cache), model(text[:, :end])[:, start:], atol=1e-5, rtol=1e-5)
    assert cache.length == 13


@torch.no_grad()
@pytest.mark.parametrize("form", [form for form in FORMS if form["pad_id"] == PAD], ids=name)
def test_padding_anywhere_does_not_change_cached_logits(form):
    model = language_model(**form)
    text = torch.tensor(
        [[PAD, PAD, PAD, 5, 6, 7, 8, 9], [3, 4, 5, 6, PAD, PAD, 9, 10], [10, PAD, PAD, PAD, 3, 4, PAD, 6]]
    )
    cache = model.new_cache()
    for start, end in itertools.pairwise([0, 1, 4, 5, 6, 8]):
        real = text[:, start:end] != PAD
        cached, uncached = model(text[:, start:end], cache), model(text[:, :end])[:, start:]
        assert_close(cached[real], uncached[real], atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize(
    "others", [{}, {"pre_norm": True}, {"learned_positions": True}, {"hide_target_padding": False}], ids=name
)
def test_cached_logits_match_uncached_for_transformers(others):
    model = translator(**others)
    source = torch.tensor([[5, 6, 7, 0, 0], [8, 9, 10, 3, 4], [3, 0, 0, 0, 0]])
    target = torch.randint(1, 11, (3, 12))
    memory = model.encode(source)
    cache = model.new_cache(memory)
    for start, end in itertools.pairwise([0, 1, 2, 5, 6, 12]):
        cached = model.decode(target[:, start:end], memory, source, cache)
        assert_close(cached, model(source, target[:, :end])[:, start:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("form", [form for form in FORMS if form["pad_id"] == PAD], ids=name)
@pytest.mark.parametrize("side", ["left", "right"])
def test_texts_with_different_lengths_continue_as_if_alone(form, side):
    model = language_model(1, **form)
    texts = [[5, 6, 7, 8, 9], [3, 4], [10]]
    padding = [[PAD] * (5 - len(text)) for text in texts]
    rows = [p + t if side == "left" else t + p for t, p in zip(texts, padding, strict=True)]
    together = generate(model, torch.tensor(rows), 8, temperature=0)[:, 5:]
    for text, added in zip(texts, together, strict=True):
        assert added.tolist() == generate(model, torch.tensor([text]), 8, temperature=0)[0, len(text) :].tolist()


@torch.no_grad()
@pytest.mark.parametrize("form", [GPT, LLAMA], ids=name)
def test_greedy_text_matches_an_uncached_loop(form):
    model = language_model(2, **form)
    text = torch.randint(1, 11, (4, 3))
    expected = text
    for _ in range(14):
        expected = torch.cat([expected, model(expected)[:, -1:].argmax(-1)], dim=1)
    assert generate(model, text, 14, temperature=0).tolist() == expected.tolist()
    assert len(set(expected[:, 3:].flatten().tolist())) > 3  # the text is not repetitive


@pytest.mark.parametrize("seed", range(4))
def test_greedy_decode_matches_an_uncached_loop(seed):
    model = translator(seed)
    source = torch.tensor([[4, 5, 6, 3, 0], [3, 3, 0, 0, 0], [6, 5, 4, 3, 5]])
    decoded = greedy_decode(model, source, BOS, EOS, 15)
    assert decoded.tolist() == uncached_greedy(model, source, BOS, EOS, 15).tolist()


class Scripted:
    """A decoding state that predicts the tokens in a table, regardless of its input."""

    def __init__(self, *columns):
        self.columns = torch.tensor(columns)
        self.rows = torch.arange(self.columns.shape[1])
        self.batch_sizes = []

    def next_logits(self, tokens):
        column, self.columns = self.columns[0], self.columns[1:]
        self.batch_sizes.append(len(tokens))
        return torch.nn.functional.one_hot(column[self.rows], 11).float()

    def reorder(self, rows):
        self.rows = self.rows[rows]


def test_finished_rows_stay_finished_until_all_rows_end():
    script = Scripted([5, 6, EOS], [EOS, 7, 8], [9, EOS, 9], [10, 10, 10])
    columns = list(generate_steps(script, torch.full((3, 1), BOS), 9, greedy, EOS))
    assert torch.stack(columns, dim=1).tolist() == [[5, EOS, EOS], [6, 7, EOS], [EOS, EOS, EOS]]


def test_drops_finished_rows_when_half_are_finished():
    script = Scripted([5, EOS, 6, 7], [8, 9, EOS, 8], [EOS, 9, 9, 3], [9, 9, 9, 4], [9, 9, 9, EOS])
    columns = list(generate_steps(script, torch.full((4, 1), BOS), 9, greedy, EOS))
    assert torch.stack(columns, dim=1).tolist() == [
        [5, 8, EOS, EOS, EOS], [EOS] * 5, [6, EOS, EOS, EOS, EOS], [7, 8, 3, 4, EOS],
    ]  # fmt: skip
    assert script.batch_sizes == [4, 4, 2, 1, 1]


def test_generates_max_new_tokens_without_eos():
    script = Scripted([5], [EOS], [7])
    assert [int(column) for column in generate_steps(script, torch.tensor([[BOS]]), 3, greedy)] == [5, EOS, 7]


def test_sample_frequencies_match_the_model():
    """Run a chi-square test on the second new token. At that step, the cache contains the first new token."""
    model = language_model(3, **GPT)
    n = 20_000
    text = torch.tensor([[5, 6]]).expand(n, 2)
    added = generate(model, text, 2, top_k=6, temperature=1.5, generator=torch.Generator().manual_seed(0))[:, 2:]
    for first in range(11):
        second = added[added[:, 0] == first, 1]
        if len(second) < 500:
            continue
        with torch.no_grad():
            probabilities = filter_logits(model(torch.tensor([[5, 6, first]]))[:, -1], 1.5, 6).softmax(-1)[0].double()
        counts, expected = second.bincount(minlength=11), probabilities * len(second)
        assert (counts[expected == 0] == 0).all()
        kept = expected > 0
        chi_square = ((counts[kept] - expected[kept]) ** 2 / expected[kept]).sum()
        assert chi_square < 20.5  # p = 0.001 with 5 degrees of freedom, for 6 tokens


def test_yields_tokens_one_at_a_time():
    """Yield each token before computing the next token, so that the caller can display it and stop at any time."""
    model = language_model(5, **GPT)
    lengths = []

    class RecordingState(TextState):
        def next_logits(self, tokens):
            lengths.append(tokens.shape[1])
            return super().next_logits(tokens)

    stream = generate_steps(RecordingState(model, 12), torch.tensor([[5, 6, 7]]), 9, greedy)
    assert lengths == []
    next(stream)
    assert lengths == [3]
    next(stream)
    assert lengths == [3, 1]
    assert torch.is_grad_enabled()


def test_rejects_too_long_text_before_generating():
    with pytest.raises(ValueError, match=r"1 to 17 tokens \(max_length\); got 18"):
        generate(language_model(**GPT), torch.tensor([[5, 6, 7]]), 16)
    with pytest.raises(ValueError, match=r"1 to 17 tokens \(max_length\); got 18"):
        greedy_decode(translator(), torch.tensor([[5, 6]]), BOS, EOS, 18)
    assert generate(language_model(**GPT), torch.tensor([[5, 6, 7]]), 15, temperature=0).shape == (1, 18)


@pytest.mark.parametrize("prompt", [[5], [5, 6, 7], [5] * 18], ids=len)
def test_accepts_zero_but_not_negative_new_tokens(prompt):
    model, tokens = language_model(**GPT), torch.tensor([prompt])
    assert generate(model, tokens, 0).tolist() == [prompt]
    with pytest.raises(ValueError, match="max_new_tokens must not be negative; got max_new_tokens=-1"):
        generate(model, tokens, -1)


@torch.no_grad()
def test_rejects_tokens_beyond_cache_or_model_length():
    model = language_model(**GPT)
    cache = model.new_cache(4)
    model(torch.tensor([[5, 6, 7]]), cache)
    with pytest.raises(ValueError, match=r"room for 4 tokens \(max_length\); got 5"):
        model(torch.tensor([[5, 6]]), cache)
    assert_close(
        model(torch.tensor([[8]]), cache), model(torch.tensor([[5, 6, 7, 8]]))[:, 3:]
    )  # the cache still contains all tokens
    cache = model.new_cache()
    model(torch.ones(1, 16, dtype=torch.int64), cache)
    with pytest.raises(ValueError, match=r"17 tokens \(max_length\); got 2 after 16"):
        model(torch.tensor([[5, 6]]), cache)


@torch.no_grad()
def test_truncated_tokens_do_not_affect_the_output():
    model = language_model(7, **LLAMA)
    cache = model.new_cache()
    model(torch.tensor([[5, 6, 7, 8]]), cache)
    cache.truncate(2)
    assert_close(model(torch.tensor([[9]]), cache), model(torch.tensor([[5, 6, 9]]))[:, 2:])


def sample_uncached(model, source, tokens, n_new, rng, **options):
    """Sample a translation without a cache, by calling the whole model for each token."""
    for _ in range(n_new):
        probabilities = filter_logits(model(source, tokens)[:, -1], **options).softmax(dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(probabilities, 1, generator=rng)], dim=1)
    return tokens


@torch.no_grad()
@pytest.mark.parametrize("begin", [[[BOS]] * 3, [[BOS, 7], [BOS, 3], [BOS, 9]]], ids=["one token", "two tokens"])
@pytest.mark.parametrize("options", [{"temperature": 1.3}, {"top_k": 3}, {"temperature": 2.0, "top_p": 0.8}], ids=name)
def test_sampled_translation_matches_the_full_model(begin, options):
    model, source = translator(), torch.tensor([[3, 4, 5, PAD], [6, 7, 8, 9], [10, 3, PAD, PAD]])
    expected = sample_uncached(model, source, torch.tensor(begin), 9, torch.Generator().manual_seed(5), **options)
    sampled = generate(
        model, torch.tensor(begin), 9, **options, generator=torch.Generator().manual_seed(5), source=source
    )
    assert sampled.tolist() == expected.tolist()
    assert len(set(sampled[:, -1].tolist())) > 1


@torch.no_grad()
def test_temperature_0_matches_greedy_decode():
    model, source = translator(), torch.tensor([[3, 4, 5], [6, 7, 8]])
    begin = torch.full((2, 1), BOS)
    translated = generate(model, begin, 9, temperature=0.0, eos_id=EOS, source=source)
    assert torch.equal(translated[:, 1:], greedy_decode(model, source, BOS, EOS, 9))


@torch.no_grad()
def test_penalizes_repetition_in_a_translation():
    model, source = translator(), torch.tensor([[3, 4, 5], [6, 7, 8]])
    tokens = begin = torch.full((2, 1), BOS)
    for _ in range(9):
        logits, observed = model(source, tokens)[:, -1], torch.zeros(2, 11, dtype=torch.bool).scatter(1, tokens, True)
        observed[:, PAD] = False
        logits = torch.where(observed, torch.where(logits > 0, logits / 3, logits * 3), logits)
        tokens = torch.cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=1)
    penalized = generate(model, begin, 9, temperature=0.0, source=source, repetition_penalty=3.0)
    assert penalized.tolist() == tokens.tolist()
    assert penalized.tolist() != generate(model, begin, 9, temperature=0.0, source=source).tolist()


def test_rejects_missing_or_unneeded_source():
    tokens = torch.tensor([[3, 4]])
    with pytest.raises(ValueError, match="source is required for a Transformer"):
        generate(translator(), tokens, 3)
    with pytest.raises(ValueError, match="source is only for a Transformer"):
        generate(language_model(**GPT), tokens, 3, source=tokens)
