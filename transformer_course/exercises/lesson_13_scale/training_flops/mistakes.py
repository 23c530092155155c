"""What goes wrong when the operations of a training are counted."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.training_flops.answer import STEPS
from transformer_course.steps import Variant


def operations(n: int) -> Variant:
    """Count n operations for each parameter and token, in whatever passes: a product of two slips may be right."""
    return STEPS.but(of_a_token=lambda n_parameters: n * n_parameters)


MISTAKES = [
    Mistake(
        "forward_only",
        STEPS.but(of_a_token=lambda forward: forward),
        does="the result is what the forward pass alone costs",
    ),
    Mistake(
        "four_operations",
        operations(4),
        does="4 operations are counted for each parameter and token, not 6",
    ),
    Mistake(
        "products_only",
        STEPS.but(forward=lambda n_parameters: n_parameters),
        does="products are counted, and sums are not",
    ),
    Mistake(
        "forgets_the_tokens",
        STEPS.but(flops=lambda of_a_token: of_a_token),
        does="the operations of *one* token are returned",
    ),
    Mistake(
        "forgets_the_parameters",
        STEPS.but(n_parameters=lambda: 1),
        does="the number of parameters is not used",
    ),
    Mistake(
        "adds_parameters_and_tokens",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token + n_tokens),
        STEPS.but(
            flops=lambda of_a_token, n_parameters, n_tokens: of_a_token // n_parameters * (n_parameters + n_tokens)
        ),
        STEPS.but(flops=lambda n_parameters, n_tokens: 2 * n_parameters + 4 * n_tokens),
        does="parameters and tokens are added, not multiplied",
        says="Parameters and tokens are added. *Each* token passes through all parameters.",
        hints=["Twice as many tokens: how much more does the training cost?"],
    ),
    Mistake(
        "one_pass_of_one_token",
        STEPS.but(flops=lambda forward, backward, n_tokens: forward + backward * n_tokens),
        STEPS.but(flops=lambda forward, backward, n_tokens: forward * n_tokens + backward),
        does="only one of the two passes is multiplied by the number of tokens",
        says="One of the passes is counted for all tokens, the other for a single one: brackets are missing.",
        hints=["Which of the two passes does a token go through only once in the whole training?"],
    ),
    Mistake(
        "too_many_operations",
        *map(operations, (7, 8, 12, 18)),
        *(operations(n).attempt for n in (10, 24)),
        does="more operations are counted for each parameter and token than 2 forward and 4 backward",
        says=(
            "More than 6 operations are counted for each parameter and token: a pass, or a part of one, is "
            "counted again."
        ),
        hints=["With one parameter and one token, what comes out?"],
    ),
    Mistake(
        "five_operations",
        operations(5),
        does="5 operations are counted for each parameter and token",
    ),
    Mistake(
        "squares",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token * n_tokens**2),
        STEPS.but(n_parameters=lambda n_parameters: n_parameters**2),
        STEPS.but(flops=lambda of_a_token, n_parameters: of_a_token * n_parameters).attempt,
        does="the square of one of the two numbers is taken",
        says="One of the two numbers is squared. Twice the tokens cost twice as much, and so does twice the model.",
        hints=["Twice as many tokens: how much more does the training cost?"],
    ),
    Mistake(
        "divides",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token // n_tokens),
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token / n_tokens),
        STEPS.but(flops=lambda n_parameters, n_tokens: 6 * n_tokens // n_parameters),
        STEPS.but(flops=lambda n_parameters, n_tokens: 6 * n_tokens / n_parameters),
        does="one of the two numbers is divided by the other",
        says="{does}. Both make the training longer.",
        hints=["Twice as many tokens: how much more does the training cost? And a model twice as large?"],
    ),
    Mistake(
        "tokens_of_chinchilla",
        STEPS.but(n_tokens=lambda n_parameters: 20 * n_parameters),
        does="20 tokens for each parameter are taken, whatever `n_tokens` is",
        says="20 tokens for each parameter are what Chinchilla advises. How many are read here, `n_tokens` says.",
        hints=["Does `n_tokens` occur in the code?"],
    ),
    Mistake(
        "in_another_unit",
        STEPS.but(flops=lambda flops: flops / 1e9),
        STEPS.but(flops=lambda flops: flops / 1e12),
        STEPS.but(flops=lambda flops: flops / 1e15).attempt,
        STEPS.but(flops=lambda flops: flops // 10**9),
        STEPS.but(flops=lambda flops: flops // 10**12),
        does="the operations are counted in billions or more",
        says="{does}. Single operations are asked for.",
        hints=["What comes out for one parameter and one token?"],
    ),
    Mistake(
        "overflows",
        STEPS.but(flops=lambda flops: (flops + 2**31) % 2**32 - 2**31),
        STEPS.but(flops=lambda flops: flops % 2**32).attempt,
        does="the number is kept in 32 bits, where large ones overflow",
        says="Large numbers come out wrong, even negative: 32 bits end at about 2 billion.",
        hints=["What is the largest int32?"],
    ),
    Mistake(
        "through_float32",
        STEPS.but(flops=lambda flops: int(torch.tensor(float(flops)))),
        does="the number is rounded to the digits of a float32",
        says="Only the first 7 digits are right: somewhere the number is a float32.",
        hints=["How many digits has a float32?"],
    ),
    Mistake(
        "two_numbers",
        STEPS.but(flops=lambda forward, backward, n_tokens: (forward * n_tokens, backward * n_tokens)),
        does="the two passes are returned separately",
        says="The two passes come as two numbers. Their sum is asked for.",
        hints=["What does the annotation after `->` promise?"],
    ),
    Mistake(
        "text",
        STEPS.but(flops=lambda flops: str(flops)),
        STEPS.but(flops=lambda flops: f"{flops:,}"),
        STEPS.but(flops=lambda flops: f"{flops:.2e}").attempt,
        does="a text comes out, not a number",
        says="A text comes out. A number is asked for, so that one can go on computing.",
        hints=["What does `type` say of the result?"],
    ),
    Mistake(
        "a_float",
        STEPS.but(flops=lambda flops: float(flops)),
        does="a float comes out, not an int",
        says="A float comes out. Operations are counted, so an int is asked for.",
        hints=["What does `type` say of the result?"],
    ),
]
