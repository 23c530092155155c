"""Dropout: zero random elements in training and scale the remaining elements to preserve the expected value.

The random numbers are an argument, so that a check can compare every element of the output.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def inverted_dropout(
    x: Float[Tensor, "*shape"], noise: Float[Tensor, "*shape"], p: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Return x after dropout with probability `p`: in training, numbers with `noise` below `p` are dropped."""
    if not training:
        return x
    return x * (noise >= p) / (1 - p)


def kept(noise, p):
    """compare the noise with p → the mask of the numbers that are kept: noise ≥ p"""
    return noise >= p


def dropped(x, kept):
    """set the dropped numbers to 0 → x with the dropped numbers set to 0"""
    return x * kept


def keep_probability(p):
    """subtract p from 1 → the probability of keeping a number: 1 − p"""
    return 1 - p


def scaled(dropped, keep_probability):
    """divide by the probability of keeping a number → the scaled numbers: x / (1 − p) where x is kept"""
    return dropped / keep_probability


def output(scaled, x, training):
    """return x unchanged in evaluation → the output: the scaled numbers in training, x in evaluation"""
    return scaled if training else x


STEPS = InSteps(kept, dropped, keep_probability, scaled, output, reference=inverted_dropout)


def inverted_dropout_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shape, p, training, shows):
        noise = torch.rand(shape, generator=rng)
        while noise.numel() > 2 and not 0 < (noise < p).sum() < noise.numel() and 0 < p < 1:
            noise = torch.rand(shape, generator=rng)
        return Case({"x": normal(rng, *shape), "noise": noise, "p": p, "training": training}, shows)

    return [
        case((3,), 0.5, True, "3 numbers, p of 0.5, training"),
        case((4,), 0.5, False, "4 numbers, p of 0.5, evaluation"),
        case((3, 3), 0.2, True, "a square matrix, p of 0.2, training"),
        case((5, 2), 0.0, True, "p of 0, training"),
        case((3, 5), 0.8, True, "a matrix, p of 0.8, training"),
        case((2, 3, 7), 0.1, False, "a batch of 2, p of 0.1, evaluation"),
        case((3, 5, 11), uniform(rng, 0.25, 0.4), True, "a batch of 3, training"),
    ]


MISTAKES = [
    Mistake(
        "not_scaled",
        STEPS.but(scaled=lambda dropped: dropped),
        summary="you don't scale the numbers that are kept",
        message=(
            "You drop numbers, but you don't scale the others. With p = 0.5, a sum over 1000 numbers is only half as "
            "large in training as in evaluation. Which factor should you multiply the kept numbers by?"
        ),
        hints=["With p = 0.8, which fraction of a sum is left on average? How do you restore its size?"],
    ),
    Mistake(
        "scales_in_evaluation",
        STEPS.but(
            scaled=lambda dropped: dropped,
            output=lambda scaled, x, training, keep_probability: scaled if training else x * keep_probability,
        ),
        summary="you scale in evaluation instead of in training",
        message="You multiply by 1 − p in evaluation, as the first paper on dropout did. Inverted dropout, which "
        "PyTorch uses, leaves evaluation alone. Where does it scale, and by what?",
        hints=["In evaluation, the output should be x itself. What follows for the scale in training?"],
    ),
    Mistake(
        "always_active",
        STEPS.but(output=lambda scaled: scaled),
        summary="you drop numbers in evaluation as well",
        message="You drop numbers whether `training` is True or not. Predictions then change from call to call. What "
        "should dropout return in evaluation?",
        hints=["What does `nn.Dropout` do after `model.eval()`?"],
    ),
    Mistake(
        "active_in_evaluation_only",
        STEPS.but(training=lambda training: not training),
        summary="you drop numbers in evaluation instead of in training",
        message="You drop numbers in evaluation and leave them alone in training. When does a network need the noise?",
        hints=["Which branch runs when `training` is True?"],
    ),
    Mistake(
        "keeps_what_should_be_dropped",
        STEPS.but(kept=lambda noise, p: noise < p),
        summary="your mask is inverted",
        message="Your mask is inverted: you keep a number with probability p and drop it with probability 1 − p. For "
        "p = 0.1, should most numbers survive?",
        hints=["For p = 0.1, is a noise of 0.05 kept or dropped?"],
    ),
    Mistake(
        "scaled_by_p",
        STEPS.but(keep_probability=lambda p: p),
        summary="you divide by p",
        message=(
            "You divide by p, the probability of *dropping* a number. With p = 0.1, the numbers that you keep become "
            "ten times larger. Which probability should you divide by?"
        ),
        hints=["With p = 0.1, 90 % of a sum is left. By what do you divide to get all of it back?"],
    ),
    Mistake(
        "one_mask_for_all_rows",
        STEPS.but(noise=lambda noise: noise[:1].expand_as(noise)),
        STEPS.but(noise=lambda noise: noise[..., :1].expand_as(noise)),
        summary="you drop whole rows or columns at once",
        message="You decide once for many numbers, so whole rows or columns vanish together. Each number has its own "
        "noise. Which entries of `noise` do you use?",
        hints=["How many different decisions does a (3, 5) matrix need?"],
    ),
    Mistake(
        "scaled_in_both_modes",
        STEPS.but(
            output=lambda dropped, x, training, keep_probability: (dropped if training else x) / keep_probability
        ),
        summary="you scale in evaluation as well",
        message="You divide by 1 − p in evaluation as well, where nothing was dropped. A sum is then too large by that "
        "factor. What should dropout return in evaluation?",
        hints=["What does `nn.Dropout` do after `model.eval()`?"],
    ),
]

EXERCISE = Exercise(
    reference=inverted_dropout,
    steps=STEPS,
    cases=inverted_dropout_cases,
    points=1,
    stretch=True,
    verified="Each number is dropped by its own noise, the others are scaled, and evaluation leaves x alone.",
    hints=[
        "A layer adds up 1000 inputs. If dropout with p = 0.5 removes about half of them, how large is the sum? How "
        "large is it in evaluation, when nothing is removed?",
        "The expected value should be the same in both modes. Inverted dropout makes up for the loss in training, so "
        "that evaluation has nothing to do.",
        "In training, set numbers with noise below p to 0, and divide the others by 1 − p. In evaluation, return x.",
        "`x * (noise >= p) / (1 - p)` in training.",
    ],
    messages={
        "operator_scaled: (dropped) * (keep_probability)": Wording(
            "{summary}, so the sum gets even smaller. Which factor makes up for the dropped numbers?",
            summary="you multiply the kept numbers by 1 − p instead of dividing by it",
        ),
    },
    mistakes=MISTAKES,
)
