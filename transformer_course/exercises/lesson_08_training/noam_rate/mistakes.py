"""What goes wrong with the learning rate of the paper."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.noam_rate.answer import STEPS


def _rounded_to(digits):
    return STEPS.but(rate=lambda rate: round(rate, digits))


def _by_the_step(mistake):
    """Return the mistake, also made where the step decides which rate counts: there a wrong rate shows otherwise."""
    rates = {"falling", "rising", "slope"}
    ways = [
        way.of.but(**way.changes, lower=lambda step, warmup, falling, rising: rising if step < warmup else falling)
        for way in mistake.variants
        if rates & way.changes.keys() and not {"lower", "rate"} & way.changes.keys()
    ]
    return mistake.with_ways(*mistake.ways, *ways)


_OF_EITHER_RATE = [
    Mistake(
        "takes_the_higher_rate",
        STEPS.but(lower=lambda falling, rising: max(falling, rising)),
        does="of the two rates the higher one is taken",
    ),
    Mistake(
        "torchs_minimum_of_numbers",
        STEPS.but(lower=lambda falling, rising: torch.min(falling, rising)).attempt,
        STEPS.but(lower=lambda falling, rising: torch.minimum(falling, rising)).attempt,
        STEPS.but(falling=lambda step: torch.rsqrt(step)).attempt,
        STEPS.but(falling=lambda step: 1 / torch.sqrt(step)).attempt,
        says="A function of torch is given plain numbers. It asks for tensors, and there are none here.",
        hints=[
            "What are `step` and `warmup`: numbers or tensors?",
            "Python has a `min` of its own, and `**` for powers.",
            "`min(…, …)`.",
        ],
    ),
    Mistake(
        "adds_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling + rising),
        does="the two rates are added",
        says="{does}. Only one of them should count at a time.",
        hints=["What should the rate be long after the warm-up? Does the straight line still have a say?"],
    ),
    Mistake(
        "never_falls",
        STEPS.but(lower=lambda rising: rising),
        STEPS.but(falling=lambda step: step**0.5),
        does="the falling rate is missing, or rises with the root of the step",
        says="It rises on past the end of the warm-up. Half of the formula is missing, or rises where it should fall.",
        hints=["What is the rate at step 16, with a warm-up of 4?"],
    ),
    Mistake(
        "stays_at_the_top",
        STEPS.but(falling=lambda warmup: warmup**-0.5),
        does="the rate stays where it is after the warm-up",
    ),
    Mistake(
        "never_warms_up",
        STEPS.but(lower=lambda falling: falling),
        does="the straight line of the warm-up is missing, or has a slope that is never the lower one",
    ),
    Mistake(
        "flat_during_the_warmup",
        STEPS.but(rising=lambda warmup: warmup**-0.5),
        STEPS.but(rising=lambda slope: slope),
        does="the rate of the warm-up does not depend on the step",
        says="During the warm-up it does not move: it should rise in even steps.",
        hints=["Compare the rates of steps 1 and 2."],
    ),
    Mistake(
        "zero_during_the_warmup",
        STEPS.but(lower=lambda step, warmup, falling: falling if step >= warmup else 0.0),
        STEPS.but(rising=lambda step, warmup: step // warmup**1.5),
        does="the rate is 0 during the warm-up",
        says=(
            "During the warm-up the rate is 0: nothing is learned. (A `//` would do that: it drops what is left over.) "
            "It should rise in even steps."
        ),
        hints=["Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier."],
    ),
    Mistake(
        "counts_from_zero",
        STEPS.but(step=lambda step: step + 1),
        does="1 is added to the step",
        says="Everything comes one step too early, as if steps were counted from 0. Here the first step is number 1.",
        hints=["At which step is the rate highest, with a warm-up of 4?"],
    ),
    Mistake(
        "the_fall_counts_from_zero",
        STEPS.but(falling=lambda step: (step + 1) ** -0.5),
        does="1 is added to the step of the falling rate",
        says="The falling rate comes one step too early. The step is counted from 1, so it is never 0.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "one_step_late",
        STEPS.but(step=lambda step: max(step - 1, 1), rate=lambda step, rate: rate if step > 1 else 0.0).attempt,
        STEPS.but(step=lambda step: step - 1, falling=lambda step: step**-0.5 if step else math.inf),
        does="1 is subtracted from the step",
        says="Everything comes one step too late, and the first step has the rate 0: it would learn nothing.",
        hints=["At which step is the rate highest, with a warm-up of 4?"],
    ),
    Mistake(
        "all_steps_after_the_first_are_late",
        STEPS.but(step=lambda step: max(step - 1, 1)),
        does="1 is subtracted from every step after the first",
        says="From the second step on, everything comes one step too late: 1 is subtracted from the step.",
        hints=["At which step is the rate highest, with a warm-up of 4?"],
    ),
    Mistake(
        "divides_by_step_zero",
        STEPS.but(step=lambda step: step - 1),
        does="1 is subtracted from the step, and the root of 0 is divided by",
        says="1 is subtracted from the step, so that the first one is 0, and one over its root does not exist.",
        hints=["What is `0 ** -0.5`?"],
    ),
    Mistake(
        "forgets_d_model",
        STEPS.but(width_factor=lambda: 1.0),
        does="the factor of the width is missing",
    ),
    Mistake(
        "the_fall_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(width_factor * falling, rising)),
        does="the factor of the width multiplies only the falling rate",
        says=(
            "During the warm-up the width of the model makes no difference: brackets are missing, or in another place."
        ),
        hints=["Compare the rates of step 1 for d_model 16 and 512, with a warm-up of 4."],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        does="the factor of the width multiplies only the straight line",
        says="After the warm-up the width of the model makes no difference: brackets are missing, or in another place.",
        hints=["Compare the rates of step 16 for d_model 16 and 512, with a warm-up of 4."],
    ),
    Mistake(
        "rises_to_one",
        STEPS.but(width_factor=lambda warmup: warmup**0.5),
        does="the highest rate is 1, whatever the sizes",
        says="The highest rate is 1 whatever the sizes. Steps of that size would ruin any model.",
        hints=[
            "At step = warmup both halves of the `min` are the same. Which rate, for d_model 64 and a warm-up of 4?"
        ],
    ),
    Mistake(
        "rises_to_the_width_factor",
        STEPS.but(lower=lambda step, warmup: min(step / warmup, (warmup / step) ** 0.5)),
        does="the highest rate does not depend on the warm-up",
        says="The highest rate is the same for every warm-up. With a long warm-up it should be lower.",
        hints=["At step = warmup both rates are the same. Which rate, for a warm-up of 4, and of 4000?"],
    ),
    Mistake(
        "grows_with_d_model",
        STEPS.but(width_factor=lambda d_model: d_model**0.5),
        STEPS.but(width_factor=lambda d_model: d_model),
        does="the rate grows with `d_model`",
    ),
    Mistake(
        "one_over_d_model",
        STEPS.but(width_factor=lambda d_model: 1 / d_model),
        STEPS.but(width_factor=lambda d_model: d_model**-1.5),
        STEPS.but(width_factor=lambda d_model: d_model**-2),
        does="the rate is divided by `d_model` or more, where its root is asked for",
        says="The rate is divided by d_model or more, where its root would do: wide models get next to nothing.",
        hints=["With d_model = 16, the rate should be a quarter of what it is without that factor."],
    ),
    Mistake(
        "a_root_of_the_root",
        STEPS.but(width_factor=lambda d_model: d_model**-0.25),
        does="the root of `d_model` is drawn twice",
    ),
    Mistake(
        "compares_the_width",
        STEPS.but(rate=lambda width_factor, lower: min(width_factor, lower)),
        STEPS.but(rate=lambda width_factor, lower: width_factor + lower),
        does="the factor of the width is not multiplied with the rate",
        says="The factor of the width is compared with the rate, or added to it. It should be multiplied.",
        hints=["What is the rate of step 1 with d_model 16 and a warm-up of 4? It should be 1/32."],
    ),
    Mistake(
        "multiplies_by_the_exponents",
        STEPS.but(
            width_factor=lambda d_model: d_model * -0.5,
            falling=lambda step: step * -0.5,
            slope=lambda warmup: warmup * -1.5,
        ),
        STEPS.but(width_factor=lambda d_model: d_model * -0.5),
        STEPS.but(falling=lambda step: step * -0.5),
        STEPS.but(slope=lambda warmup: warmup * -1.5),
        STEPS.but(slope=lambda warmup: 1 / (warmup * 1.5)),
        does="a number is multiplied by its exponent, with or without its minus, not raised to it",
        says=(
            "A number is multiplied by its exponent, or by the exponent without its minus. It should be raised to that "
            "power."
        ),
        hints=["In a new cell: `4 * -0.5` and `4 ** -0.5`."],
    ),
    Mistake(
        "both_rates_returned",
        STEPS.but(rate=lambda width_factor, falling, rising: (width_factor * falling, width_factor * rising)),
        does="both rates are returned, not the lower one",
        says="Both rates are returned. Only the lower of the two is the learning rate.",
        hints=["What does the annotation say behind the arrow?"],
    ),
    Mistake(
        "a_tensor",
        STEPS.but(rate=lambda rate: torch.tensor([rate])),
        STEPS.but(rate=lambda rate: [rate]).attempt,
        does="the rate comes in a tensor with an axis",
        says="The rate comes in a tensor or a list of one entry. A number is asked for.",
        hints=["What does `type` say of the result?"],
    ),
    Mistake(
        "the_papers_width",
        STEPS.but(d_model=lambda: 512),
        does="`d_model` is always 512",
        says="The width is always the paper's 512. How wide the model is, is an argument.",
        hints=["Compare the rates for d_model 16 and 512."],
    ),
    Mistake(
        "the_papers_warmup",
        STEPS.but(warmup=lambda: 4000),
        does="the warm-up always takes 4000 steps",
        says="The warm-up always takes the paper's 4000 steps. How many it takes, is an argument.",
        hints=["At which step is the rate highest, with a warm-up of 4?"],
    ),
    Mistake(
        "warmup_to_the_minus_half",
        STEPS.but(slope=lambda warmup: warmup**-0.5),
        STEPS.but(slope=lambda warmup: 1 / warmup),
        STEPS.but(slope=lambda warmup: warmup**-0.75),
        STEPS.but(slope=lambda warmup: warmup ** -(2 / 3)),
        does="the exponent of the warm-up is too close to 0: the line is too steep",
        says=(
            "The straight line is too steep: it meets the falling root long before the warm-up is over. Look at the "
            "exponent of the warm-up."
        ),
        hints=["At the last step of the warm-up the two rates should be equal. Put step = warmup = 4 into both."],
    ),
    Mistake(
        "warmup_to_the_minus_two",
        STEPS.but(slope=lambda warmup: warmup**-2),
        STEPS.but(slope=lambda warmup: warmup**-2.5),
        does="the exponent of the warm-up is too far below 0: the line is too flat",
        says=(
            "The straight line is too flat: it meets the falling root long after the warm-up is over. Look at the "
            "exponent of the warm-up."
        ),
        hints=["At the last step of the warm-up the two rates should be equal. Put step = warmup = 4 into both."],
    ),
    Mistake(
        "falls_with_the_step",
        STEPS.but(lower=lambda step, warmup, rising: rising if step < warmup else warmup**0.5 / step),
        STEPS.but(falling=lambda step: 1 / step),
        does="the rate falls as one over the step, not as one over its root",
        says="After the warm-up it falls too fast: with the step, not with its root.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "falls_faster_than_the_step",
        STEPS.but(falling=lambda step: step**-1.5),
        STEPS.but(falling=lambda step: step**-2),
        does="the exponent of the step in the falling rate is below −1",
        says="After the warm-up it falls far too fast. Look at the exponent of the step.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "falls_more_slowly",
        STEPS.but(falling=lambda step: step**-0.25),
        STEPS.but(falling=lambda step: 1 / (1 + math.log(step))),
        STEPS.but(falling=lambda step: 1 / math.log(step + 1)).attempt,
        does="the falling rate falls more slowly than one over the root of the step",
        says="After the warm-up it falls too slowly. It should fall as one over the root of the step.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "the_fall_is_counted_from_the_warmup",
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (warmup * (step - warmup)) ** -0.5),
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (step - warmup) ** -0.5),
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (step - warmup + 1) ** -0.5),
        does="the fall is counted from the end of the warm-up",
        says="After the warm-up the steps are counted anew. The root is that of the step itself.",
        hints=["What is the rate of step 16, with a warm-up of 4 and d_model 16? It should be 1/16."],
    ),
    Mistake(
        "falls_in_a_line",
        STEPS.but(
            lower=lambda step, warmup, rising: rising if step < warmup else max(0.0, 2 - step / warmup) * warmup**-0.5
        ),
        does="after the warm-up the rate falls in a straight line to 0",
        says="After the warm-up it falls in a straight line. It should fall as one over the root of the step.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "exponent_of_the_step",
        STEPS.but(rising=lambda step, warmup: warmup * step**-1.5),
        STEPS.but(rising=lambda step, warmup: (step * warmup) ** -1.5),
        does="the exponent −3/2 of the second rate belongs to the step",
        says=(
            "The exponent −3/2 stands at the step, so that nothing rises in a straight line. Look at what it belongs "
            "to."
        ),
        hints=["Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier."],
    ),
    Mistake(
        "rises_in_a_curve",
        STEPS.but(rising=lambda step, slope: step**0.5 * slope),
        STEPS.but(rising=lambda step, warmup: step**0.5 / warmup),
        STEPS.but(rising=lambda step, slope: step**1.5 * slope),
        STEPS.but(rising=lambda step, slope: step**2 * slope),
        STEPS.but(rising=lambda step, slope: step**-0.5 * slope),
        does="the rising rate has the step to another power than 1",
        says="During the warm-up the rate does not rise in a straight line. Look at exponents and at brackets.",
        hints=["Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier."],
    ),
    Mistake(
        "step_and_warmup_exchanged",
        STEPS.but(
            falling=lambda warmup: warmup**-0.5,
            slope=lambda step: step**-1.5,
            rising=lambda warmup, slope: warmup * slope,
        ),
        does="step and warm-up have changed places",
        says="{does}: what should grow with the step grows with the warm-up.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier."
        ],
    ),
    Mistake(
        "width_and_warmup_exchanged",
        STEPS.but(width_factor=lambda warmup: warmup**-0.5, slope=lambda d_model: d_model**-1.5),
        does="width and warm-up have changed places",
        hints=["At which step should the rate be highest?"],
    ),
    Mistake(
        "halves_instead_of_roots",
        STEPS.but(
            width_factor=lambda d_model: d_model**-1 / 2,
            falling=lambda step: step**-1 / 2,
            slope=lambda warmup: warmup**-3 / 2,
        ),
        STEPS.but(falling=lambda step: step**-1 / 2, slope=lambda warmup: warmup**-3 / 2),
        STEPS.but(slope=lambda warmup: warmup**-3 / 2),
        STEPS.but(falling=lambda step: step**-1 / 2),
        STEPS.but(width_factor=lambda d_model: d_model**-1 / 2),
        does="a fraction in an exponent has no brackets, so that a power is divided by 2",
        says="Python reads `x ** -1 / 2` as (x to the power of −1) / 2. There is no root in it.",
        hints=["In a new cell: `4 ** -1 / 2` and `4 ** -0.5`."],
    ),
    Mistake(
        "whole_exponents",
        STEPS.but(
            width_factor=lambda d_model: d_model ** (-1 // 2),
            falling=lambda step: step ** (-1 // 2),
            slope=lambda warmup: warmup ** (-3 // 2),
        ),
        does="the exponents are rounded down to whole numbers",
        says=(
            "`-1 // 2` is −1, and `-3 // 2` is −2: the exponents are whole numbers, and there is no root in the "
            "formula."
        ),
        hints=["What is `-3 // 2`?"],
    ),
    Mistake(
        "a_root_of_the_whole",
        STEPS.but(rate=lambda step, warmup, d_model: (min(1 / step, step * warmup**-1.5) / d_model) ** 0.5),
        STEPS.but(rate=lambda d_model, lower: (d_model * lower) ** -0.5),
        does="one root is drawn over everything",
        says="{does}. The straight line of the warm-up becomes a curve by it.",
        hints=["The rate of step 2 should be twice that of step 1, during the warm-up."],
    ),
    Mistake(
        "rounded",
        _rounded_to(6),
        *[_rounded_to(digits).attempt for digits in (3, 4, 5, 7)],
        does="the rate is rounded",
        says="{does}. It may be as small as 0.000001, and little or nothing is left of it then.",
        hints=["What is the rate of step 7, with the paper's sizes?"],
    ),
]

MISTAKES = [_by_the_step(mistake) for mistake in _OF_EITHER_RATE]
