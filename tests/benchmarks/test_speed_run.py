"""Tests that the speed run measures each entry correctly and rejects entries that violate a rule."""

import math
import time
from types import SimpleNamespace

import pytest
import torch

from benchmarks.speed_run import gpt
from benchmarks.speed_run.verify import verify

TEXTS, HELD_OUT = ["abab"], ["abba" * 9, "a"]


class Bytes:
    """A model over bytes that assigns a higher probability to two of the bytes."""

    start, vocab_size, context_length = 0, 256, 8

    def encode(self, text):
        return [*text.encode()]

    def decode(self, tokens):
        return bytes(tokens).decode()

    def logits(self, tokens):
        logits = torch.zeros(256)
        logits[[ord("a"), ord("b")]] = math.log(254.0)
        return logits.expand(*tokens.shape, 256)


def entry(**changes):
    return SimpleNamespace(train=lambda texts, seconds: type("Changed", (Bytes,), changes)())


def test_every_byte_is_predicted_once():
    """Two bytes have probability 1/3 each, and each of the other 254 bytes has probability 1/762. A text of the two
    likely bytes needs log₂ 3 bits per byte, however the text is split.
    """
    for context_length in (1, 3, 8, 50):
        result = verify(entry(context_length=context_length), TEXTS, HELD_OUT)
        assert result.bits_per_byte == pytest.approx(math.log2(3), rel=1e-5)


def logits_with_lookahead(self, tokens):
    return Bytes.logits(self, tokens) + tokens.roll(-1, dims=1)[..., None] * torch.linspace(0, 1, 256)


BROKEN = {
    "does not reproduce the text": {"decode": lambda self, tokens: "a"},
    "logits must be finite": {"logits": lambda self, tokens: torch.full((*tokens.shape, 256), math.nan)},
    "have shape": {"logits": lambda self, tokens: torch.zeros(*tokens.shape, 300)},
    "a later token": {"logits": logits_with_lookahead},
}


@pytest.mark.parametrize("message", BROKEN)
def test_rejects_an_entry_that_violates_a_rule(message):
    with pytest.raises(ValueError, match=message):
        verify(entry(**BROKEN[message]), TEXTS, HELD_OUT)


def test_rejects_an_entry_that_trains_too_long():
    def train(texts, seconds):
        end = time.process_time() + 2 * seconds
        while time.process_time() < end:
            pass
        return Bytes()

    with pytest.raises(ValueError, match="seconds of CPU time"):
        verify(SimpleNamespace(train=train), TEXTS, HELD_OUT, seconds=0.05)


def test_first_entry_obeys_the_rules(monkeypatch):
    """Train only briefly. The entry is then no better than chance, but its tokens can reproduce every text."""
    monkeypatch.setattr(gpt, "RESERVE_S", 59.0)
    texts = ["Return the name of the file, or None. " * 40]
    result = verify(gpt, texts, ["Return the name of the path: “ü”.\n\n  And more. " * 5], seconds=60.0)
    assert 0 < result.bits_per_byte < 16
