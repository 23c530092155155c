"""The answer to ``sample_next``, plainly and in steps."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def sample_next(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draw a token for each row, after temperature, top-k and top-p, in this order."""
    logits = logits / temperature
    if top_k is not None:
        smallest = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]  # of those that are kept
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if top_p is not None:
        ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = ranked.cumsum(dim=-1) - ranked >= top_p  # the tokens before it have the mass already
        logits = logits.masked_fill(superfluous.gather(-1, order.argsort(dim=-1)), -torch.inf)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(-1)


def scaled(logits, temperature):
    """divide the logits by the temperature → the logits divided by the temperature"""
    return logits / temperature


def n_kept(top_k, logits):
    """keep top_k tokens, or all where there are no more → the number of tokens that top-k keeps"""
    return logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])


def smallest(scaled, n_kept):
    """find the smallest of the top_k largest logits of each row → the smallest logit that top-k keeps, (batch, 1)"""
    return scaled.topk(n_kept).values[:, -1:]


def best_k(scaled, smallest):
    """set all smaller ones to −∞ → the logits after top-k"""
    return scaled.masked_fill(scaled < smallest, -torch.inf)


def candidates(best_k):
    """take the softmax of what is left → the probabilities after top-k"""
    return best_k.softmax(dim=-1)


def order(candidates):
    """sort the tokens, the likeliest first → the ids of the tokens, the likeliest first"""
    return candidates.argsort(dim=-1, descending=True)


def mass_before(candidates, order):
    """add up the probabilities before each token → the mass of the tokens before each token, in sorted order"""
    ranked = candidates.gather(-1, order)
    return ranked.cumsum(dim=-1) - ranked


def superfluous(mass_before, top_p):
    """mark where the mass before has reached top_p → the mask of the tokens that top-p drops, in sorted order"""
    return mass_before >= (math.inf if top_p is None else top_p)


def dropped(superfluous, order):
    """bring this mask back into the order of the vocabulary → the mask of the tokens that top-p drops"""
    return superfluous.gather(-1, order.argsort(dim=-1))


def nucleus(best_k, dropped):
    """set the logits of these tokens to −∞ → the logits after top-p"""
    return best_k.masked_fill(dropped, -torch.inf)


def probabilities(nucleus):
    """take the softmax of what is left → the probabilities to draw from"""
    return nucleus.softmax(dim=-1)


def drawn(probabilities, generator):
    """draw a token for each row, with the generator → the tokens, (batch, 1)"""
    return torch.multinomial(probabilities, 1, generator=generator)


def tokens(drawn):
    """leave the axis of the draws out → the tokens, (batch,)"""
    return drawn.squeeze(-1)


STEPS = InSteps(
    scaled,
    n_kept,
    smallest,
    best_k,
    candidates,
    order,
    mass_before,
    superfluous,
    dropped,
    nucleus,
    probabilities,
    drawn,
    tokens,
    reference=sample_next,
)
