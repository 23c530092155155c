"""What goes wrong between logits and the loss of a token."""

import math

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


def without_padding(surprises, pad_id):
    """Return the surprises of all tokens but padding."""
    return torch.cat([surprises[..., :pad_id], surprises[..., pad_id + 1 :]], dim=-1)


MISTAKES = [
    Mistake(
        "forgets_the_smoothing",
        STEPS.but(smoothing=lambda: 0.0),
        does="`smoothing` is not used: the loss is that of smoothing 0",
        says="The loss is right where `smoothing` is 0, and does not change where it is not. The argument is not used.",
        hints=["What is the loss with `smoothing=0.3`?"],
    ),
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        does="the smoothing is always 0.1, whatever the argument says",
        says="The smoothing is always 0.1. The last argument says how much it should be.",
        hints=["Where does the argument `smoothing` occur in the code?"],
    ),
    Mistake(
        "relative_entropy",
        STEPS.but(losses=lambda losses, smoothing, logits: losses - entropy(smoothing, logits.shape[-1])),
        does="the entropy of the target is subtracted from each loss, as in the KL divergence",
        says=(
            "This is the relative entropy, or KL divergence: the surprise, less the doubt that the target has itself. "
            "The gradient is the same; the number asked for is the whole surprise."
        ),
        hints=["What is the loss of a model that says exactly what the target says? Here it is 0."],
    ),
    Mistake(
        "a_sigmoid",
        STEPS.but(log_probabilities=lambda logits: logits.sigmoid().log()),
        STEPS.but(log_probabilities=lambda logits: torch.nn.functional.logsigmoid(logits)).attempt,
        does="a sigmoid is taken of each logit, not a softmax of all of them",
        says="A sigmoid is taken of each logit by itself. The tokens of the vocabulary should compete with each other.",
        hints=["Add up the probabilities of all tokens at one position. What comes out?"],
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(surprises=lambda log_probabilities: log_probabilities),
        does="the minus of −log p is missing",
    ),
    Mistake(
        "forgets_a_minus",
        STEPS.but(average=lambda average: -average),
        does="the average over the vocabulary has the other sign than the term of the target",
    ),
    Mistake(
        "forgets_the_minus_of_the_target",
        STEPS.but(of_targets=lambda of_targets: -of_targets),
        does="the term of the target has the wrong sign",
    ),
    Mistake(
        "the_likeliest_token",
        STEPS.but(of_targets=lambda surprises: surprises.amin(dim=-1)),
        does="the likeliest token is taken at each position, not the target",
        says="At each position the *likeliest* token is taken, not the target: no model is ever punished for an error.",
        hints=["What part do the targets play, other than to say what is padding?"],
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
        "divides_by_one_too_few",
        STEPS.but(average=lambda surprises: surprises.sum(-1) / (surprises.shape[-1] - 1)),
        does="all V tokens get smoothing / (V − 1)",
    ),
    Mistake(
        "shared_by_another_number",
        STEPS.but(average=lambda surprises, targets: surprises.sum(dim=-1) / targets.shape[1]),
        does="the smoothing is divided by the length n, not by the size of the vocabulary",
    ),
    Mistake(
        "padding_gets_no_share",
        STEPS.but(
            average=lambda surprises, pad_id, of_targets: (
                (without_padding(surprises, pad_id).sum(-1) - of_targets) / (surprises.shape[-1] - 2)
            )
        ),
        STEPS.but(average=lambda surprises, pad_id: without_padding(surprises, pad_id).mean(-1)),
        STEPS.but(average=lambda surprises, pad_id: without_padding(surprises, pad_id).sum(-1) / surprises.shape[-1]),
        does="padding gets no part of the smoothing",
        says=(
            "The smoothing is spread over the vocabulary without padding. As in torch, every token of the vocabulary "
            "gets its part."
        ),
        hints=["Over how many tokens is the smoothing spread? It should be the whole vocabulary."],
    ),
    Mistake(
        "every_token_gets_the_whole_doubt",
        STEPS.but(average=lambda surprises: surprises.sum(dim=-1)),
        STEPS.but(average=lambda surprises, of_targets: surprises.sum(dim=-1) - of_targets).attempt,
        does="−log p is added up over the vocabulary, not averaged",
        says="Every token of the vocabulary gets all of `smoothing`. They should *share* it.",
        hints=["Add up what all the tokens of the target get."],
    ),
    Mistake(
        "divides_the_smoothing_twice",
        STEPS.but(smoothing_weight=lambda smoothing, logits: smoothing / logits.shape[-1]),
        does="smoothing is divided by the size of the vocabulary before it is multiplied with the average",
        says=(
            "The smoothing is divided by V, and so is the sum of the log-probabilities, in their mean: the target adds "
            "up to less than 1."
        ),
        hints=["Add up what all the tokens of the target get."],
    ),
    Mistake(
        "averages_over_the_positions_too",
        STEPS.but(average=lambda surprises: surprises.mean()),
        does="−log p is averaged over the positions, too, padding included",
    ),
    Mistake(
        "averages_over_another_axis",
        STEPS.but(average=lambda surprises: surprises.mean(dim=1)),
        STEPS.but(average=lambda surprises: surprises.mean(dim=1, keepdim=True)).attempt,
        does="the average of −log p does not run over the vocabulary alone",
    ),
    Mistake(
        "averages_something_else",
        STEPS.but(average=lambda logits: -logits.mean(-1)),
        STEPS.but(average=lambda logits: -logits.softmax(-1).mean(-1)),
        STEPS.but(average=lambda logits: torch.special.entr(logits.softmax(-1)).sum(-1)),
        STEPS.but(average=lambda logits: math.log(logits.shape[-1])),
        STEPS.but(average=lambda: 1.0),
        STEPS.but(average=lambda logits: 1 / logits.shape[-1]).attempt,
        does="the term of the smoothing is not the mean of −log p",
        says=(
            "The term of the target is right, but what is multiplied by the smoothing is not the mean of the −log p of "
            "all tokens."
        ),
        hints=["What is multiplied by `smoothing`? It should be computed from log-probabilities."],
    ),
    Mistake(
        "the_right_token_stays_whole",
        STEPS.but(target_weight=lambda: 1),
        does="−log p of the right token keeps the factor 1, not 1 − smoothing",
    ),
    Mistake(
        "the_right_token_gets_its_part_twice",
        STEPS.but(target_weight=lambda smoothing, logits: 1 - smoothing + smoothing / logits.shape[-1]),
        does="the target gets its part of the smoothing in its own weight as well",
        says=(
            "The right token gets smoothing / V twice: once in its own weight, once in the mean over the vocabulary, "
            "in which it is, too."
        ),
        hints=["Add up what all the tokens of the target get."],
    ),
    Mistake(
        "the_weight_grows_with_the_smoothing",
        STEPS.but(target_weight=lambda smoothing: 1 + smoothing),
        does="the weight of the target is 1 + smoothing",
    ),
    Mistake(
        "both_weights_are_the_smoothing",
        STEPS.but(target_weight=lambda smoothing: smoothing),
        does="the weight of the target is smoothing",
    ),
    Mistake(
        "both_weights_are_the_rest",
        STEPS.but(smoothing_weight=lambda smoothing: 1 - smoothing),
        does="the weight of the average is 1 − smoothing",
        says="The average over the vocabulary gets 1 − smoothing: with a smoothing of 0, as much as the right token.",
        hints=["What should be left of the loss if smoothing is 0?"],
    ),
    Mistake(
        "the_shares_exchanged",
        STEPS.but(smoothing=lambda smoothing: 1 - smoothing),
        does="the two weights, smoothing and 1 − smoothing, have changed places",
    ),
    Mistake(
        "smooths_the_loss",
        STEPS.but(smoothing_weight=lambda: 0.0),
        does="the term of the smoothing is missing",
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
