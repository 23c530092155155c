"""Test beam search against exhaustive search and greedy decoding, and test its scores."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.uncached_decoding import uncached_logits
from transformer_lab.generation.beam_search import beam_search, beam_search_from_state, length_penalty
from transformer_lab.generation.decode import greedy_decode
from transformer_lab.generation.decoding_state import TranslationState
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

BOS, EOS = 1, 2


def translator(seed=0, vocab_size=7, **others):
    torch.manual_seed(seed)
    config = TransformerConfig(vocab_size, d_model=12, n_heads=3, d_ff=20, n_layers=2, max_length=13, **others)
    model = Transformer(config).eval()
    for parameter in model.parameters():  # scaling up the parameters makes the predictions less uniform
        parameter.data.mul_(2.0)
    return model


SOURCE = torch.tensor([[4, 5, 6, 3, 0], [3, 3, 0, 0, 0], [6, 5, 4, 3, 5]])


def log_probability(model, source, text):
    """Return the log-probability and length of a text up to its end token, computed in a single float64 pass."""
    ends = (text == EOS).nonzero()
    n = int(ends[0]) + 1 if len(ends) else len(text)
    target = torch.cat([torch.tensor([BOS]), text[: n - 1]])
    log_p = uncached_logits(model.double(), source[None], target[None])[0].log_softmax(-1)
    return log_p[torch.arange(n), text[:n]].sum(), n


@pytest.mark.parametrize("seed", range(5))
def test_beam_of_one_matches_greedy_decoding(seed):
    model = translator(seed)
    greedy = greedy_decode(model, SOURCE, BOS, EOS, 11)
    torch.testing.assert_close(beam_search(model, SOURCE, BOS, EOS, 11, beam_size=1), greedy, rtol=0, atol=0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_score_matches_log_probability_of_returned_text(seed, alpha):
    model = translator(seed)
    state = TranslationState(model, SOURCE, 9)
    begin = torch.full((3, 1), BOS)
    texts, scores = beam_search_from_state(state, begin, 9, EOS, beam_size=4, alpha=alpha)
    for source, text, score in zip(SOURCE, texts, scores, strict=True):
        total, n = log_probability(model, source, text)
        assert_close(score.double(), total / length_penalty(torch.tensor(n), alpha).double(), rtol=1e-4, atol=1e-4)
        assert (text[n:] == EOS).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_wide_beam_finds_the_best_text(alpha):
    model = translator(3, vocab_size=5)
    source, longest = torch.tensor([[4, 3, 4]]), 4
    candidates = []
    for n in range(1, longest + 1):
        for body in itertools.product([t for t in range(5) if t != EOS], repeat=n - 1):
            lasts = [EOS] if n < longest else range(5)
            candidates += [torch.tensor([*body, last]) for last in lasts]
    model.float()
    scores = []
    for text in candidates:
        total, n = log_probability(model, source[0], text)
        scores.append(float(total / length_penalty(torch.tensor(n), alpha)))
    best, expected = max(zip(scores, candidates, strict=True), key=lambda pair: pair[0])
    state = TranslationState(model.float(), source, longest)
    [text], [score] = beam_search_from_state(state, torch.tensor([[BOS]]), longest, EOS, 500, alpha)
    assert text[: len(expected)].tolist() == expected.tolist()
    assert (text[len(expected) :] == EOS).all()
    assert_close(score, torch.tensor(best), rtol=0, atol=1e-4)
    assert beam_search(model, source, BOS, EOS, longest, 500, alpha).tolist() == [text.tolist()]


def test_wider_beam_finds_more_probable_texts():
    n_better = 0
    for seed in range(8):
        model = translator(seed)
        begin = torch.full((3, 1), BOS)
        greedy_scores, beam_scores = (
            beam_search_from_state(TranslationState(model, SOURCE, 8), begin, 8, EOS, beam_size, 0.0)[1]
            for beam_size in (1, 10)
        )
        n_better += int((beam_scores > greedy_scores + 1e-4).sum())
        assert (beam_scores >= greedy_scores - 1e-4).sum() >= 2  # a beam rarely drops the greedy text
    assert n_better > 4


@pytest.mark.parametrize("beam_size", [1, 3])
def test_batch_translates_each_sentence_as_if_alone(beam_size):
    model = translator(1)
    together = beam_search(model, SOURCE, BOS, EOS, 10, beam_size)
    for source, text in zip(SOURCE, together, strict=True):
        alone = beam_search(model, source[source != 0][None], BOS, EOS, 10, beam_size)[0]
        n = min(len(alone), len(text))
        assert text[:n].tolist() == alone[:n].tolist()
        assert (text[n:] == EOS).all()


def test_beams_share_source_keys_projected_once():
    model, projected = translator(2), []
    for layer in model.decoder.layers:
        layer.cross_attention.w_k.register_forward_hook(lambda *_: projected.append("k"))
        layer.cross_attention.w_v.register_forward_hook(lambda *_: projected.append("v"))
    state = TranslationState(model, SOURCE, 6)
    beam_search_from_state(state, torch.full((3, 1), BOS), 6, EOS, 4, 1.0)
    for layer in state.cache.layers:
        assert len(layer.source.k) == 3
    assert projected == ["k", "v"] * 2


class Ending(TranslationState):
    """A decoding state that ends each sentence at a different length and records the numbers of rows and sources."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows_and_sources = []

    def next_logits(self, tokens):
        logits = super().next_logits(tokens)
        self.rows_and_sources.append((len(tokens), len(self.cache.layers[1].source.k)))
        logits[:, EOS] += torch.where(len(self.rows_and_sources) > self.source.sum(dim=1) % 9, 20.0, -20.0)
        return logits


@pytest.mark.parametrize("beam_size", [1, 3])
def test_drops_finished_sentences_with_their_sources(beam_size):
    model = translator(2)
    source = torch.cat(
        [SOURCE, SOURCE.flip(0), torch.randint(3, 7, (5, 5), generator=torch.Generator().manual_seed(1))]
    )
    state = Ending(model, source, 13)
    texts, scores = beam_search_from_state(state, torch.full((11, 1), BOS), 13, EOS, beam_size, 0.6)
    assert len({row.count(EOS) for row in texts.tolist()}) > 2
    first, *others = state.rows_and_sources
    assert first == (11, 11) and others == sorted(others, reverse=True) and others[-1] < (6 * beam_size, 6)
    assert all(n_rows == n_sources * beam_size for n_rows, n_sources in others)
    for row, text, score in zip(source, texts, scores, strict=True):
        state = Ending(model, row[None], 13)
        [alone], [score_alone] = beam_search_from_state(state, torch.tensor([[BOS]]), 13, EOS, beam_size, 0.6)
        assert text.tolist() == alone.tolist() + [EOS] * (len(text) - len(alone))
        assert_close(score, score_alone)


@pytest.mark.parametrize(("beam_size", "longest"), [(0, 5), (3, 0)])
def test_rejects_empty_beam(beam_size, longest):
    state = TranslationState(translator(), SOURCE, 5)
    with pytest.raises(ValueError, match=f"got beam_size={beam_size}, max_new_tokens={longest}"):
        beam_search_from_state(state, torch.full((3, 1), BOS), longest, EOS, beam_size, 1.0)


def test_empty_batch_returns_no_translations():
    assert beam_search(translator(), SOURCE[:0], BOS, EOS, 5, beam_size=3).shape[0] == 0
