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
        says="It starts high, falls until the warm-up is over, and then rises for ever: {does}.",
        hints=[
            "For step 1 and a warm-up of 4, the two rates are 1 and 1/8. Which of them is a slow start?",
            "The straight line belongs to the warm-up, the root to the time after it. When is the line below the root?",
            "`min` instead of `max`.",
        ],
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
        hints=[
            "What should the rate be long after the warm-up? Does the straight line still have a say?",
            "The formula takes the lower of the two.",
            "`min(…, …)` instead of the sum.",
        ],
    ),
    Mistake(
        "multiplies_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling * rising),
        does="the two rates are multiplied",
        says="{does}. Only one of them should count at a time.",
        hints=[
            "What should the rate be long after the warm-up? Does the straight line still have a say?",
            "The formula takes the lower of the two.",
            "`min(…, …)` instead of the product.",
        ],
    ),
    Mistake(
        "never_falls",
        STEPS.but(lower=lambda rising: rising),
        STEPS.but(falling=lambda step: step**0.5),
        does="the falling rate is missing, or rises with the root of the step",
        says="It rises on past the end of the warm-up. Half of the formula is missing, or rises where it should fall.",
        hints=[
            "What is the rate at step 16, with a warm-up of 4?",
            "After the warm-up it should be one over the root of the step.",
            "The lower one of `step**-0.5` and the straight line.",
        ],
    ),
    Mistake(
        "stays_at_the_top",
        STEPS.but(falling=lambda warmup: warmup**-0.5),
        does="the rate stays where it is after the warm-up",
        says="It rises as it should, and then stays where it is. After the warm-up it should fall.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "What falls is one over the root of something that grows. What grows?",
            "`step**-0.5`, not `warmup**-0.5`.",
        ],
    ),
    Mistake(
        "never_warms_up",
        STEPS.but(lower=lambda falling: falling),
        does="the straight line of the warm-up is missing, or has a slope that is never the lower one",
        says="It starts at its highest and only falls: there is no warm-up.",
        hints=[
            "What is the rate of the first step, and what that of the last step of the warm-up?",
            "During the warm-up it is a straight line: so much more with each step.",
            "The lower one of `step**-0.5` and `step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "flat_during_the_warmup",
        STEPS.but(rising=lambda warmup: warmup**-0.5),
        STEPS.but(rising=lambda slope: slope),
        does="the rate of the warm-up does not depend on the step",
        says="During the warm-up it does not move: it should rise in even steps.",
        hints=[
            "Compare the rates of steps 1 and 2.",
            "The second of the two rates should have the step in it.",
            "`step * warmup**-1.5`.",
        ],
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
        hints=[
            "Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier.",
            "The second of the two rates is a straight line through 0.",
            "`step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "counts_from_zero",
        STEPS.but(step=lambda step: step + 1),
        does="1 is added to the step",
        says="Everything comes one step too early, as if steps were counted from 0. Here the first step is number 1.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "The step that comes in is to be used as it is.",
            "No `+ 1`.",
        ],
    ),
    Mistake(
        "the_fall_counts_from_zero",
        STEPS.but(falling=lambda step: (step + 1) ** -0.5),
        does="1 is added to the step of the falling rate",
        says="The falling rate comes one step too early. The step is counted from 1, so it is never 0.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "The step that comes in is to be used as it is, in both rates.",
            "No `+ 1`.",
        ],
    ),
    Mistake(
        "one_step_late",
        STEPS.but(step=lambda step: max(step - 1, 1), rate=lambda step, rate: rate if step > 1 else 0.0).attempt,
        STEPS.but(step=lambda step: step - 1, falling=lambda step: step**-0.5 if step else math.inf),
        does="1 is subtracted from the step",
        says="Everything comes one step too late, and the first step has the rate 0: it would learn nothing.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "The first step is number 1, and its rate is not 0.",
            "No `- 1`.",
        ],
    ),
    Mistake(
        "all_steps_after_the_first_are_late",
        STEPS.but(step=lambda step: max(step - 1, 1)),
        does="1 is subtracted from every step after the first",
        says="From the second step on, everything comes one step too late: 1 is subtracted from the step.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "The first step is number 1, so the step may be used as it is.",
            "No `- 1`.",
        ],
    ),
    Mistake(
        "divides_by_step_zero",
        STEPS.but(step=lambda step: step - 1),
        does="1 is subtracted from the step, and the root of 0 is divided by",
        says="1 is subtracted from the step, so that the first one is 0, and one over its root does not exist.",
        hints=[
            "What is `0 ** -0.5`?",
            "The first step is number 1.",
            "No `- 1`.",
        ],
    ),
    Mistake(
        "forgets_d_model",
        STEPS.but(width_factor=lambda: 1.0),
        does="the factor of the width is missing",
        says="The width of the model makes no difference. Wide models should take smaller steps.",
        hints=[
            "Compare the rates for d_model 16 and 512.",
            "The formula begins with a factor that has d_model in it.",
        ],
    ),
    Mistake(
        "the_fall_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(width_factor * falling, rising)),
        does="the factor of the width multiplies only the falling rate",
        says=(
            "During the warm-up the width of the model makes no difference: brackets are missing, or in another place."
        ),
        hints=[
            "Compare the rates of step 1 for d_model 16 and 512, with a warm-up of 4.",
            "The factor of the width stands in front of the `min`, and belongs to both rates.",
            "`d_model**-0.5 * min(…, …)`.",
        ],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        does="the factor of the width multiplies only the straight line",
        says="After the warm-up the width of the model makes no difference: brackets are missing, or in another place.",
        hints=[
            "Compare the rates of step 16 for d_model 16 and 512, with a warm-up of 4.",
            "The factor of the width stands in front of the `min`, and belongs to both rates.",
            "`d_model**-0.5 * min(…, …)`.",
        ],
    ),
    Mistake(
        "rises_to_one",
        STEPS.but(width_factor=lambda warmup: warmup**0.5),
        does="the highest rate is 1, whatever the sizes",
        says="The highest rate is 1 whatever the sizes. Steps of that size would ruin any model.",
        hints=[
            "At step = warmup both halves of the `min` are the same. Which rate, for d_model 64 and a warm-up of 4?",
            "The formula has step^−½, with no warm-up in it, and a factor of d_model in front.",
            "`d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)`, term by term as it stands.",
        ],
    ),
    Mistake(
        "rises_to_the_width_factor",
        STEPS.but(lower=lambda step, warmup: min(step / warmup, (warmup / step) ** 0.5)),
        does="the highest rate does not depend on the warm-up",
        says="The highest rate is the same for every warm-up. With a long warm-up it should be lower.",
        hints=[
            "At step = warmup both rates are the same. Which rate, for a warm-up of 4, and of 4000?",
            "The formula has step^−½, with no warm-up in it.",
            "`d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)`, term by term as it stands.",
        ],
    ),
    Mistake(
        "grows_with_d_model",
        STEPS.but(width_factor=lambda d_model: d_model**0.5),
        STEPS.but(width_factor=lambda d_model: d_model),
        does="the rate grows with `d_model`",
        says="Wide models take *larger* steps than narrow ones here. Look at the sign of an exponent.",
        hints=[
            "Compare the rates for d_model 16 and 512.",
            "To the power of −½ is one over the root.",
        ],
    ),
    Mistake(
        "one_over_d_model",
        STEPS.but(width_factor=lambda d_model: 1 / d_model),
        STEPS.but(width_factor=lambda d_model: d_model**-1.5),
        STEPS.but(width_factor=lambda d_model: d_model**-2),
        does="the rate is divided by `d_model` or more, where its root is asked for",
        says="The rate is divided by d_model or more, where its root would do: wide models get next to nothing.",
        hints=[
            "With d_model = 16, the rate should be a quarter of what it is without that factor.",
            "To the power of −½ is one over the root.",
        ],
    ),
    Mistake(
        "a_root_of_the_root",
        STEPS.but(width_factor=lambda d_model: d_model**-0.25),
        does="the root of `d_model` is drawn twice",
        says="The width of the model makes too small a difference: the root of d_model is drawn twice.",
        hints=[
            "With d_model = 16, the rate should be a quarter of what it is without that factor.",
            "To the power of −½ is one over the root already.",
        ],
    ),
    Mistake(
        "compares_the_width",
        STEPS.but(rate=lambda width_factor, lower: min(width_factor, lower)),
        STEPS.but(rate=lambda width_factor, lower: width_factor + lower),
        does="the factor of the width is not multiplied with the rate",
        says="The factor of the width is compared with the rate, or added to it. It should be multiplied.",
        hints=[
            "What is the rate of step 1 with d_model 16 and a warm-up of 4? It should be 1/32.",
            "The factor of the width stands in front of the `min`, and a product is meant.",
            "`d_model**-0.5 * min(…, …)`.",
        ],
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
        hints=[
            "In a new cell: `4 * -0.5` and `4 ** -0.5`.",
            "One star multiplies. What do two?",
            "`**` in all three places.",
        ],
    ),
    Mistake(
        "both_rates_returned",
        STEPS.but(rate=lambda width_factor, falling, rising: (width_factor * falling, width_factor * rising)),
        does="both rates are returned, not the lower one",
        says="Both rates are returned. Only the lower of the two is the learning rate.",
        hints=[
            "What does the annotation say behind the arrow?",
            "Which of the two rates counts?",
            "`min(…, …)` of the two.",
        ],
    ),
    Mistake(
        "a_tensor",
        STEPS.but(rate=lambda rate: torch.tensor([rate])),
        STEPS.but(rate=lambda rate: [rate]).attempt,
        does="the rate comes in a tensor with an axis",
        says="The rate comes in a tensor or a list of one entry. A number is asked for.",
        hints=["What does `type` say of the result?", "`step` is a number, and so is everything that is made of it."],
    ),
    Mistake(
        "the_papers_width",
        STEPS.but(d_model=lambda: 512),
        does="`d_model` is always 512",
        says="The width is always the paper's 512. How wide the model is, is an argument.",
        hints=[
            "Compare the rates for d_model 16 and 512.",
            "Where does the argument `d_model` occur in the code?",
            "Times `d_model**-0.5`.",
        ],
    ),
    Mistake(
        "the_papers_warmup",
        STEPS.but(warmup=lambda: 4000),
        does="the warm-up always takes 4000 steps",
        says="The warm-up always takes the paper's 4000 steps. How many it takes, is an argument.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "Where does the argument `warmup` occur in the code?",
            "`step * warmup**-1.5`.",
        ],
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
        hints=[
            "At the last step of the warm-up the two rates should be equal. Put step = warmup = 4 into both.",
            "4 · 4^x should be 4^(−½). What is x?",
        ],
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
        hints=[
            "At the last step of the warm-up the two rates should be equal. Put step = warmup = 4 into both.",
            "4 · 4^x should be 4^(−½). What is x?",
        ],
    ),
    Mistake(
        "falls_with_the_step",
        STEPS.but(lower=lambda step, warmup, rising: rising if step < warmup else warmup**0.5 / step),
        STEPS.but(falling=lambda step: 1 / step),
        does="the rate falls as one over the step, not as one over its root",
        says="After the warm-up it falls too fast: with the step, not with its root.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "To the power of −½ is one over the root.",
            "`step**-0.5`.",
        ],
    ),
    Mistake(
        "falls_faster_than_the_step",
        STEPS.but(falling=lambda step: step**-1.5),
        STEPS.but(falling=lambda step: step**-2),
        does="the exponent of the step in the falling rate is below −1",
        says="After the warm-up it falls far too fast. Look at the exponent of the step.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "To the power of −½ is one over the root. −3/2 belongs to the warm-up.",
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
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "To the power of −½ is one over the root.",
        ],
    ),
    Mistake(
        "the_fall_is_counted_from_the_warmup",
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (warmup * (step - warmup)) ** -0.5),
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (step - warmup) ** -0.5),
        STEPS.but(lower=lambda step, warmup, rising: rising if step <= warmup else (step - warmup + 1) ** -0.5),
        does="the fall is counted from the end of the warm-up",
        says="After the warm-up the steps are counted anew. The root is that of the step itself.",
        hints=[
            "What is the rate of step 16, with a warm-up of 4 and d_model 16? It should be 1/16.",
            "Both rates are of the same step, which is counted from 1.",
            "`step**-0.5`.",
        ],
    ),
    Mistake(
        "falls_in_a_line",
        STEPS.but(
            lower=lambda step, warmup, rising: rising if step < warmup else max(0.0, 2 - step / warmup) * warmup**-0.5
        ),
        does="after the warm-up the rate falls in a straight line to 0",
        says="After the warm-up it falls in a straight line. It should fall as one over the root of the step.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "To the power of −½ is one over the root.",
            "`step**-0.5`.",
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
        hints=[
            "Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier.",
            "In the second rate the step has no exponent.",
            "`step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "rises_in_a_curve",
        STEPS.but(rising=lambda step, slope: step**0.5 * slope),
        STEPS.but(rising=lambda step, warmup: step**0.5 / warmup),
        STEPS.but(rising=lambda step, slope: step**1.5 * slope),
        STEPS.but(rising=lambda step, slope: step**2 * slope),
        STEPS.but(rising=lambda step, slope: step**-0.5 * slope),
        does="the rising rate has the step to another power than 1",
        says="During the warm-up it does not rise in a straight line: the step has an exponent there.",
        hints=[
            "Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier.",
            "In the second rate the step has no exponent.",
            "`step * warmup**-1.5`.",
        ],
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
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "In the first rate there is no warm-up.",
            "`min(step**-0.5, step * warmup**-1.5)`.",
        ],
    ),
    Mistake(
        "width_and_warmup_exchanged",
        STEPS.but(width_factor=lambda warmup: warmup**-0.5, slope=lambda d_model: d_model**-1.5),
        does="width and warm-up have changed places",
        says="{does}. Look at which of them has the exponent −1/2, and which −3/2.",
        hints=["At which step should the rate be highest?", "One factor is that of the width, for all steps."],
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
        hints=[
            "In a new cell: `4 ** -1 / 2` and `4 ** -0.5`.",
            "`**` binds more tightly than `/`.",
            "Write -0.5 and -1.5, or put brackets round the exponents.",
        ],
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
        hints=[
            "What is `-3 // 2`?",
            "`/` keeps the fraction.",
            "Write -0.5 and -1.5.",
        ],
    ),
    Mistake(
        "a_root_of_the_whole",
        STEPS.but(rate=lambda step, warmup, d_model: (min(1 / step, step * warmup**-1.5) / d_model) ** 0.5),
        STEPS.but(rate=lambda d_model, lower: (d_model * lower) ** -0.5),
        does="one root is drawn over everything",
        says="{does}. The straight line of the warm-up becomes a curve by it.",
        hints=[
            "The rate of step 2 should be twice that of step 1, during the warm-up.",
            "Each of the factors has an exponent of its own.",
            "`step * warmup**-1.5` is not under a root.",
        ],
    ),
    Mistake(
        "rounded",
        _rounded_to(6),
        *[_rounded_to(digits).attempt for digits in (3, 4, 5, 7)],
        does="the rate is rounded",
        says="{does}. It may be as small as 0.000001, and little or nothing is left of it then.",
        hints=[
            "What is the rate of step 7, with the paper's sizes?",
            "Nothing needs to be rounded: a learning rate is not for reading.",
            "Return the product as it is.",
        ],
    ),
    Mistake(
        "one_rate_for_another_size",
        STEPS.but(rate=lambda rate: 2 * rate),
        STEPS.but(rate=lambda rate: rate / 2),
        does="the rate is twice or half as large as the formula says",
        says="Every rate is wrong by a factor of 2. There is no 2 in the formula but that of the exponents.",
        hints=[
            "What is the rate of step 1 with d_model 16 and a warm-up of 4? It should be 1/32.",
            "To the power of −½ is one over the *root*.",
            "`d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)`, term by term as it stands.",
        ],
    ),
]

MISTAKES = [_by_the_step(mistake) for mistake in _OF_EITHER_RATE]
