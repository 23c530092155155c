"""The reference for ``sample_next``, and the same answer in steps."""

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
    """Apply temperature, top-k and top-p, in this order, and draw a token for each row."""
    logits = logits / temperature
    if top_k is not None:
        smallest = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]  # the smallest logit to keep
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if top_p is not None:
        ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = ranked.cumsum(dim=-1) - ranked >= top_p  # the earlier tokens already reach top_p
        logits = logits.masked_fill(superfluous.gather(-1, order.argsort(dim=-1)), -torch.inf)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(-1)


def scaled(logits, temperature):
    """divide the logits by the temperature → the logits divided by the temperature"""
    return logits / temperature


def n_kept(top_k, logits):
    """limit top_k to the size of the vocabulary → the number of tokens that top-k keeps → the number of kept tokens"""
    return logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])


def smallest(scaled, n_kept):
    """find the smallest of the top_k largest logits → the smallest logit that top-k keeps, (batch, 1)"""
    return scaled.topk(n_kept).values[:, -1:]


def best_k(scaled, smallest):
    """set the logits that top-k drops to −∞ → the logits after top-k"""
    return scaled.masked_fill(scaled < smallest, -torch.inf)


def candidates(best_k):
    """take the softmax after top-k → the probabilities after top-k"""
    return best_k.softmax(dim=-1)


def order(candidates):
    """sort the tokens by probability, the likeliest first → the token ids in sorted order"""
    return candidates.argsort(dim=-1, descending=True)


def mass_before(candidates, order):
    """sum the probabilities before each token → the mass before each token: in sorted order"""
    ranked = candidates.gather(-1, order)
    return ranked.cumsum(dim=-1) - ranked


def superfluous(mass_before, top_p):
    """mark the tokens whose preceding mass has reached top_p → the sorted mask of top-p: True at dropped tokens"""
    return mass_before >= (math.inf if top_p is None else top_p)


def dropped(superfluous, order):
    """undo the sorting of the mask → the mask of top-p: True at dropped tokens"""
    return superfluous.gather(-1, order.argsort(dim=-1))


def nucleus(best_k, dropped):
    """set the logits that top-p drops to −∞ → the logits after top-p"""
    return best_k.masked_fill(dropped, -torch.inf)


def probabilities(nucleus):
    """take the softmax after top-p → the probabilities after top-p"""
    return nucleus.softmax(dim=-1)


def drawn(probabilities, generator):
    """draw a token for each row with the generator → the drawn tokens, (batch, 1)"""
    return torch.multinomial(probabilities, 1, generator=generator)


def tokens(drawn):
    """remove the last dimension → the tokens, (batch,)"""
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
