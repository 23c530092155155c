"""How likely a model thinks a whole sentence is."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.log_probability import (
    TOLD_OF_GIVEN_TARGETS,
    another_base,
    log_probabilities,
    of_given_targets,
    of_the_pick,
    vocabulary_axis,
)
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, " batch"]:
    """Return the log-probability of each sentence: the sum of those of its tokens, padding left out."""
    log_p = torch.log_softmax(logits, dim=-1)
    of_tokens = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    return of_tokens.masked_fill(targets == pad_id, 0.0).sum(dim=-1)


def of_tokens(log_probabilities, targets):
    """pick that of the target at each position → the log-probabilities of the targets, (batch, n)"""
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def padding(targets, pad_id):
    """mark the padding → the mask of the padding, (batch, n)"""
    return targets == pad_id


def filling():
    """take 0 for what padding adds → what padding adds to the sum: 0"""
    return 0.0


def of_real_tokens(of_tokens, padding, filling):
    """put that at the positions of padding → the log-probabilities of the real tokens, and 0 for padding, (batch, n)"""
    return of_tokens.masked_fill(padding, filling)


def position_axis():
    """name the axis of the positions → the axis of the positions: the last of (batch, n)"""
    return -1


def log_probability(of_real_tokens, position_axis):
    """add up along that axis → the log-probabilities of the sentences, (batch,)"""
    return of_real_tokens.sum(dim=position_axis)


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    of_tokens,
    padding,
    filling,
    of_real_tokens,
    position_axis,
    log_probability,
    reference=sequence_log_probability,
)


def sequence_log_probability_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # to work by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id}, shows)

    sure = case(2, 3, 5, 4, "a model that is very sure, and often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    far = case(3, 2, 4, 3, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    unlikely = case(1, 6, 3, 1, "a sentence that is too unlikely for a float, and whose tokens are not")
    unlikely.inputs["logits"].mul_(2).scatter_add_(
        -1, unlikely.inputs["targets"].unsqueeze(-1), torch.full((1, 6, 1), -40.0)
    )
    return [
        case(1, 1, 3, 0, "one sentence of one token", digits=1),
        case(1, 2, 3, 0, "one sentence of 2 tokens", digits=1),
        case(1, 3, 2, 0, "2 tokens and a padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        case(3, 4, 7, 2, "padding that is not token 0", padding=(1, 4, 2)),
        far,
        unlikely,
        sure,
        case(5, 13, 11, 1, "5 sentences of up to 13 tokens", padding=(13, 2, 7, 1, 9)),
    ]


MISTAKES = [
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), 0.0),
            of_real_tokens=lambda of_tokens: of_tokens,
        ),
        summary="the mask of the padding is applied to the logits",
        message=(
            "The padding is masked in the logits. A position whose logits are all equal still adds −log V to the sum."
        ),
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean(-1)),
        summary="the mean over the tokens is taken, not the sum",
        message=(
            "This is the mean of the tokens. The probability of a sentence is a *product*, so that the logarithms are "
            "to be added up."
        ),
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "the_log_of_a_product",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            filling=lambda: 1.0,
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        summary="the logarithm is taken of a product of probabilities, which becomes 0 for long sentences",
        message=(
            "The probabilities are multiplied first, and the logarithm comes last. For a long sentence the product is "
            "too small for a float: it becomes 0, and its logarithm −∞."
        ),
        hints=["What is 0.1 to the power of 50 in float32?"],
    ),
    Mistake(
        "the_likeliest_tokens",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.amax(-1)),
        summary="the likeliest token is taken at each position, not the target",
        message="{summary}: any sentence gets the same.",
        hints=["What part do the targets play, other than to say what is padding?"],
    ),
    *of_the_pick(
        STEPS,
        "of_tokens",
        "log_probabilities",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[..., targets]),
    ),
    another_base(STEPS, "of_tokens"),
    *of_given_targets(STEPS, of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding),
]


EXERCISE = Exercise(
    reference=sequence_log_probability,
    steps=STEPS,
    cases=sequence_log_probability_cases,
    points=2,
    verified="The tokens of each sentence are added up, and padding adds nothing.",
    hints=[
        "The probability of a sentence is the product of those of its tokens, each given what came before. What "
        "becomes of a product if logarithms are taken?",
        "`torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)` are the log-probabilities "
        "of the tokens, (batch, n).",
        "Set those of the padding to 0, `masked_fill(targets == pad_id, 0.0)`, and add up over the positions.",
    ],
    messages=TOLD_OF_GIVEN_TARGETS,
    mistakes=MISTAKES,
    stretch=True,
)
