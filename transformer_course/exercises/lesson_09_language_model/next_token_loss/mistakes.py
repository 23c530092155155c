"""What goes wrong when predictions meet the tokens that they are about, and when the losses become one number."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import (
    another_base,
    of_the_log_probabilities,
    over_several_positions,
)
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets

MISTAKES = [
    Mistake(
        "no_shift",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens),
        does="the logits at t are compared with the token at t itself",
        says=(
            "Nothing is shifted: each position is asked for the very token that it has just read. A model learns that "
            "at once, and can continue nothing."
        ),
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "shifted_the_wrong_way",
        STEPS.but(predictions=lambda logits: logits[:, 1:], targets=lambda tokens: tokens[:, :-1]),
        does="the logits at t are compared with the token at t − 1",
        says="The shift goes the wrong way: each position is asked for the token *before* it.",
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "runs_on_into_the_next_text",
        STEPS.but(
            predictions=lambda logits: logits.flatten(0, 1)[None, :-1],
            targets=lambda tokens: tokens.flatten()[None, 1:],
        ),
        does="the texts are joined before the shift, so that the end of one predicts the beginning of the next",
        says=(
            "Right for one text. The texts are made one long list before the shift, so the last position of each is "
            "asked for the first token of the *next* text."
        ),
        hints=["How many predictions do 2 texts of 4 tokens give? There should be 6."],
    ),
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
    *of_the_log_probabilities(STEPS, "predictions"),
    over_several_positions(STEPS, "predictions"),
    another_base(STEPS, "losses"),
    Mistake(
        "padding_of_the_inputs",
        STEPS.but(real=lambda tokens, pad_id: tokens[:, :-1] != pad_id),
        does="padding is looked for in the tokens that predict, not in those that are predicted",
        says=(
            "Padding is looked for in the tokens that *predict*. So the last real token of a text is still asked for "
            "the padding that follows it."
        ),
        hints=["A text of 3 tokens and 2 of padding: how many predictions count? There should be 2."],
    ),
    *which_targets(STEPS, "`targets != pad_id`.", below="tokens_below_the_padding_left_out"),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            predictions=lambda predictions, targets, pad_id: predictions * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        does="padding is masked in the logits, and still counted",
        says=(
            "The logits at padding are set to 0, and the padding is still counted: equal probabilities cost log V "
            "there."
        ),
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        does="the mean of each text is taken first, and then the mean of these",
        says="{does}: a token of a short text counts more than one of a long text.",
        hints=["Two texts with 1 and 9 predictions: how much does each of the 10 count?"],
    ),
    Mistake(
        "counts_the_first_tokens",
        STEPS.but(n_tokens=lambda tokens, pad_id: (tokens != pad_id).sum()),
        does="the sum is divided by the number of real *tokens*, the first of each text included",
        says=(
            "The sum is divided by the number of all real tokens. The first token of a text is predicted by nothing, "
            "so there is one prediction less in each text."
        ),
        hints=["How many predictions do 4 tokens give?"],
    ),
    Mistake(
        "divides_by_the_length",
        STEPS.but(n_tokens=lambda tokens: tokens.shape[1]),
        STEPS.but(n_tokens=lambda targets: targets.shape[1]),
        does="the sum is divided by the length of the texts",
        says="{does}, not by the number of real targets in the batch.",
        hints=["Does the loss double if the same texts are in the batch twice?"],
    ),
    *of_the_mean(STEPS, "text", lambda targets: targets.numel(), lambda tokens: tokens.numel()),
]
