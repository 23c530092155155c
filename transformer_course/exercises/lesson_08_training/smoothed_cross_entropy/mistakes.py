"""What goes wrong between logits and the loss of a token, and when the losses are put together."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import (
    another_base,
    of_given_targets,
    of_the_pick,
    over_several_positions,
)
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets

MISTAKES = [
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        does="the smoothing is always 0.1, whatever the argument says",
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / (surprises.shape[-1] - 1)),
        does="the smoothing is spread over the *other* tokens only",
        says="{does}. As in torch, the right token gets its part of it, too.",
        hints=["The right token should get 1 − smoothing + smoothing / V, with V tokens in the vocabulary."],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(
            losses=lambda of_targets, average, smoothing, smoothing_weight: (
                1 - smoothing * of_targets + smoothing_weight * average
            )
        ),
        does="the brackets round 1 − smoothing are missing",
        says="Python multiplies first: in `1 - smoothing * …` the 1 stands alone. Brackets are missing.",
        hints=["What is `1 - 0.1 * 5`?"],
    ),
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
        says="Padding is left out of one of the two terms only: {does}.",
        hints=["With smoothing 0, does padding change the loss? And with smoothing 0.1?"],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        does="each sentence is averaged first, and then the sentences",
        says="{does}: a token of a short sentence counts more than one of a long sentence.",
        hints=["A sentence of 1 token and one of 9: how much does each of the ten tokens count?"],
    ),
    another_base(STEPS, "surprises"),
    over_several_positions(STEPS),
    *which_targets(STEPS, below="all_tokens_below_the_padding_left_out"),
    *of_the_mean(STEPS, "sentence", lambda targets: targets.numel()),
    *of_the_pick(
        STEPS,
        "of_targets",
        "surprises",
        STEPS.but(of_targets=lambda surprises, targets: surprises[..., targets]).attempt,
        STEPS.but(of_targets=lambda surprises, targets: surprises[targets]),
    ),
    *of_given_targets(STEPS, total=lambda losses, real: (losses * real).sum()),
]
