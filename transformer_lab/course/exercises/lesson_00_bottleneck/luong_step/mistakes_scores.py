"""What goes wrong with the scores in Luong's order, besides which axes meet."""

import torch

from transformer_lab.course.exercise import Mistake


def divided_by_the_root_of_the_width(state, states, w_c):
    scores = (states * state[:, None, :]).sum(dim=-1) / state.shape[-1] ** 0.5
    context = (torch.softmax(scores, dim=-1)[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def mean_instead_of_a_sum(state, states, w_c):
    weights = torch.softmax((states * state[:, None, :]).mean(dim=-1), dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def squeezes_everything(state, states, w_c):
    weights = torch.softmax((states @ state[:, :, None]).squeeze(), dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


MISTAKES = [
    Mistake(
        "divided_by_the_root_of_the_width",
        [divided_by_the_root_of_the_width, mean_instead_of_a_sum],
        says=(
            "The scores are divided by a number that grows with the width. That can work as attention too (it is the "
            "subject of lesson 02), but it is not what was asked for."
        ),
        hints=[
            "Compare with the formula: the score is a plain dot product.",
            "Is anything divided?",
            "Leave the division out.",
        ],
    ),
    Mistake(
        "squeezes_everything",
        [squeezes_everything],
        says=(
            "Right for several texts; with a single one, the axis of the batch is gone as well. `squeeze()` without a "
            "number takes away *every* axis of length 1. Look at the shape of the scores for a batch of 1."
        ),
        hints=[
            "Print the shape of the scores before and after the `squeeze`, for one text and for three.",
            "Only one of the axes is to go. Which?",
            "`.squeeze(-1)` where the axis stands last, `.squeeze(1)` where it stands in the middle.",
        ],
    ),
]
