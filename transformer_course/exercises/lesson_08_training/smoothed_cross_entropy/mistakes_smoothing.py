"""What goes wrong between logits and the loss of a token."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import (
    another_base,
    of_given_targets,
    over_several_positions,
)


def entropy(smoothing, vocab_size):
    """Return the entropy of a smoothed target."""
    target = torch.full((vocab_size,), smoothing / vocab_size)
    target[0] += 1 - smoothing
    return torch.special.entr(target).sum()


MISTAKES = [
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        does="the smoothing is always 0.1, whatever the argument says",
        says="The smoothing is always 0.1. The last argument says how much it should be.",
        hints=["Where does the argument `smoothing` occur in the code?"],
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / (surprises.shape[-1] - 1)),
        does="the smoothing is spread over the *other* tokens only",
        says=(
            "The smoothing is spread over the *other* tokens of the vocabulary. As in torch, the right token gets its "
            "part of it, too."
        ),
        hints=["The right token should get 1 − smoothing + smoothing / V, with V tokens in the vocabulary."],
    ),
    Mistake(
        "the_right_token_gets_no_share",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / surprises.shape[-1]),
        does="the smoothing is divided by the whole vocabulary, and the right token gets none of it",
        says=(
            "The smoothing is divided by the whole vocabulary, but the right token gets none of it: the target adds up "
            "to less than 1."
        ),
        hints=["Add up what all the tokens of the target get."],
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
    another_base(STEPS, "surprises"),
    over_several_positions(STEPS),
    *of_given_targets(STEPS, total=lambda losses, real: (losses * real).sum()),
]
