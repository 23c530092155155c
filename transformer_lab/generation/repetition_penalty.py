"""The repetition penalty, which makes tokens that a text already contains less probable."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.generation.decoding_state import DecodingState


def penalize_repetition(
    logits: Float[Tensor, "rows vocab_size"], observed: Bool[Tensor, "rows vocab_size"], penalty: float
) -> Float[Tensor, "rows vocab_size"]:
    """Penalize tokens in the text: divide positive logits by the penalty, and multiply negative logits by the penalty.

    Section 4.1 of Keskar et al. (2019), arXiv:1909.05858, divides all logits, for example by 1.2. That would make a
    token with a negative logit more probable, so the authors' code multiplies negative logits.
    """
    return torch.where(observed, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


class PenalizedState:
    """A decoding state that applies the repetition penalty to tokens of the prompt and to new tokens.

    Args:
        state: The model and its cache.
        penalty: As in ``penalize_repetition``.
        pad_id: The token that pads short texts, which is never penalized; None if there is none.

    Raises:
        ValueError: The penalty is not a finite number above 0.
    """

    def __init__(self, state: DecodingState, penalty: float, pad_id: int | None = None) -> None:
        if not 0 < penalty < math.inf:
            raise ValueError(f"repetition_penalty must be a finite number above 0; got {penalty}")
        self.state, self.penalty, self.pad_id = state, penalty, pad_id
        self.observed: Tensor | None = None  # (rows, vocab_size), True for tokens that a text contains

    def next_logits(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the prompts, then the newest tokens of every row; return the penalized logits of the next token."""
        logits = self.state.next_logits(tokens)
        if self.observed is None:
            self.observed = torch.zeros_like(logits, dtype=torch.bool)
        self.observed.scatter_(1, tokens, True)
        if self.pad_id is not None:
            self.observed[:, self.pad_id] = False
        return penalize_repetition(logits, self.observed, self.penalty)

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``, within the limits of the wrapped state's ``reorder``."""
        self.state.reorder(rows)
        if self.observed is not None:
            self.observed = self.observed[rows]
