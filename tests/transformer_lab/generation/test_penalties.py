"""Penalties: against those of ``transformers``, and against plain loops over each text without its padding."""

import pytest
import torch
import transformers
from torch.testing import assert_close

from tests.helpers.decoding_models import EOS, GPT, PAD, language_model
from transformer_lab.generation.decode import generate, generate_steps
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.generation.penalties import PenalisedState, Penalties
from transformer_lab.generation.sampling import greedy

VOCAB = 5
RNG = torch.Generator().manual_seed(0)
TEXT = torch.randint(1, VOCAB, (7, 13), generator=RNG)
PADDED = torch.where(torch.rand(7, 13, generator=RNG) < 0.4, PAD, TEXT)
LOGITS = torch.randn(7, VOCAB, generator=RNG)


def row_by_row(process, text):
    """Apply a processor of ``transformers`` to each row without its padding."""
    rows = [process(row[row != PAD][None], logits[None]) for row, logits in zip(text, LOGITS, strict=True)]
    return torch.cat(rows)


@pytest.mark.parametrize("text", [TEXT, PADDED], ids=["whole", "padded"])
@pytest.mark.parametrize("penalty", [1.3, 0.8])
def test_tokens_of_the_text_are_penalised_as_by_them(text, penalty):
    theirs = row_by_row(transformers.RepetitionPenaltyLogitsProcessor(penalty), text)
    assert_close(Penalties(repetition=penalty)(LOGITS, text, 0, PAD), theirs)
    assert (theirs != LOGITS).any(dim=0).sum() == VOCAB - 1  # all but padding


@pytest.mark.parametrize("text", [TEXT, PADDED], ids=["whole", "padded"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 14])
def test_no_sequence_of_tokens_comes_twice_as_in_theirs(text, n):
    theirs = row_by_row(transformers.NoRepeatNGramLogitsProcessor(n), text)
    assert_close(Penalties(no_repeat_ngram=n)(LOGITS, text, 0, PAD), theirs)
    assert theirs.isinf().any() or n > 3


@pytest.mark.parametrize("n_added", [0, 1, 8])
def test_what_was_added_is_penalised_by_how_often_it_was(n_added):
    added = PADDED[:, 13 - n_added :]
    expected = LOGITS.clone()
    for row, tokens in enumerate(added.tolist()):
        for token in {token for token in tokens if token != PAD}:
            expected[row, token] -= 0.3 * tokens.count(token) - 0.7
    assert_close(Penalties(frequency=0.3, presence=-0.7)(LOGITS, PADDED, n_added, PAD), expected)


def test_penalties_add_up_as_when_applied_one_after_the_other():
    together = Penalties(1.3, 0.3, 0.7, 3)(LOGITS, PADDED, 8, PAD)
    logits = Penalties(repetition=1.3)(LOGITS, PADDED, 8, PAD)
    logits = Penalties(frequency=0.3, presence=0.7)(logits, PADDED, 8, PAD)
    assert_close(together, Penalties(no_repeat_ngram=3)(logits, PADDED, 8, PAD))
    assert_close(Penalties()(LOGITS, PADDED, 8, PAD), LOGITS, rtol=0, atol=0)


def test_a_text_that_has_had_every_continuation_goes_on():
    logits = torch.zeros(2, 3)
    text = torch.tensor([[0, 1, 2, 0], [0, 1, 0, 0]])
    assert Penalties(no_repeat_ngram=1)(logits, text, 0).tolist() == [[0, 0, 0], [-torch.inf, -torch.inf, 0]]


PENALTIES = Penalties(repetition=1.3, frequency=0.2, presence=0.1, no_repeat_ngram=2)


@torch.no_grad()
def uncached(model, text, n_new):
    """Continue one text greedily, reading all of it at every step."""
    for n_added in range(n_new):
        logits = PENALTIES(model(text)[:, -1], text, n_added)
        text = torch.cat([text, logits.argmax(dim=1, keepdim=True)], dim=1)
        if text[0, -1] == EOS:
            break
    return text[0].tolist()


def test_rows_of_several_lengths_are_penalised_each_for_its_own_text_also_when_others_have_ended():
    model = language_model(3, **GPT)
    texts = torch.tensor(
        [[PAD, PAD, 5, 6], [7, 7, 7, 8], [9, PAD, PAD, PAD], [4, 3, 9, PAD], [PAD, 8, 5, 5], [3, 4, 5, 6]]
    )
    n_rows = []

    class Watched(PenalisedState):
        def next_logits(self, tokens):
            n_rows.append(len(tokens))
            return super().next_logits(tokens)

    state = Watched(TextState(model, 13), PENALTIES, PAD)
    steps = torch.stack(list(generate_steps(state, texts, 10, greedy, EOS)), dim=1)
    assert_close(generate(model, texts, 10, temperature=0, eos_id=EOS, penalties=PENALTIES)[:, 4:], steps)
    ends = set()
    for row, added in zip(texts, steps.tolist(), strict=True):
        real = row[row != PAD]
        added = added[: (*added, EOS).index(EOS) + 1]
        assert real.tolist() + added == uncached(model, real[None], 10)
        ends.add(len(added))
    assert len(ends) > 2 and n_rows[-1] < len(texts)
    assert not torch.equal(generate(model, texts, 10, temperature=0, eos_id=EOS)[:, 4:], steps)


@pytest.mark.parametrize(
    "how",
    [{"repetition": 0.0}, {"repetition": float("inf")}, {"frequency": float("nan")}, {"no_repeat_ngram": 0}],
    ids=str,
)
def test_penalties_that_make_no_sense_are_refused(how):
    [(name, value)] = how.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        Penalties(**how)
