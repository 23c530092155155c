"""What goes wrong with the learning rate of the paper."""

from transformer_lab.course.exercise import Mistake


def right(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def takes_the_higher_rate(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


def adds_the_two_rates(step, d_model, warmup):
    return d_model**-0.5 * (step**-0.5 + step * warmup**-1.5)


def never_falls(step, d_model, warmup):
    return d_model**-0.5 * step * warmup**-1.5


def stays_at_the_top(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


def never_warms_up(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


def flat_during_the_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, warmup**-0.5)


def forgets_the_step(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, warmup**-1.5)


def counts_from_zero(step, d_model, warmup):
    return right(step + 1, d_model, warmup)


def one_step_late(step, d_model, warmup):
    return right(max(step - 1, 1), d_model, warmup) if step > 1 else 0.0


def forgets_d_model(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


def grows_with_d_model(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


def one_over_d_model(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model


def warmup_to_the_minus_half(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


def warmup_to_the_minus_one(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


def warmup_to_plus_one_and_a_half(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**1.5)


def falls_with_the_step(step, d_model, warmup):
    return d_model**-0.5 * (step * warmup**-1.5 if step < warmup else warmup**0.5 / step)


def rises_to_one(step, d_model, warmup):
    return min(step / warmup, (warmup / step) ** 0.5)


def exponent_of_the_step(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, warmup * step**-1.5)


def exponent_of_both(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, (step * warmup) ** -1.5)


def halves_instead_of_roots(step, d_model, warmup):
    return d_model**-1 / 2 * min(step**-1 / 2, step * warmup**-3 / 2)


def halves_both_rates(step, d_model, warmup):
    return d_model**-0.5 * min(step**-1 / 2, step * warmup**-3 / 2)


def halves_the_line_only(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-3 / 2)


def halves_the_fall_only(step, d_model, warmup):
    return d_model**-0.5 * min(step**-1 / 2, step * warmup**-1.5)


def whole_numbers_only(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step // warmup * warmup**-0.5)


def a_root_of_the_whole(step, d_model, warmup):
    return (min(1 / step, step * warmup**-1.5) / d_model) ** 0.5


def decides_the_wrong_way_round(step, d_model, warmup):
    return d_model**-0.5 * (step**-0.5 if step < warmup else step * warmup**-1.5)


MISTAKES = [
    Mistake(
        "takes_the_higher_rate",
        [takes_the_higher_rate, decides_the_wrong_way_round],
        says=(
            "It starts high, falls until the warm-up is over, and then rises for ever: of the two rates the higher one is "
            "taken."
        ),
        hints=[
            "For step 1 and a warm-up of 4, the two rates are 1 and 1/8. Which of them is a slow start?",
            "The straight line belongs to the warm-up, the root to the time after it. When is the line below the root?",
            "`min` instead of `max`.",
        ],
    ),
    Mistake(
        "adds_the_two_rates",
        [adds_the_two_rates],
        says="The two rates are added. Only one of them should count at a time.",
        hints=[
            "What should the rate be long after the warm-up? Does the straight line still have a say?",
            "The formula takes the lower of the two.",
            "`min(…, …)` instead of the sum.",
        ],
    ),
    Mistake(
        "never_falls",
        [never_falls],
        says="It rises on past the end of the warm-up. Half of the formula is missing, or rises where it should fall.",
        hints=[
            "What is the rate at step 16, with a warm-up of 4?",
            "After the warm-up it should be one over the root of the step.",
            "The lower one of `step**-0.5` and the straight line.",
        ],
    ),
    Mistake(
        "stays_at_the_top",
        [stays_at_the_top],
        says="It rises as it should, and then stays where it is. After the warm-up it should fall.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "What falls is one over the root of something that grows. What grows?",
            "`step**-0.5`, not `warmup**-0.5`.",
        ],
    ),
    Mistake(
        "never_warms_up",
        [never_warms_up, warmup_to_plus_one_and_a_half],
        says="It starts at its highest and only falls: there is no warm-up.",
        hints=[
            "What is the rate of the first step, and what that of the last step of the warm-up?",
            "During the warm-up it is a straight line: so much more with each step.",
            "The lower one of `step**-0.5` and `step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "flat_during_the_warmup",
        [flat_during_the_warmup, forgets_the_step],
        says="During the warm-up it does not move: it should rise in even steps.",
        hints=[
            "Compare the rates of steps 1 and 2.",
            "The second of the two rates should have the step in it.",
            "`step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "counts_from_zero",
        [counts_from_zero],
        says="Everything comes one step too early, as if steps were counted from 0. Here the first step is number 1.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "The step that comes in is to be used as it is.",
            "No `+ 1`.",
        ],
    ),
    Mistake(
        "one_step_late",
        [one_step_late],
        says="Everything comes one step too late, and the first step has the rate 0: it would learn nothing.",
        hints=[
            "At which step is the rate highest, with a warm-up of 4?",
            "The first step is number 1, and its rate is not 0.",
            "No `- 1`.",
        ],
    ),
    Mistake(
        "forgets_d_model",
        [forgets_d_model],
        says="The width of the model makes no difference. Wide models should take smaller steps.",
        hints=[
            "Compare the rates for d_model 16 and 512.",
            "The formula begins with a factor that has d_model in it.",
            "Times `d_model**-0.5`.",
        ],
    ),
    Mistake(
        "rises_to_one",
        [rises_to_one],
        says="The shape is right, but the highest rate is 1 whatever the sizes. Steps of that size would ruin any model.",
        hints=[
            "At step = warmup both halves of the `min` are the same. Which rate, for d_model 64 and a warm-up of 4?",
            "The formula has step^−½, with no warm-up in it, and a factor of d_model in front.",
            "`d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)`, term by term as it stands.",
        ],
    ),
    Mistake(
        "grows_with_d_model",
        [grows_with_d_model],
        says="Wide models take *larger* steps than narrow ones here. Look at the sign of an exponent.",
        hints=[
            "Compare the rates for d_model 16 and 512.",
            "To the power of −½ is one over the root.",
            "`d_model**-0.5`.",
        ],
    ),
    Mistake(
        "one_over_d_model",
        [one_over_d_model],
        says="The rate is divided by d_model, where its root would do: wide models get next to nothing.",
        hints=[
            "With d_model = 16, the rate should be a quarter of what it is without that factor.",
            "To the power of −½ is one over the root.",
            "`d_model**-0.5`.",
        ],
    ),
    Mistake(
        "warmup_to_the_minus_half",
        [warmup_to_the_minus_half, warmup_to_the_minus_one],
        says="The straight line is too steep: it meets the falling root long before the warm-up is over.",
        hints=[
            "At the last step of the warm-up the two rates should be equal. Put step = warmup = 4 into both.",
            "4 · 4^x should be 4^(−½). What is x?",
            "`warmup**-1.5`.",
        ],
    ),
    Mistake(
        "falls_with_the_step",
        [falls_with_the_step],
        says="After the warm-up it falls too fast: with the step, not with its root.",
        hints=[
            "Compare the rates of steps 4 and 16, with a warm-up of 4. The later one should be half of the earlier.",
            "To the power of −½ is one over the root.",
            "`step**-0.5`.",
        ],
    ),
    Mistake(
        "exponent_of_the_step",
        [exponent_of_the_step, exponent_of_both],
        says="The exponent −3/2 stands at the step, so that nothing rises in a straight line. Look at what it belongs to.",
        hints=[
            "Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier.",
            "In the second rate the step has no exponent.",
            "`step * warmup**-1.5`.",
        ],
    ),
    Mistake(
        "halves_instead_of_roots",
        [halves_instead_of_roots, halves_both_rates, halves_the_line_only, halves_the_fall_only],
        says="Python reads `x ** -1 / 2` as (x to the power of −1) / 2. There is no root in it.",
        hints=[
            "In a new cell: `4 ** -1 / 2` and `4 ** -0.5`.",
            "`**` binds more tightly than `/`.",
            "Write -0.5 and -1.5, or put brackets round the exponents.",
        ],
    ),
    Mistake(
        "whole_numbers_only",
        [whole_numbers_only],
        says="During the warm-up the rate is 0: a division that drops what is left over.",
        hints=[
            "What is `1 // 4`?",
            "`/` keeps the fraction.",
            "`step * warmup**-1.5`, without `//`.",
        ],
    ),
    Mistake(
        "a_root_of_the_whole",
        [a_root_of_the_whole],
        says="One root is drawn over everything. The straight line of the warm-up becomes a curve by it.",
        hints=[
            "The rate of step 2 should be twice that of step 1, during the warm-up.",
            "Each of the factors has an exponent of its own.",
            "`step * warmup**-1.5` is not under a root.",
        ],
    ),
]
