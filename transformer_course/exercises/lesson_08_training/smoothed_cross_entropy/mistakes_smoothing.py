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
        hints=[
            "What is the loss with `smoothing=0.3`?",
            "A part of the target's probability goes to all tokens of the vocabulary alike.",
            "(1 − smoothing) times the old loss, plus smoothing times the mean of minus all log-probabilities.",
        ],
    ),
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        does="the smoothing is always 0.1, whatever the argument says",
        says="The smoothing is always 0.1. The last argument says how much it should be.",
        hints=[
            "Where does the argument `smoothing` occur in the code?",
            "The 0.1 of the text is an example; the first case has smoothing 0.",
            "Use `smoothing` in both weights.",
        ],
    ),
    Mistake(
        "relative_entropy",
        STEPS.but(losses=lambda losses, smoothing, logits: losses - entropy(smoothing, logits.shape[-1])),
        does="the entropy of the target is subtracted from each loss, as in the KL divergence",
        says=(
            "This is the relative entropy, or KL divergence: the surprise, less the doubt that the target has itself. "
            "The gradient is the same; the number asked for is the whole surprise."
        ),
        hints=[
            "What is the loss of a model that says exactly what the target says? Here it is 0.",
            "The loss of a token is the sum of −log p, each times its weight in the target.",
            "Add up `-(target * log_p)` over the vocabulary, instead of `kl_div`.",
        ],
    ),
    Mistake(
        "no_log",
        STEPS.but(log_probabilities=lambda logits, vocabulary_axis: logits.softmax(vocabulary_axis)),
        does="the probabilities themselves are used, without a logarithm",
        says=(
            "The probabilities themselves are averaged. The loss is the *logarithm* of the probability, with a minus: "
            "it grows without bound where something that came was thought impossible."
        ),
        hints=[
            "What is the loss where the model is sure and right? It should be 0.",
            "−log(1) = 0, −log(0.5) ≈ 0.69, −log(0) = ∞.",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "a_sigmoid",
        STEPS.but(log_probabilities=lambda logits: logits.sigmoid().log()),
        STEPS.but(log_probabilities=lambda logits: torch.nn.functional.logsigmoid(logits)).attempt,
        does="a sigmoid is taken of each logit, not a softmax of all of them",
        says="A sigmoid is taken of each logit by itself. The tokens of the vocabulary should compete with each other.",
        hints=[
            "Add up the probabilities of all tokens at one position. What comes out?",
            "Which function turns many logits into probabilities that add up to 1?",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(surprises=lambda log_probabilities: log_probabilities),
        does="the minus of −log p is missing",
        says="The sign is turned round: the better the model, the larger this loss. Training would make it worse.",
        hints=[
            "A log-probability is never above 0. Should a loss be below it?",
            "−log p is the surprise.",
            "A minus.",
        ],
    ),
    Mistake(
        "forgets_a_minus",
        STEPS.but(average=lambda average: -average),
        does="the average over the vocabulary has the other sign than the term of the target",
        says=(
            "The two terms have different signs: the loss falls when all tokens of the vocabulary get less likely. A "
            "minus is missing."
        ),
        hints=[
            "A log-probability is never above 0. Which sign should each of the two terms have?",
            "Both the right token and all of them together are measured by −log p.",
            "Minus (1 − smoothing) times the one, and *minus* smoothing times the other.",
        ],
    ),
    Mistake(
        "forgets_the_minus_of_the_target",
        STEPS.but(of_targets=lambda of_targets: -of_targets),
        does="the term of the target has the wrong sign",
        says="The loss grows when the right token gets *likelier*: {does}.",
        hints=[
            "A log-probability is never above 0. Which sign should each of the two terms have?",
            "Both the right token and all of them together are measured by −log p.",
            "*Minus* (1 − smoothing) times the one, and minus smoothing times the other.",
        ],
    ),
    Mistake(
        "the_likeliest_token",
        STEPS.but(of_targets=lambda surprises: surprises.amin(dim=-1)),
        does="the likeliest token is taken at each position, not the target",
        says="At each position the *likeliest* token is taken, not the target: no model is ever punished for an error.",
        hints=[
            "What part do the targets play, other than to say what is padding?",
            "`gather` picks the log-probability of a given token at each position.",
            "`log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`.",
        ],
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / (surprises.shape[-1] - 1)),
        does="the smoothing is spread over the *other* tokens only",
        says=(
            "The smoothing is spread over the *other* tokens of the vocabulary. As in torch, the right token gets its "
            "part of it, too."
        ),
        hints=[
            "The right token should get 1 − smoothing + smoothing / V, with V tokens in the vocabulary.",
            "By which number is the smoothing divided?",
            "By V, and the right token is one of the V: the mean of all log-probabilities.",
        ],
    ),
    Mistake(
        "the_right_token_gets_no_share",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / surprises.shape[-1]),
        does="the smoothing is divided by the whole vocabulary, and the right token gets none of it",
        says=(
            "The smoothing is divided by the whole vocabulary, but the right token gets none of it: the target adds up "
            "to less than 1."
        ),
        hints=[
            "Add up what all the tokens of the target get.",
            "The right token should get 1 − smoothing + smoothing / V.",
            "Add the two parts instead of writing the one over the other.",
        ],
    ),
    Mistake(
        "divides_by_one_too_few",
        STEPS.but(average=lambda surprises: surprises.sum(-1) / (surprises.shape[-1] - 1)),
        does="all V tokens get smoothing / (V − 1)",
        says="Each of the V tokens gets smoothing / (V − 1), the right one, too: the target adds up to more than 1.",
        hints=[
            "Add up what all the tokens of the target get.",
            "As many tokens as get a part of it, by so many it is divided.",
            "The mean of all V log-probabilities: `log_p.mean(dim=-1)`.",
        ],
    ),
    Mistake(
        "shared_by_another_number",
        STEPS.but(average=lambda surprises, targets: surprises.sum(dim=-1) / targets.shape[1]),
        does="the smoothing is divided by the length n, not by the size of the vocabulary",
        says=(
            "The smoothing is divided by the length of the sentences. It is the tokens of the *vocabulary* that share "
            "it. Look at which size is divided by."
        ),
        hints=[
            "What do the target probabilities of all tokens add up to?",
            "`logits` has the shape (batch, n, vocab_size). Over which axis is the smoothing spread?",
            "`logits.shape[-1]`, or a mean over the last axis.",
        ],
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
        hints=[
            "Over how many tokens is the smoothing spread? It should be the whole vocabulary.",
            "`pad_id` says which *targets* are left out; it has no say in how the smoothing is spread.",
            "The mean of all log-probabilities, times smoothing.",
        ],
    ),
    Mistake(
        "every_token_gets_the_whole_doubt",
        STEPS.but(average=lambda surprises: surprises.sum(dim=-1)),
        STEPS.but(average=lambda surprises, of_targets: surprises.sum(dim=-1) - of_targets).attempt,
        does="−log p is added up over the vocabulary, not averaged",
        says="Every token of the vocabulary gets all of `smoothing`. They should *share* it.",
        hints=[
            "Add up what all the tokens of the target get.",
            "With V tokens in the vocabulary, each gets smoothing / V.",
            "The *mean* of the log-probabilities, times smoothing.",
        ],
    ),
    Mistake(
        "divides_the_smoothing_twice",
        STEPS.but(smoothing_weight=lambda smoothing, logits: smoothing / logits.shape[-1]),
        does="smoothing is divided by the size of the vocabulary before it is multiplied with the average",
        says=(
            "The smoothing is divided by V, and so is the sum of the log-probabilities, in their mean: the target adds "
            "up to less than 1."
        ),
        hints=[
            "Add up what all the tokens of the target get.",
            "smoothing / V times a *sum*, or smoothing times a *mean*.",
            "`smoothing * log_p.mean(dim=-1)`.",
        ],
    ),
    Mistake(
        "averages_over_another_axis",
        STEPS.but(average=lambda surprises: surprises.mean()),
        STEPS.but(average=lambda surprises: surprises.mean(dim=1)),
        STEPS.but(average=lambda surprises: surprises.mean(dim=1, keepdim=True)).attempt,
        does="the average of −log p does not run over the vocabulary alone",
        says=(
            "The average of −log p runs over another axis than the vocabulary, or over more. Each position needs one."
        ),
        hints=[
            "What shape has the mean of all log-probabilities? It should be (batch, n).",
            "Which axis is the vocabulary?",
            "`log_p.mean(dim=-1)`.",
        ],
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
        hints=[
            "What is multiplied by `smoothing`? It should be computed from log-probabilities.",
            "Each token of the vocabulary gets smoothing / V, and costs −log p as the right one does.",
            "`smoothing * -log_p.mean(dim=-1)`.",
        ],
    ),
    Mistake(
        "the_right_token_stays_whole",
        STEPS.but(target_weight=lambda: 1),
        does="−log p of the right token keeps the factor 1, not 1 − smoothing",
        says="The smoothing is added, but the right token keeps all of its 1: the target adds up to more than 1.",
        hints=[
            "Add up what all the tokens of the target get.",
            "What goes to all tokens is taken from the right one.",
            "The first term is to be multiplied by (1 − smoothing).",
        ],
    ),
    Mistake(
        "the_right_token_gets_its_part_twice",
        STEPS.but(target_weight=lambda smoothing, logits: 1 - smoothing + smoothing / logits.shape[-1]),
        does="the target gets its part of the smoothing in its own weight as well",
        says=(
            "The right token gets smoothing / V twice: once in its own weight, once in the mean over the vocabulary, "
            "in which it is, too."
        ),
        hints=[
            "Add up what all the tokens of the target get.",
            "The mean over the vocabulary already includes the right token.",
            "(1 − smoothing) for the right token, and smoothing times the mean of all.",
        ],
    ),
    Mistake(
        "the_weight_grows_with_the_smoothing",
        STEPS.but(target_weight=lambda smoothing: 1 + smoothing),
        does="the weight of the target is 1 + smoothing",
        says="The right token gets *more* than 1: what goes to all tokens should be taken from it.",
        hints=[
            "Add up what all the tokens of the target get.",
            "Which sign should the smoothing have in the weight of the right token?",
            "(1 − smoothing).",
        ],
    ),
    Mistake(
        "both_weights_are_the_smoothing",
        STEPS.but(target_weight=lambda smoothing: smoothing),
        does="the weight of the target is smoothing",
        says="The right token gets `smoothing`: with a smoothing of 0, nothing at all.",
        hints=[
            "What should be left of the loss if smoothing is 0?",
            "The weights of the two terms add up to 1.",
            "The right token has (1 − smoothing), the mean of all has smoothing.",
        ],
    ),
    Mistake(
        "both_weights_are_the_rest",
        STEPS.but(smoothing_weight=lambda smoothing: 1 - smoothing),
        does="the weight of the average is 1 − smoothing",
        says="The average over the vocabulary gets 1 − smoothing: with a smoothing of 0, as much as the right token.",
        hints=[
            "What should be left of the loss if smoothing is 0?",
            "The weights of the two terms add up to 1.",
            "The right token has (1 − smoothing), the mean of all has smoothing.",
        ],
    ),
    Mistake(
        "the_shares_exchanged",
        STEPS.but(smoothing=lambda smoothing: 1 - smoothing),
        does="the two weights, smoothing and 1 − smoothing, have changed places",
        says="The two weights have changed places: with a smoothing of 0, the right token gets nothing.",
        hints=[
            "What should be left of the loss if smoothing is 0?",
            "Which term has the factor (1 − smoothing)?",
            "The right token has (1 − smoothing), the mean of all has smoothing.",
        ],
    ),
    Mistake(
        "smooths_the_loss",
        STEPS.but(smoothing_weight=lambda: 0.0),
        does="the term of the smoothing is missing",
        says=(
            "The loss is made smaller by the smoothing, but nothing is asked of other tokens. A second term is missing."
        ),
        hints=[
            "Where does the part that is taken from the right token go?",
            "To all tokens of the vocabulary alike.",
            "Plus smoothing times the mean of minus all log-probabilities.",
        ],
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
        hints=[
            "What is `1 - 0.1 * 5`?",
            "`*` binds more tightly than `-`.",
            "`(1 - smoothing) * …`.",
        ],
    ),
    another_base(STEPS, "surprises"),
    over_several_positions(STEPS),
    *of_given_targets(STEPS, total=lambda losses, real: (losses * real).sum()),
]
