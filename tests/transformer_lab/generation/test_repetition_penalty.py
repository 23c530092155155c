"""Test the repetition penalty against ``transformers`` and against a loop over each text."""

import pytest
import torch
import transformers
from torch.testing import assert_close

from tests.helpers.decoding_models import EOS, GPT, PAD, language_model
from transformer_lab.generation.decode import generate, generate_steps
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.generation.repetition_penalty import PenalizedState
from transformer_lab.generation.sampling import greedy

VOCAB = 5
RNG = torch.Generator().manual_seed(0)
TEXT = torch.randint(1, VOCAB, (7, 13), generator=RNG)
PADDED = torch.where(torch.rand(7, 13, generator=RNG) < 0.4, PAD, TEXT)
LOGITS = torch.randn(7, VOCAB, generator=RNG)


class Constant:
    """A decoding state that always returns the same logits."""

    def next_logits(self, tokens):
        return LOGITS

    def reorder(self, rows):
        pass


@pytest.mark.parametrize("text", [TEXT, PADDED], ids=["whole", "padded"])
@pytest.mark.parametrize("penalty", [1.3, 0.8])
def test_penalized_logits_match_transformers(text, penalty):
    theirs = transformers.RepetitionPenaltyLogitsProcessor(penalty)
    expected = [theirs(row[row != PAD][None], logits[None]) for row, logits in zip(text, LOGITS, strict=True)]
    expected = torch.cat(expected)
    state = PenalizedState(Constant(), penalty, PAD)
    state.next_logits(text[:, :8])
    assert_close(state.next_logits(text[:, 8:]), expected)
    assert (expected != LOGITS).any(dim=0).sum() == VOCAB - 1  # all tokens except padding are penalized


PENALTY = 1.3


@torch.no_grad()
def uncached(model, text, n_new):
    """Continue a single text greedily, processing the whole text at every step."""
    for _ in range(n_new):
        logits = model(text)[0, -1].tolist()
        for token in set(text[0].tolist()):
            logits[token] = logits[token] / PENALTY if logits[token] > 0 else logits[token] * PENALTY
        text = torch.cat([text, torch.tensor([[max(range(len(logits)), key=logits.__getitem__)]])], dim=1)
        if text[0, -1] == EOS:
            break
    return text[0].tolist()


def test_penalties_follow_rows_after_finished_rows_are_dropped():
    model = language_model(39, **GPT)
    texts = torch.tensor(
        [[PAD, PAD, 5, 6], [7, 7, 7, 8], [9, PAD, PAD, PAD], [4, 3, 9, PAD], [PAD, 8, 5, 5], [3, 4, 5, 6]]
    )
    n_rows = []

    class RecordingState(PenalizedState):
        def next_logits(self, tokens):
            n_rows.append(len(tokens))
            return super().next_logits(tokens)

    state = RecordingState(TextState(model, 13), PENALTY, PAD)
    steps = torch.stack(list(generate_steps(state, texts, 10, greedy, EOS)), dim=1)
    assert_close(generate(model, texts, 10, temperature=0, eos_id=EOS, repetition_penalty=PENALTY)[:, 4:], steps)
    ends = set()
    for row, added in zip(texts, steps.tolist(), strict=True):
        real = row[row != PAD]
        added = added[: (*added, EOS).index(EOS) + 1]
        assert real.tolist() + added == uncached(model, real[None], 10)
        ends.add(len(added))
    assert len(ends) > 2 and n_rows[-1] < len(texts)
    assert not torch.equal(generate(model, texts, 10, temperature=0, eos_id=EOS)[:, 4:], steps)


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("inf"), float("nan")])
def test_rejects_nonpositive_or_infinite_penalty(penalty):
    with pytest.raises(ValueError, match=f"repetition_penalty must be a finite number above 0; got {penalty}"):
        generate(language_model(3, **GPT), TEXT, 2, repetition_penalty=penalty)
