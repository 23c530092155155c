"""What goes wrong when the operations of a training are counted."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.training_flops.answer import STEPS
from transformer_course.steps import Variant

SIX = "2 forward and 4 backward: `6 * n_parameters * n_tokens`."


def operations(n: int) -> Variant:
    """Count n operations for each parameter and token, in whatever passes: a product of two slips may be right."""
    return STEPS.but(of_a_token=lambda n_parameters: n * n_parameters)


MISTAKES = [
    Mistake(
        "forward_only",
        STEPS.but(of_a_token=lambda forward: forward),
        does="only the forward pass is counted",
        says="{does}. That is what *using* a model costs; training has a backward pass, too.",
        hints=[
            "Which two passes does a step of training have?",
            "The backward pass computes gradients for inputs and for parameters.",
            SIX,
        ],
    ),
    Mistake(
        "four_operations",
        operations(4),
        does="4 operations are counted for each parameter and token, not 6",
        says="4 operations are counted for each parameter and token: a pass is missing, or one costs too little.",
        hints=[
            "Which two passes does a step of training have?",
            "The forward pass costs 2 operations for each parameter.",
            SIX,
        ],
    ),
    Mistake(
        "products_only",
        STEPS.but(forward=lambda n_parameters: n_parameters),
        does="products are counted, and sums are not",
        says="The products are counted, but not the sums. A matrix product has one of each for every parameter.",
        hints=[
            "How many operations has a dot product of 3 numbers with 3 others, roughly?",
            "Each parameter is multiplied once, and the product is added to a sum.",
            SIX,
        ],
    ),
    Mistake(
        "forgets_the_tokens",
        STEPS.but(flops=lambda of_a_token: of_a_token),
        does="the operations of *one* token are returned",
        says="These are the operations of *one* token. The training reads `n_tokens` of them.",
        hints=["Where does the argument `n_tokens` occur?", "Every token passes through all parameters.", SIX],
    ),
    Mistake(
        "forgets_the_parameters",
        STEPS.but(n_parameters=lambda: 1),
        does="the number of parameters is not used",
        says="The size of the model plays no part. Each token passes through all its parameters.",
        hints=["Where does the argument `n_parameters` occur?", "A larger model costs more for each token.", SIX],
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
        hints=["Twice as many tokens: how much more does the training cost?", "For each token, the same again.", SIX],
    ),
    Mistake(
        "one_pass_of_one_token",
        STEPS.but(flops=lambda forward, backward, n_tokens: forward + backward * n_tokens),
        STEPS.but(flops=lambda forward, backward, n_tokens: forward * n_tokens + backward),
        does="only one of the two passes is multiplied by the number of tokens",
        says="One of the passes is counted for all tokens, the other for a single one: brackets are missing.",
        hints=[
            "Which of the two passes does a token go through only once in the whole training?",
            "Add the two passes first, then multiply.",
            SIX,
        ],
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
        hints=[
            "With one parameter and one token, what comes out?",
            "2 forward. Backward, as many for the inputs and as many for the parameters.",
            SIX,
        ],
    ),
    Mistake(
        "five_operations",
        operations(5),
        does="5 operations are counted for each parameter and token",
        says="{does}: in one of the passes a product or a sum is missing.",
        hints=[
            "With one parameter and one token, what comes out?",
            "Each of the three matrix products has a product *and* a sum for each parameter.",
            SIX,
        ],
    ),
    Mistake(
        "squares",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token * n_tokens**2),
        STEPS.but(n_parameters=lambda n_parameters: n_parameters**2),
        STEPS.but(flops=lambda of_a_token, n_parameters: of_a_token * n_parameters).attempt,
        does="the square of one of the two numbers is taken",
        says="One of the two numbers is squared. Twice the tokens cost twice as much, and so does twice the model.",
        hints=[
            "Twice as many tokens: how much more does the training cost?",
            "Each of the two arguments occurs once.",
            SIX,
        ],
    ),
    Mistake(
        "divides",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token // n_tokens),
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token / n_tokens),
        STEPS.but(flops=lambda n_parameters, n_tokens: 6 * n_tokens // n_parameters),
        STEPS.but(flops=lambda n_parameters, n_tokens: 6 * n_tokens / n_parameters),
        does="one of the two numbers is divided by the other",
        says="{does}. Both make the training longer.",
        hints=[
            "Twice as many tokens: how much more does the training cost? And a model twice as large?",
            "Each token passes through all parameters.",
            SIX,
        ],
    ),
    Mistake(
        "tokens_of_chinchilla",
        STEPS.but(n_tokens=lambda n_parameters: 20 * n_parameters),
        does="20 tokens for each parameter are taken, whatever `n_tokens` is",
        says="20 tokens for each parameter are what Chinchilla advises. How many are read here, `n_tokens` says.",
        hints=[
            "Does `n_tokens` occur in the code?",
            "An advice is no number of tokens that were read.",
            SIX,
        ],
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
        hints=[
            "What comes out for one parameter and one token?",
            "How fast a machine is plays no part yet.",
            SIX,
        ],
    ),
    Mistake(
        "overflows",
        STEPS.but(flops=lambda flops: (flops + 2**31) % 2**32 - 2**31),
        STEPS.but(flops=lambda flops: flops % 2**32).attempt,
        does="the number is kept in 32 bits, where large ones overflow",
        says="Large numbers come out wrong, even negative: 32 bits end at about 2 billion.",
        hints=[
            "What is the largest int32?",
            "Python's own ints do not overflow, those of torch and numpy do.",
            SIX,
        ],
    ),
    Mistake(
        "through_float32",
        STEPS.but(flops=lambda flops: int(torch.tensor(float(flops)))),
        does="the number is rounded to the digits of a float32",
        says="Only the first 7 digits are right: somewhere the number is a float32.",
        hints=[
            "How many digits has a float32?",
            "A count needs no tensors of floats.",
            SIX,
        ],
    ),
    Mistake(
        "two_numbers",
        STEPS.but(flops=lambda forward, backward, n_tokens: (forward * n_tokens, backward * n_tokens)),
        does="the two passes are returned separately",
        says="The two passes come as two numbers. Their sum is asked for.",
        hints=[
            "What does the annotation after `->` promise?",
            "A training has both.",
            SIX,
        ],
    ),
    Mistake(
        "text",
        STEPS.but(flops=lambda flops: str(flops)),
        STEPS.but(flops=lambda flops: f"{flops:,}"),
        STEPS.but(flops=lambda flops: f"{flops:.2e}").attempt,
        does="a text comes out, not a number",
        says="A text comes out. A number is asked for, so that one can go on computing.",
        hints=[
            "What does `type` say of the result?",
            "Formatting comes last, in `print`.",
            SIX,
        ],
    ),
    Mistake(
        "a_float",
        STEPS.but(flops=lambda flops: float(flops)),
        does="a float comes out, not an int",
        says="A float comes out. Operations are counted, so an int is asked for.",
        hints=[
            "What does `type` say of the result?",
            "`6.0`, `1e9` and `/` make floats.",
            SIX,
        ],
    ),
]
