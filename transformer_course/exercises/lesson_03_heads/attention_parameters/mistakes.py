"""What goes wrong when parameters are counted."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.attention_parameters.answer import STEPS


def one_head(d_model, n_heads, biases):
    return 3 * (d_model + bool(biases)) * (d_model // n_heads) + d_model**2 + biases


MISTAKES = [
    Mistake(
        "every_head_as_wide_as_the_model",
        STEPS.but(layers=lambda layers, n_heads: layers * n_heads),
        STEPS.but(layers=lambda n_heads: 3 * n_heads + 1),
        does="the layers are counted once for every head, each as wide as the model",
        says=(
            "The count grows with the number of heads, as if every head had projections as wide as the model. The "
            "heads *share* a projection of d_model columns: each gets d_model / n_heads of them."
        ),
        hints=["With 2 heads instead of 1, how wide is each head?"],
    ),
    Mistake(
        "nothing_without_biases",
        STEPS.but(total=lambda total, bias: total if bias else 0),
        does="without biases the count is 0",
        says=(
            "{does}: an `… if … else …` takes in everything that stands in front of it, and a factor everything it "
            "multiplies."
        ),
        hints=["What is `1 + 1 if False else 0`?"],
    ),
    Mistake(
        "w_o_without_biases",
        STEPS.but(total=lambda total, biases: total - biases),
        does="the biases of one layer are left out",
        says="The weights are right, and {does}. Look at which layers have some.",
        hints=["How many layers are there, and how many biases has each?"],
    ),
    Mistake(
        "only_one_head",
        STEPS.but(total=one_head),
        does="layers are counted with d_model × d_k weights, as for a single head",
        says=(
            "For some layers, d_model × d_k weights are counted: the part of a single head. All the heads together "
            "have more."
        ),
        hints=["How many columns does one head take from w_q, and how many columns has w_q?"],
    ),
]
