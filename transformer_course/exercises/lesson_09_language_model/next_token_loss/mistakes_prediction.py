"""What goes wrong on the way from logits to one loss for each target."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import (
    another_base,
    of_the_log_probabilities,
    over_several_positions,
)


def vocabulary_on_the_wrong_axis(logits, tokens, pad_id):
    return torch.nn.functional.cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=pad_id)


def flattens_the_logits_only(logits, tokens, pad_id):
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:], ignore_index=pad_id)


MISTAKES = [
    Mistake(
        "an_axis_too_many",
        STEPS.but(
            of_targets=lambda log_probabilities, targets: log_probabilities.gather(-1, targets.unsqueeze(-1)),
            total=lambda losses, real: (losses * real).sum(),
        ),
        does="what `gather` returns keeps its last axis, of length 1",
        says=(
            "What `gather` returns has an axis of length 1 at its end. Beside a mask of shape (batch, n − 1), every "
            "position meets every other one."
        ),
        hints=["Print the shapes of the losses and of the mask. Both should be (batch, n − 1)."],
    ),
    Mistake(
        "reshaped_instead_of_transposed",
        STEPS.but(
            predictions=lambda predictions: predictions.reshape(
                len(predictions), predictions.shape[2], predictions.shape[1]
            ).transpose(1, 2)
        ),
        does="the axes of the logits are exchanged by `reshape` or `view`, which mixes positions and vocabulary",
        says=(
            "`view` or `reshape` brings the axes of the logits into the order that torch wants. That mixes positions "
            "and vocabulary: the numbers of one position do not stay together."
        ),
        hints=["Lesson 03 had the same trap: the right shape, the wrong numbers."],
    ),
    Mistake(
        "vocabulary_on_the_wrong_axis",
        vocabulary_on_the_wrong_axis,
        says=(
            "torch's function takes the second axis for the vocabulary, and here that is the positions. It crashes, "
            "or, where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`.flatten(0, 1)` for the logits and `.flatten()` for the targets, or `.transpose(1, 2)` for the logits.",
        ],
    ),
    Mistake(
        "flattens_the_logits_only",
        flattens_the_logits_only,
        says=(
            "The logits are one long list of tokens, and the targets still are a table. torch's function wants both in "
            "the same form."
        ),
        hints=[
            "Which shapes do the two arguments have?",
            "With logits of shape (tokens, vocab_size), targets have the shape (tokens).",
            "`.flatten()` for the targets.",
        ],
    ),
    *of_the_log_probabilities(STEPS, "predictions"),
    over_several_positions(STEPS, "predictions"),
    another_base(STEPS, "losses", "predictions"),
]
