"""The loss: how surprised the model is by each real token, with a little doubt left in the target."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared import log_probability, mean_loss_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.log_probability import (
    another_base,
    log_probabilities,
    of_given_targets,
    of_the_pick,
    over_several_positions,
    vocabulary_axis,
)
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float
) -> Float[Tensor, ""]:
    """Return the mean loss of all but padding; the right token gets 1 − smoothing, all share the smoothing."""
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return losses[targets != pad_id].mean()


def surprises(log_probabilities):
    """turn their signs round → the surprises: −log p of all tokens at each position"""
    return -log_probabilities


def of_targets(surprises, targets):
    """pick −log p of each target → the surprises of the targets, (batch, n)"""
    return surprises.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def average(surprises):
    """average −log p over the vocabulary → the mean of −log p over the vocabulary, (batch, n)"""
    return surprises.mean(dim=-1)


def target_weight(smoothing):
    """take 1 − smoothing as the weight of the target → the weight of the target: 1 − smoothing"""
    return 1 - smoothing


def smoothing_weight(smoothing):
    """take smoothing as the weight of the average → the weight of the average: smoothing"""
    return smoothing


def losses(of_targets, average, target_weight, smoothing_weight):
    """add the two, each times its weight → the losses of all positions, (batch, n)"""
    return target_weight * of_targets + smoothing_weight * average


def real(targets, pad_id):
    """mark the positions that are no padding → the mask of the real tokens, (batch, n)"""
    return targets != pad_id


def total(losses, real):
    """add up the losses of these positions → the sum of the losses of all real tokens"""
    return losses[real].sum()


def n_tokens(real):
    """count these positions → the number of real tokens"""
    return real.sum()


def loss(total, n_tokens):
    """divide the sum by the count → the loss: the mean over the real tokens"""
    return total / n_tokens


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    surprises,
    of_targets,
    average,
    target_weight,
    smoothing_weight,
    losses,
    real,
    total,
    n_tokens,
    loss,
    reference=smoothed_cross_entropy,
)


def smoothed_cross_entropy_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, smoothing, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # to work by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id, "smoothing": smoothing}, shows)

    unexpected = case(3, 4, 7, 2, 0.1, "padding that is not token 0, and that nobody expects", padding=(1, 4, 2))
    unexpected.inputs["logits"][..., 2] -= torch.where(unexpected.inputs["targets"] == 2, 60, 30)
    sure = case(2, 3, 5, 4, 0.2, "a model that is very sure, and often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    right = case(2, 4, 3, 1, 0.0, "a model that is very sure, and right about one token", padding=(4, 3))
    right.inputs["logits"][0, 1, right.inputs["targets"][0, 1]] += 200
    far = case(3, 2, 4, 3, 0.1, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    return [
        case(1, 1, 3, 0, 0.0, "one token, no smoothing", digits=1),
        case(1, 2, 3, 0, 0.3, "2 tokens, smoothing", digits=1),
        case(1, 4, 3, 0, 0.0, "2 tokens and 2 of padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, 0.2, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        unexpected,
        right,
        far,
        sure,
        case(5, 13, 11, 1, 0.1, "5 sentences, and gradients", padding=(13, 2, 7, 1, 9)),
    ]


MISTAKES = [
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        summary="the smoothing is always 0.1, whatever the argument says",
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / (surprises.shape[-1] - 1)),
        summary="the smoothing is spread over the *other* tokens only",
        message="{summary}. As in torch, the right token gets its part of it, too.",
        hints=["The right token should get 1 − smoothing + smoothing / V, with V tokens in the vocabulary."],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(
            losses=lambda of_targets, average, smoothing, smoothing_weight: (
                1 - smoothing * of_targets + smoothing_weight * average
            )
        ),
        summary="the brackets round 1 − smoothing are missing",
        message="Python multiplies first: in `1 - smoothing * …` the 1 stands alone. Brackets are missing.",
        hints=["What is `1 - 0.1 * 5`?"],
    ),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, pad_id, targets: logits * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        summary="padding is masked in the logits, and still counted",
        message=(
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
        summary="the average over the vocabulary is added up at every position, padding included",
        message="Padding is left out of one of the two terms only: {summary}.",
        hints=["With smoothing 0, does padding change the loss? And with smoothing 0.1?"],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        summary="each sentence is averaged first, and then the sentences",
        message="{summary}: a token of a short sentence counts more than one of a long sentence.",
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


EXERCISE = Exercise(
    reference=smoothed_cross_entropy,
    steps=STEPS,
    cases=smoothed_cross_entropy_cases,
    points=3,
    verified="Every real token counts the same, padding does not count, and the doubt is spread over the whole "
    "vocabulary.",
    hints=[
        "Three steps: log-probabilities, one loss for each token, the mean of those that are no padding.",
        "`log_p = torch.log_softmax(logits, dim=-1)` and `log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`: the "
        "log-probability of each right token, (batch, n).",
        "The loss of a token is (1 − smoothing) times minus its log-probability, plus smoothing times minus the mean "
        "of *all* the log-probabilities there: `log_p.mean(dim=-1)`.",
        "`losses[targets != pad_id].mean()`. Or let `nn.functional.cross_entropy` do all of it: it wants the logits as "
        "(tokens, vocab_size), and has `ignore_index` and `label_smoothing`.",
    ],
    messages={
        **mean_loss_mistakes.TOLD,
        **log_probability.TOLD_OF_GIVEN_TARGETS,
        "left_out_losses: of_targets": (
            "The loss is right where `smoothing` is 0, and does not change where it is not. The argument is not used."
        ),
        "wrong_input_smoothing_weight": (
            "The average over the vocabulary gets 1 − smoothing: with a smoothing of 0, as much as the right token."
        ),
    },
    mistakes=MISTAKES,
)
