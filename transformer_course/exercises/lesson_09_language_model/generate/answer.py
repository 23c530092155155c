"""The answer to ``generate``, plainly and in steps: what is decided in each round of the loop is a step, too."""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.steps import InSteps


def generate(
    model: nn.Module,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    context_length: int,
    sample: Callable[[Tensor], Tensor],
) -> Int[Tensor, "batch n_all"]:
    """Return the prompts and all new tokens; the model sees the last context_length tokens at most."""
    for _ in range(max_new_tokens):
        logits = model(tokens[:, -context_length:])  # (batch, at most context_length, vocab_size)
        next_tokens = sample(logits[:, -1])
        tokens = torch.cat([tokens, next_tokens[:, None]], dim=1)
    return tokens


def shown(context_length):
    """show the model the last context_length tokens

    what the model is shown: the last context_length tokens
    """
    return lambda tokens: tokens[:, -context_length:]


def logits(model):
    """call the model on what it is shown

    the logits of every position, (batch, n, vocab_size)
    """
    return lambda shown: model(shown)


def next_logits():
    """take the logits of the last position

    the logits of the next token, (batch, vocab_size)
    """
    return lambda logits: logits[:, -1]


def next_tokens(sample):
    """sample the next token of each text

    the next tokens, (batch,)
    """
    return lambda next_logits: sample(next_logits)


def extended():
    """append them as a column

    the tokens, one column longer
    """
    return lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=1)


def n_rounds(max_new_tokens):
    """go round max_new_tokens times

    the number of rounds
    """
    return max_new_tokens


def text(tokens, shown, logits, next_logits, next_tokens, extended, n_rounds):
    """repeat

    the tokens after the last round
    """
    so_far = tokens
    for _ in range(n_rounds):
        so_far = extended(so_far, next_tokens(next_logits(logits(shown(so_far)))))
    return so_far


def output(text):
    """return the prompts with all that follows

    the prompts and the new tokens
    """
    return text


STEPS = InSteps(shown, logits, next_logits, next_tokens, extended, n_rounds, text, output, reference=generate)
