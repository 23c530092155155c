"""The reference for ``leaks_future``, and the same answer in steps."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercises.shared.eval_mode import evaluating, was_training
from transformer_course.steps import InSteps


def leaks_future(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> bool:
    """Return whether any output of the model in eval mode depends on a later token."""
    was_training = model.training
    model.eval()
    before, n_ids = model(tokens), tokens.max() + 1
    leaks = False
    for position in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % n_ids  # a different existing id
        after = model(changed)
        leaks |= not torch.allclose(after[:, :position], before[:, :position], atol=1e-4)
    model.train(was_training)
    return leaks


def before(evaluating, tokens):
    """run the model on the original tokens → the original outputs"""
    return evaluating(tokens)


def positions(tokens):
    """choose the positions to change → the positions to change: all but the first"""
    return range(1, tokens.shape[1])


def n_ids(tokens):
    """count the ids that are sure to exist → the number of known ids: the largest token plus 1"""
    return tokens.max() + 1


def copy(tokens):
    """copy the tokens for each position → a new copy of the tokens"""
    return tokens.clone


def place():
    """choose the entries to change → the changed entries: one position in every sentence"""
    return lambda position: (slice(None), position)


def another(n_ids):
    """change the token to another id that exists → the new ids: the old ids plus 1, wrapping around to 0"""
    return lambda ids: (ids + 1) % n_ids


def change(copy, place, another):
    """write the new ids into the copy → the changed tokens: different at one position"""

    def changed(position):
        tokens, where = copy(), place(position)
        tokens[where] = another(tokens[where])
        return tokens

    return changed


def watched():
    """choose the outputs before the changed position → the earlier outputs: before the changed position"""
    return lambda outputs, position: outputs[:, :position]


def moved():
    """compare the outputs up to rounding → the comparison of the outputs: a difference above rounding error"""
    return lambda after, before: not torch.allclose(after, before, atol=1e-4)


def moves(before, evaluating, positions, change, watched, moved):
    """run the model after each change → the results for all positions: whether an earlier output changed"""
    return [moved(watched(evaluating(change(p)), p), watched(before, p)) for p in positions]


def leaks(moves):
    """check whether any change moved an earlier output → the result: whether any change moved an earlier output"""
    return any(moves)


def answer(model, was_training, leaks):
    """restore the model's mode → the answer: whether the model leaks, with its mode restored"""
    model.train(was_training)
    return leaks


STEPS = InSteps(
    was_training, evaluating, before, positions, n_ids, copy, place, another, change, watched, moved, moves, leaks,
    answer, reference=leaks_future
)  # fmt: skip
