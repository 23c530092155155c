"""What an entry must offer, and what is measured of it: nothing that it says of itself is believed."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

TRAINING_BUDGET_S = 120.0


class Trained(Protocol):
    """What the training of an entry returns.

    Attributes:
        start: The token that the model reads before the first of a text.
        vocab_size: Number of tokens.
        context_length: The largest number of tokens that the model can read at once.
    """

    start: int
    vocab_size: int
    context_length: int

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens: of those of a text, the same text."""

    def logits(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next token at every position: (batch, n) → (batch, n, vocab_size)."""


class Entry(Protocol):
    """A module that takes part."""

    def train(self, texts: list[str], seconds: float) -> Trained:
        """Train on texts, for at most so many seconds of processor time."""


@dataclass(frozen=True)
class Result:
    """What was measured.

    Attributes:
        bits_per_byte: On the texts that are held out.
        seconds: Processor time of the training.
    """

    bits_per_byte: float
    seconds: float


def verify(entry: Entry, texts: list[str], held_out: Sequence[str], seconds: float = TRAINING_BUDGET_S) -> Result:
    """Train an entry, and measure it.

    Args:
        entry: A module with ``train``.
        texts: What it may learn from.
        held_out: What it is measured on.
        seconds: The processor time that it may take.

    Raises:
        ValueError: It took too long, its tokens do not give the text back, it has logits that are no numbers or of
            another shape, or an output depends on a token that comes later.
    """
    start = time.process_time()
    trained = entry.train(texts, seconds)
    took = time.process_time() - start
    if took > seconds:
        raise ValueError(f"the training took {took:.1f} seconds of processor time; {seconds:g} are allowed")
    with torch.no_grad():
        nats = sum(_nats(trained, text) for text in held_out)
    return Result(nats / math.log(2) / sum(len(text.encode()) for text in held_out), took)


def _nats(trained: Trained, text: str) -> float:
    """Return −log p of a text: every token is predicted once, from half a context or more where there is that much."""
    ids = trained.encode(text)
    if trained.decode(ids) != text:
        raise ValueError(f"decode(encode(text)) is another text than the one that begins {text[:40]!r}")
    tokens = torch.tensor([trained.start, *ids])
    n = trained.context_length
    total = 0.0
    for begin in range(0, len(ids), n - n // 2):
        window = tokens[begin : begin + n + 1]
        log_p = _log_p(trained, window[None, :-1])[0].gather(-1, window[1:, None])[:, 0]
        known = n // 2 if begin else 0  # the window before has predicted these
        total -= log_p[known:].double().sum().item()
        if begin + n >= len(ids):
            break
    return total


def _log_p(trained: Trained, tokens: Tensor) -> Tensor:
    """Return the log-probabilities of the next tokens, and make sure that they are made of earlier tokens alone."""
    logits = trained.logits(tokens)
    if logits.shape != (*tokens.shape, trained.vocab_size) or not logits.isfinite().all():
        raise ValueError(f"logits must be finite and of shape {(*tokens.shape, trained.vocab_size)}")
    changed = tokens.clone()
    middle = tokens.shape[1] // 2
    changed[:, middle:] = (changed[:, middle:] + 1) % trained.vocab_size
    if not torch.allclose(trained.logits(changed)[:, :middle], logits[:, :middle], atol=1e-3):
        raise ValueError("an output depends on a token that comes later")
    return logits.log_softmax(dim=-1)
