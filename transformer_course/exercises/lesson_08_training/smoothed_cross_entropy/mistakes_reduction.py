"""What goes wrong when the losses of tokens are put together."""

import torch
from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import of_the_pick
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets


def classes_on_the_wrong_axis(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits, targets, ignore_index=pad_id, label_smoothing=smoothing)


def flattens_the_logits_only(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=pad_id, label_smoothing=smoothing)


MISTAKES = [
    *which_targets(STEPS, below="all_tokens_below_the_padding_left_out"),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, pad_id, targets: logits * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        does="padding is masked in the logits, and still counted",
        says=(
            "The logits at padding are set to 0, and the padding is still counted: even probabilities cost log V there."
        ),
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "masks_one_term_only",
        STEPS.but(
            total=lambda of_targets, average, target_weight, smoothing_weight, real: (
                target_weight * of_targets * real + smoothing_weight * average
            ).sum()
        ),
        does="the average over the vocabulary is added up at every position, padding included",
        says=(
            "Padding is left out of one of the two terms only: the average over the vocabulary is still added up at "
            "*every* position."
        ),
        hints=["With smoothing 0, does padding change the loss? And with smoothing 0.1?"],
    ),
    Mistake(
        "masks_the_target_term_not",
        STEPS.but(
            total=lambda of_targets, average, target_weight, smoothing_weight, real: (
                target_weight * of_targets + smoothing_weight * average * real
            ).sum()
        ),
        does="the term of the target is added up at every position, padding included",
        says=(
            "Padding is left out of one of the two terms only: the term of the target is still added up at *every* "
            "position."
        ),
        hints=["With smoothing 0, does padding change the loss?"],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        does="each sentence is averaged first, and then the sentences",
        says="{does}: a token of a short sentence counts more than one of a long sentence.",
        hints=["A sentence of 1 token and one of 9: how much does each of the ten tokens count?"],
    ),
    Mistake(
        "classes_on_the_wrong_axis",
        classes_on_the_wrong_axis,
        says=(
            "torch's function takes the second axis for the vocabulary, and here that is the position. It crashes, or, "
            "where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`logits.flatten(0, 1)` and `targets.flatten()`, or `logits.transpose(1, 2)`.",
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
            "`targets.flatten()`.",
        ],
    ),
    *of_the_mean(STEPS, "sentence", "targets", lambda targets: targets.numel()),
    *of_the_pick(
        STEPS,
        "of_targets",
        "surprises",
        STEPS.but(
            of_targets=lambda surprises, targets: surprises[..., targets],
            loss=lambda of_targets, average: of_targets + average,
        ),
        STEPS.but(of_targets=lambda surprises, targets: surprises[..., targets]).attempt,
        STEPS.but(of_targets=lambda surprises, targets: surprises[targets]),
        STEPS.but(of_targets=lambda surprises, targets: surprises[:, targets]).attempt,
    ),
]
