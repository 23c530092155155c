"""Tests for the teacher-forced validation loss and the score of generated translations."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.transformer_lab.training.small_task import VOCAB_SIZE, model, text_model
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, character_tokenizer
from transformer_lab.text.translator import Translator
from transformer_lab.training.metrics import exact_match
from transformer_lab.training.validation import TextValidation, Validation

PAIRS = [("abc", "cba"), ("g", "gggggg"), ("fedcba", "a"), ("bb", "bbbb"), ("cdefg", "gfe")]


@pytest.fixture
def translator():
    tokenizer = character_tokenizer(["abcdefg"])
    assert tokenizer.get_vocab_size() == VOCAB_SIZE
    return Translator(model(), tokenizer)


def loss_by_pair(translator, pairs):
    """Compute the mean loss over all tokens, one pair at a time, without padding or dropout."""
    losses = []
    for source, target in pairs:
        ids = translator.tokenizer.encode(target).ids
        translator.model.eval()
        with torch.no_grad():
            logits = translator.model(
                torch.tensor([[*translator.tokenizer.encode(source).ids, EOS_ID]]), torch.tensor([[BOS_ID, *ids]])
            )
        losses += F.cross_entropy(logits[0], torch.tensor([*ids, EOS_ID]), reduction="none").tolist()
    return sum(losses) / len(losses)


@pytest.mark.parametrize("batch_tokens", [1, 8, 100])
def test_loss_does_not_depend_on_batching(translator, batch_tokens):
    translator.model.train()
    result = Validation(translator, PAIRS, exact_match, batch_tokens)()
    assert result.loss == pytest.approx(loss_by_pair(translator, PAIRS), rel=1e-5)


def test_score_uses_generated_translations(translator):
    observed = []

    def score(translations, references):
        observed.append((translations, references))
        return 12.5

    assert Validation(translator, PAIRS, score, 50)().score == 12.5
    assert observed == [(list(translator.translate([s for s, _ in PAIRS])), [t for _, t in PAIRS])]


def test_validation_preserves_model_and_random_state(translator):
    before = {name: tensor.clone() for name, tensor in translator.model.state_dict().items()}
    state = torch.get_rng_state()
    Validation(translator, PAIRS, exact_match, 50)()
    assert torch.equal(torch.get_rng_state(), state)  # validation must not affect training
    assert all(torch.equal(tensor, before[name]) for name, tensor in translator.model.state_dict().items())
    assert all(parameter.grad is None for parameter in translator.model.parameters())


def test_truncates_overlong_pairs_instead_of_skipping_them(translator):
    overlong = [("a" * 99, "b" * 99), *PAIRS]
    truncated = [("a" * 11, "b" * 11), *PAIRS]
    result = Validation(translator, overlong, exact_match, 50)()
    assert result.loss == pytest.approx(loss_by_pair(translator, truncated), rel=1e-5)


def test_rejects_empty_pairs(translator):
    with pytest.raises(ValueError, match="0 sources and 0 targets"):
        Validation(translator, [], exact_match, 50)


# Language models

TEXTS = ["abcdefgabcdefgabcdefgabc", "g", "fedcbafedcba"]


def nats_by_token(language_model, tokenizer, texts, window):
    """Return −log p of each token, given the earlier tokens in its window, computed one token at a time."""
    nats = []
    for text in texts:
        ids = [EOS_ID, *tokenizer.encode(text).ids]
        for i in range(1, len(ids)):
            start = (i - 1) // window * window
            with torch.no_grad():
                log_p = language_model.eval()(torch.tensor([ids[start:i]]))[0, -1].log_softmax(dim=-1)
            nats.append(-log_p[ids[i]].item())
    return nats


@pytest.mark.parametrize("batch_tokens", [4, 10, 300])
def test_text_loss_counts_every_token_and_byte_once(batch_tokens):
    tokenizer, language_model = character_tokenizer(["abcdefg"]), text_model().train()
    validation = TextValidation(language_model, tokenizer, TEXTS, EOS_ID, batch_tokens)
    nats = nats_by_token(language_model, tokenizer, TEXTS, window=min(batch_tokens, 10))
    loss, score = validation()
    assert (validation.n_tokens, validation.n_bytes) == (len(nats), 37)
    assert loss == pytest.approx(sum(nats) / 37, rel=1e-5)
    assert -score == pytest.approx(sum(nats) / math.log(2) / 37, rel=1e-5)


def test_counts_text_bytes_in_utf8():
    tokenizer = character_tokenizer(["aé€😀def"])
    validation = TextValidation(text_model(), tokenizer, ["aé€😀"], EOS_ID, 10)
    assert (validation.n_tokens, validation.n_bytes) == (4, 10)
    loss, score = validation()
    assert -score == pytest.approx(loss * 4 / 10 / math.log(2))


def test_uniform_model_has_loss_log_vocab_size():
    tokenizer, uniform = character_tokenizer(["abcdefg"]), text_model()
    torch.nn.init.zeros_(uniform.head.weight)
    loss, score = TextValidation(uniform, tokenizer, TEXTS, EOS_ID, 10)()
    assert loss == pytest.approx(math.log(VOCAB_SIZE)) and -score == pytest.approx(math.log2(VOCAB_SIZE))


def test_rejects_empty_texts():
    with pytest.raises(ValueError, match="no text has at least two tokens"):
        TextValidation(text_model(), character_tokenizer(["abcdefg"]), [], EOS_ID, 10)
