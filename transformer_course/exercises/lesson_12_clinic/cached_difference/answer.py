"""The answer to ``cached_difference``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercises.shared.eval_mode_steps import evaluating, was_training
from transformer_course.exercises.shared.largest_difference_steps import answer, largest, sizes
from transformer_course.steps import InSteps


def cached_difference(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> float:
    """Return the largest difference between the logits of one call and those of one call per token, with a cache."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        at_once, cache = model(tokens), model.new_cache()
        one_by_one = [model(tokens[:, [position]], cache) for position in range(tokens.shape[1])]
    model.train(was_training)
    return (torch.cat(one_by_one, dim=1) - at_once).abs().max().item()


def at_once(evaluating, tokens):
    """run it on the whole sequence, without a cache

    the logits of one call on the whole sequence
    """
    return evaluating(tokens)


def positions(tokens):
    """go through all positions

    the positions: all of them, in order
    """
    return range(tokens.shape[1])


def piece(tokens):
    """take one token of each text

    the tokens of one position, (batch, 1)
    """
    return lambda position: tokens[:, position : position + 1]


def kept():
    """keep one cache for all tokens

    the cache of the next call: the same as in the call before
    """
    return lambda cache, new_cache: cache


def call(evaluating):
    """give the model one token and the cache

    what calls the model: with one token of each text, and the cache
    """
    return lambda piece, cache: evaluating(piece, cache)


def logits():
    """take the logits of a call as they are

    the logits of the newest token, (batch, 1, vocab_size)
    """
    return lambda logits: logits


def one_by_one(evaluating, positions, piece, kept, call, logits):
    """run it on one token after another, with a cache

    the logits of each token, one call per token
    """
    cache, found = evaluating.new_cache(), []
    for position in positions:
        found.append(logits(call(piece(position), cache)))
        cache = kept(cache, evaluating.new_cache)
    return found


def cached(one_by_one):
    """put the logits of all positions after one another

    the logits that were computed with a cache, (batch, n, vocab_size)
    """
    return torch.cat(one_by_one, dim=1)


def differences(at_once, cached):
    """subtract the logits of one from those of the other

    the differences, (batch, n, vocab_size)
    """
    return cached - at_once


STEPS = InSteps(
    was_training, evaluating, at_once, positions, piece, kept, call, logits, one_by_one, cached, differences, sizes,
    largest, answer, reference=cached_difference
)  # fmt: skip
