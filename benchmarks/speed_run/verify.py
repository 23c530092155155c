"""The interface of an entry, and a measurement that does not rely on any number that the entry reports."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

TRAINING_BUDGET_S = 120.0


class Trained(Protocol):
    """The trained model of an entry.

    Attributes:
        start: Id of the token that the model reads before the first token of a text.
        vocab_size: Number of tokens in the vocabulary.
        context_length: Maximum number of tokens that the model can read at once.
    """

    start: int
    vocab_size: int
    context_length: int

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""

    def decode(self, tokens: list[int]) -> str:
        """Return the text of these tokens; ``decode(encode(text))`` must equal ``text``."""

    def logits(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next token at every position: (batch, n) → (batch, n, vocab_size)."""


class Entry(Protocol):
    """A module that takes part in the speed run."""

    def train(self, texts: list[str], seconds: float) -> Trained:
        """Train on texts for at most ``seconds`` of CPU time."""


@dataclass(frozen=True)
class Result:
    """The measurements of an entry.

    Attributes:
        bits_per_byte: Bits per byte on the held-out texts.
        seconds: Processor time of the training.
    """

    bits_per_byte: float
    seconds: float


def verify(entry: Entry, texts: list[str], held_out: Sequence[str], seconds: float = TRAINING_BUDGET_S) -> Result:
    """Train an entry and measure it.

    Args:
        entry: A module with ``train``.
        texts: The training texts.
        held_out: The held-out texts.
        seconds: Limit on the CPU time of training.

    Raises:
        ValueError: Training took too long, decoding does not reproduce a text, logits are not finite or have the wrong
            shape, or an output depends on a later token.
    """
    start = time.process_time()
    trained = entry.train(texts, seconds)
    took = time.process_time() - start
    if took > seconds:
        raise ValueError(f"training took {took:.1f} seconds of CPU time; the limit is {seconds:g}")
    with torch.no_grad():
        nats = sum(_nats(trained, text) for text in held_out)
    return Result(nats / math.log(2) / sum(len(text.encode()) for text in held_out), took)


def _nats(trained: Trained, text: str) -> float:
    """Return −log p of a text.

    Every token is predicted once, with a context of at least half the maximum length, except near the start of the
    text.
    """
    ids = trained.encode(text)
    if trained.decode(ids) != text:
        raise ValueError(f"decode(encode(text)) does not reproduce the text that starts with {text[:40]!r}")
    tokens = torch.tensor([trained.start, *ids])
    n = trained.context_length
    total = 0.0
    for begin in range(0, len(ids), n - n // 2):
        window = tokens[begin : begin + n + 1]
        log_p = _log_p(trained, window[None, :-1])[0].gather(-1, window[1:, None])[:, 0]
        n_predicted = n // 2 if begin else 0  # tokens that the previous window has already predicted
        total -= log_p[n_predicted:].double().sum().item()
        if begin + n >= len(ids):
            break
    return total


def _log_p(trained: Trained, tokens: Tensor) -> Tensor:
    """Return the log-probabilities of the next tokens, after checking that they depend only on earlier tokens."""
    logits = trained.logits(tokens)
    if logits.shape != (*tokens.shape, trained.vocab_size) or not logits.isfinite().all():
        found = f"{tuple(logits.shape)}{'' if logits.isfinite().all() else ', not all finite'}"
        raise ValueError(f"logits must be finite and have shape {(*tokens.shape, trained.vocab_size)}; got {found}")
    changed = tokens.clone()
    middle = tokens.shape[1] // 2
    changed[:, middle:] = (changed[:, middle:] + 1) % trained.vocab_size
    if not torch.allclose(trained.logits(changed)[:, :middle], logits[:, :middle], atol=1e-3):
        raise ValueError("an output depends on a later token")
    return logits.log_softmax(dim=-1)
