"""What goes wrong when the operations of a training are counted."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_13_scale.training_flops.answer import STEPS

SIX = "2 forward and 4 backward: `6 * n_parameters * n_tokens`."

MISTAKES = [
    Mistake(
        "forward_only",
        [STEPS.but(of_a_token=lambda forward: forward)],
        does="only the forward pass is counted",
        says="Only the forward pass is counted. That is what *using* a model costs; training has a backward pass, too.",
        hints=[
            "Which two passes does a step of training have?",
            "The backward pass computes gradients for inputs and for parameters.",
            SIX,
        ],
    ),
    Mistake(
        "four_operations",
        [STEPS.but(of_a_token=lambda backward: backward)],
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
        [STEPS.but(forward=lambda n_parameters: n_parameters)],
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
        [STEPS.but(flops=lambda of_a_token: of_a_token)],
        does="the operations of *one* token are returned",
        says="These are the operations of *one* token. The training reads `n_tokens` of them.",
        hints=["Where does the argument `n_tokens` occur?", "Every token passes through all parameters.", SIX],
    ),
    Mistake(
        "forgets_the_parameters",
        [STEPS.but(n_parameters=lambda: 1)],
        does="the number of parameters is not used",
        says="The size of the model plays no part. Each token passes through all its parameters.",
        hints=["Where does the argument `n_parameters` occur?", "A larger model costs more for each token.", SIX],
    ),
    Mistake(
        "adds_parameters_and_tokens",
        [STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token + n_tokens)],
        does="the number of tokens is added, not multiplied",
        says="The number of tokens is added. *Each* token passes through all parameters.",
        hints=["Twice as many tokens: how much more does the training cost?", "For each token, the same again.", SIX],
    ),
    Mistake(
        "a_float",
        [STEPS.but(flops=lambda flops: float(flops)), STEPS.but(flops=lambda flops: flops / 1e9).attempt],
        does="a float comes out, not an int",
        says="A float comes out. Operations are counted, so an int is asked for, in single operations.",
        hints=["What does `type` say of the result?", "`1e9` and `/` make floats.", SIX],
    ),
]
