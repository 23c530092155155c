"""Penalties: make tokens less probable, or impossible, because a text has them already."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.generation.decoding_state import DecodingState, padding_first


@dataclass(frozen=True)
class Penalties:
    """What keeps a text from repeating itself; the defaults change nothing.

    Args:
        repetition: What ``penalise_repetition`` divides by, for the tokens of the prompt and those added.
        frequency: Subtracted from a token's logit for each time that it was added.
        presence: Subtracted from a token's logit once if it was added.
        no_repeat_ngram: Length of the sequences of tokens that may not occur twice, the prompt included. None: all may.

    Raises:
        ValueError: A penalty is not a finite number, ``repetition`` not above 0, or ``no_repeat_ngram`` below 1.
    """

    repetition: float = 1.0
    frequency: float = 0.0
    presence: float = 0.0
    no_repeat_ngram: int | None = None

    def __post_init__(self) -> None:
        finite = all(map(math.isfinite, (self.repetition, self.frequency, self.presence)))
        if not finite or self.repetition <= 0 or (self.no_repeat_ngram is not None and self.no_repeat_ngram < 1):
            raise ValueError(
                "penalties are finite, with repetition > 0 and no_repeat_ngram ≥ 1; "
                f"got repetition={self.repetition}, frequency={self.frequency}, presence={self.presence}, "
                f"no_repeat_ngram={self.no_repeat_ngram}"
            )

    def __call__(
        self,
        logits: Float[Tensor, "rows vocab_size"],
        text: Int[Tensor, "rows n"],
        n_added: int,
        pad_id: int | None = None,
    ) -> Float[Tensor, "rows vocab_size"]:
        """Return the logits of the next token with all penalties.

        Args:
            logits: The model's logits.
            text: The text so far.
            n_added: Number of its last tokens that were generated.
            pad_id: The token that pads short texts: it counts as none. None: there is none.
        """
        if self.repetition != 1:
            logits = penalise_repetition(logits, count_tokens(text, logits.shape[1], pad_id) > 0, self.repetition)
        if self.frequency or self.presence:
            times = count_tokens(text[:, text.shape[1] - n_added :], logits.shape[1], pad_id)
            logits = penalise_frequency(logits, times, self.frequency, self.presence)
        if self.no_repeat_ngram is not None:
            repeated = completes_ngram(text, self.no_repeat_ngram, logits.shape[1], pad_id)
            # A text that already has every possible continuation goes on all the same.
            some_left = ~repeated.all(dim=1, keepdim=True)
            logits = logits.masked_fill(repeated & some_left, -torch.inf)
        return logits


def count_tokens(tokens: Int[Tensor, "rows n"], vocab_size: int, pad_id: int | None) -> Int[Tensor, "rows vocab_size"]:
    """Return how often each token of the vocabulary occurs in each row; padding does not.

    >>> count_tokens(torch.tensor([[0, 2, 1, 2]]), vocab_size=4, pad_id=0)
    tensor([[0, 1, 2, 0]])
    """
    return _count(tokens, torch.ones_like(tokens) if pad_id is None else (tokens != pad_id).to(tokens), vocab_size)


def penalise_repetition(
    logits: Float[Tensor, "rows vocab_size"], seen: Bool[Tensor, "rows vocab_size"], penalty: float
) -> Float[Tensor, "rows vocab_size"]:
    """Return the logits, those of the tokens seen divided by the penalty, or multiplied where they are negative.

    Section 4.1 of Keskar et al. (2019), arXiv:1909.05858, divides all of them, by 1.2 for instance; a negative logit
    would become more probable by that, so its authors' code multiplies it.
    """
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


def penalise_frequency(
    logits: Float[Tensor, "rows vocab_size"], times: Int[Tensor, "rows vocab_size"], frequency: float, presence: float
) -> Float[Tensor, "rows vocab_size"]:
    """Return ``logits − frequency · times − presence · (times > 0)``.

    That is the definition of OpenAI's API, whose values go from −2 to 2; ``times`` counts what was sampled, not the
    prompt.
    """
    return logits - frequency * times.to(logits) - presence * (times > 0).to(logits)


def completes_ngram(
    text: Int[Tensor, "rows n"], n: int, vocab_size: int, pad_id: int | None
) -> Bool[Tensor, "rows vocab_size"]:
    """Return the tokens that would complete a sequence of n tokens that the text already has.

    Section 2.5 of Paulus et al. (2017), arXiv:1705.04304, for n = 3. Padding is no part of the text: what stands
    before and after it is adjacent.

    >>> completes_ngram(torch.tensor([[1, 2, 3, 1, 2]]), n=3, vocab_size=4, pad_id=None)
    tensor([[False, False, False,  True]])
    """
    text = padding_first(text, pad_id)
    if text.shape[1] < n:
        return torch.zeros(len(text), vocab_size, dtype=torch.bool, device=text.device)
    ngrams = text.unfold(1, n, 1)  # (rows, number of n-grams, n)
    last = text[:, text.shape[1] - n + 1 :]  # n − 1 tokens
    repeated = (ngrams[:, :, :-1] == last[:, None]).all(dim=2)
    if pad_id is not None:
        repeated &= ngrams[:, :, 0] != pad_id  # padding comes first: no other token of such an n-gram is padding
    return _count(ngrams[:, :, -1], repeated.to(text), vocab_size) > 0


def _count(tokens: Int[Tensor, "rows n"], counted: Int[Tensor, "rows n"], vocab_size: int) -> Tensor:
    return tokens.new_zeros(len(tokens), vocab_size).scatter_add_(1, tokens, counted)


class PenalisedState:
    """A decoding state whose logits are penalised for what the text has so far.

    Args:
        state: The model and its cache.
        penalties: The penalties.
        pad_id: The token that pads short texts, or None if there is none.
    """

    def __init__(self, state: DecodingState, penalties: Penalties, pad_id: int | None = None) -> None:
        self.state, self.penalties, self.pad_id = state, penalties, pad_id
        self.text: Tensor | None = None
        self.n_added = 0

    def next_logits(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Take the newest tokens of every row, first the prompts; return the penalised logits of the token after."""
        if self.text is None:
            self.text = tokens
        else:
            self.text, self.n_added = torch.cat([self.text, tokens], dim=1), self.n_added + tokens.shape[1]
        return self.penalties(self.state.next_logits(tokens), self.text, self.n_added, self.pad_id)

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Continue row i from row ``rows[i]``, within the limits of the state's own ``reorder``."""
        self.state.reorder(rows)
        if self.text is not None:
            self.text = self.text[rows]
