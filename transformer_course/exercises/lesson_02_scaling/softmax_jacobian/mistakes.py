"""What goes wrong in the Jacobian of a softmax."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded


def squares(probabilities):
    """Return p_i² on a diagonal."""
    return torch.diag(probabilities**2)


def without_a_column(table):
    """Return a table with its last column set to 0 beside the diagonal."""
    keeps = torch.ones_like(table)
    keeps[:-1, -1] = 0
    return table * keeps


MISTAKES = [
    Mistake(
        "only_the_diagonal",
        STEPS.but(jacobian=lambda difference: torch.diag(difference.diagonal())),
        STEPS.but(products=lambda probabilities: squares(probabilities)),
        does="everything off the diagonal is 0",
    ),
    Mistake(
        "one_column",
        STEPS.but(jacobian=lambda difference: difference.diagonal()),
        does="only the diagonal is returned, as a vector",
        says=(
            "One number per weight comes out: its derivative by its own score. Every weight depends on every score, "
            "so a table is asked for."
        ),
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "forgets_the_diagonal",
        STEPS.but(own=lambda products: torch.zeros_like(products)),
        STEPS.but(jacobian=lambda difference: difference - torch.diag(difference.diagonal())),
        does="the first term, p_i δ_ij, is missing, or the diagonal is set to 0",
        says=(
            "Beside the diagonal stands −p_i p_j. On it, the numerator depends on the score as well, and a term is "
            "missing."
        ),
        hints=["Can raising a score lower its own weight, or leave it as it is? What does the diagonal say?"],
    ),
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - squares(probabilities)),
        does="the square p_i² is subtracted on the diagonal besides the table of products",
        says=(
            "On the diagonal, p_i² is subtracted twice: by the formula for i = j, and again with the table of all "
            "products. Look at what both terms hold there."
        ),
        hints=["For weights of 0.5 and 0.5, the first entry should be 0.25. Which numbers make it up?"],
    ),
    Mistake(
        "plus_sign",
        STEPS.but(difference=lambda own, products: own + products),
        does="the products are added, not subtracted",
    ),
    Mistake(
        "identity_on_the_diagonal",
        STEPS.but(own=lambda delta: delta),
        does="the term δ_ij stands without its factor p_i",
        says="The diagonal is 1 − p_i², because δ_ij stands there without its factor p_i. Look at the first term.",
        hints=["With p = (1, 0), nothing can move any more. Is the table 0 there?"],
    ),
    Mistake(
        "forgets_the_factor",
        STEPS.but(column=lambda column: torch.ones_like(column)),
        STEPS.but(own=lambda delta: delta, products=lambda column: column),
        does="a factor is missing from each of the two terms, p_i δ_ij and p_i p_j",
        says="{does}, so weights that are nearly 0 seem to move as much as large ones.",
        hints=["With p = (1, 0), nothing can move any more. Is the table 0 there?"],
    ),
    Mistake(
        "squares_instead_of_products",
        STEPS.but(column=lambda row: row),
        STEPS.but(row=lambda column: column),
        STEPS.but(products=lambda probabilities: probabilities * probabilities),
        does="both factors of the products run along the same axis",
    ),
    Mistake(
        "squares_alone",
        STEPS.but(jacobian=lambda probabilities: -probabilities * probabilities),
        STEPS.but(jacobian=lambda probabilities: probabilities * probabilities),
        does="the weights are multiplied by themselves, entry by entry, and make no table",
        says=(
            "One number per weight comes out: a vector times itself, entry by entry. A table is asked for, with every "
            "product p_i p_j. Look at the shapes that are multiplied."
        ),
        hints=["What shape has `p * p`, and what shape `p * p.T`? Transposing a vector changes nothing."],
    ),
    Mistake(
        "one_instead_of_delta",
        STEPS.but(delta=lambda delta: torch.ones_like(delta)),
        STEPS.but(own=lambda row, delta: row * torch.ones_like(delta)),
        does="1 stands in place of δ_ij everywhere",
    ),
    Mistake(
        "one_number_instead_of_products",
        STEPS.but(products=lambda probabilities: probabilities @ probabilities),
        STEPS.but(jacobian=lambda probabilities: probabilities @ probabilities),
        STEPS.but(jacobian=lambda probabilities: -(probabilities @ probabilities)),
        does="the weights meet in a dot product, which is one number",
        says=(
            "The same number is subtracted everywhere, or is all there is: `@` of two vectors is a dot product, one "
            "number. A table of all the products p_i p_j is needed."
        ),
        hints=["What shape has `probabilities @ probabilities`?"],
    ),
    Mistake(
        "true_minus_a_number",
        STEPS.but(difference=lambda probabilities: True - probabilities[0]),
        does="a truth value, `i == j`, stands in front of a minus",
        says=(
            "A comparison such as `i == j` is True or False, and torch does not subtract from these: it crashes. Look "
            "at what stands in front of the minus."
        ),
        hints=["δ_ij has to be a number, 1 or 0."],
    ),
    Mistake(
        "takes_them_for_scores",
        STEPS.but(probabilities=lambda probabilities: torch.softmax(probabilities, dim=-1)),
        STEPS.but(probabilities=lambda probabilities: torch.softmax(probabilities.exp(), dim=-1)).attempt,
        does="a softmax is taken of the probabilities",
        says="A softmax is taken of something that has been through one already. The argument holds probabilities.",
        hints=["What do the numbers in `probabilities` add up to?"],
    ),
    Mistake(
        "another_diagonal",
        STEPS.but(own=lambda own, probabilities: own + squares(probabilities)),
        STEPS.but(own=lambda delta, probabilities: delta - torch.diag(probabilities) + squares(probabilities)),
        STEPS.but(own=lambda probabilities: 2 * squares(probabilities)),
        STEPS.but(own=lambda own, probabilities: own + 2 * squares(probabilities)),
        STEPS.but(own=lambda delta, probabilities: delta + squares(probabilities)),
        does="the diagonal holds p_i, 1 − p_i, p_i², p_i (1 + p_i) or 1",
        says=(
            "Something else stands on the diagonal than the derivative of a weight by its own score. Look at the case "
            "i = j."
        ),
        hints=["With the weights 0.8 and 0.2, the diagonal should hold 0.16 twice. Which numbers are there?"],
    ),
    Mistake(
        "delta_turned_round",
        STEPS.but(delta=lambda delta: 1 - delta),
        does="the table of δ_ij holds 0 on the diagonal and 1 beside it",
        says="δ_ij is turned round: the table holds 0 where i and j are equal, and 1 everywhere else.",
        hints=["What does `torch.eye(2)` look like?"],
    ),
    Mistake(
        "size_is_a_tensor",
        STEPS.but(delta=lambda probabilities: torch.eye(probabilities)).attempt,
        says="`torch.eye` is given the weights themselves. It asks for a number: how many rows the table has.",
        hints=[
            "How many rows and columns does the Jacobian have?",
            "What does `len(probabilities)` say?",
            "`torch.eye(len(probabilities))`.",
        ],
    ),
    Mistake(
        "delta_by_comparing_weights",
        STEPS.but(delta=lambda row, column: (row == column).float()),
        does="whether two *weights* are equal decides what δ_ij is",
        says=(
            "Where two weights are equal, the table is wrong: δ_ij asks whether the *places* i and j are the same, "
            "not whether the weights there are equal."
        ),
        hints=["What comes out for the weights 0.5 and 0.5?"],
    ),
    Mistake(
        "one_factor_in_the_products",
        STEPS.but(products=lambda column: column),
        STEPS.but(products=lambda row: row),
        STEPS.but(products=lambda column, delta, probabilities: column * (1 - delta) + squares(probabilities)),
        STEPS.but(products=lambda row, delta, probabilities: row * (1 - delta) + squares(probabilities)),
        does="a single weight stands beside the diagonal where a product of two belongs",
        says=(
            "Beside the diagonal, a single weight is subtracted where a product of two belongs. Look at the case i ≠ j."
        ),
        hints=["With the weights 0.8 and 0.2, -0.16 should stand beside the diagonal. Which two numbers make it?"],
    ),
    Mistake(
        "differences_of_weights",
        STEPS.but(difference=lambda column, row: column - row),
        STEPS.but(difference=lambda column, row: row - column),
        does="a weight is subtracted from each other weight",
        says="These are the differences of the weights, with 0 on the diagonal. Products belong there, and δ_ij.",
        hints=["What should the entry for i = j be, with the weights 0.8 and 0.2?"],
    ),
    Mistake(
        "half_a_table",
        STEPS.but(jacobian=lambda difference: difference.tril()),
        STEPS.but(jacobian=lambda difference: difference.triu()),
        STEPS.but(jacobian=lambda difference: without_a_column(difference)),
        STEPS.but(jacobian=lambda difference: without_a_column(difference.mT).mT),
        does="some entries beside the diagonal are never filled in",
        says="Some entries beside the diagonal are 0: not every pair i, j has been filled in. Look at which ones are.",
        hints=["How many entries has the table for 3 weights, and how many of them are filled in?"],
    ),
    Mistake(
        "column_times_vector",
        STEPS.but(products=lambda column, probabilities: column @ probabilities),
        does="a matrix product meets a column and a vector that do not fit",
        says=(
            "A matrix product of a column, (n, 1), and a vector, (n,), crashes. Look at the shapes on both sides of it."
        ),
        hints=["In `a @ b`, which two lengths have to be equal?"],
    ),
    rounded(
        STEPS,
        "jacobian",
        does="the entries are rounded",
        says="{does}, so that rows need not add up to 0, and small ones are lost.",
    ),
    *of_the_result(
        STEPS,
        "result_transposed",
        "function_of_the_result",
        "axes_of_length_1_removed",
    ),
]
