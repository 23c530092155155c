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
        says=(
            "Everything beside the diagonal is 0. Raising one score also lowers all the *other* weights: they share "
            "the denominator."
        ),
        hints=[
            "If score 1 goes up, does weight 2 stay the same?",
            "The derivative of p_i by s_j for i ≠ j comes from the denominator alone.",
            "It is −p_i p_j: subtract all the products, `torch.outer(p, p)`, from a diagonal of p.",
        ],
    ),
    Mistake(
        "one_column",
        STEPS.but(jacobian=lambda difference: difference.diagonal()),
        does="only the diagonal is returned, as a vector",
        says=(
            "One number per weight comes out: its derivative by its own score. Every weight depends on every score, "
            "so a table is asked for."
        ),
        hints=[
            "What shape is asked for?",
            "These numbers are its diagonal. What stands beside it?",
            "For i ≠ j: −p_i p_j. `torch.diag` makes a table of a diagonal, `torch.outer` one of all products.",
        ],
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
        hints=[
            "Can raising a score lower its own weight, or leave it as it is? What does the diagonal say?",
            "For i = j, use the product rule: p_i − p_i².",
            "To all the −p_i p_j, those on the diagonal included, add `torch.diag(probabilities)`.",
        ],
    ),
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - squares(probabilities)),
        does="the square p_i² is subtracted on the diagonal besides the table of products",
        says=(
            "On the diagonal, p_i² is subtracted twice: by the formula for i = j, and again with the table of all "
            "products. Look at what both terms hold there."
        ),
        hints=[
            "For weights of 0.5 and 0.5, the first entry should be 0.25. Which numbers make it up?",
            "The table of all products p_i p_j has a diagonal too.",
            "`torch.diag(p) - torch.outer(p, p)`, or fill the diagonal instead of adding to it.",
        ],
    ),
    Mistake(
        "plus_beside_the_diagonal",
        STEPS.but(products=lambda products, probabilities: 2 * squares(probabilities) - products),
        does="the products beside the diagonal have lost their minus",
        says=(
            "The products beside the diagonal have lost their sign. Raising one score would then raise all the weights."
        ),
        hints=[
            "What should each row add up to, if the weights always add up to 1?",
            "For i ≠ j, s_j stands in the denominator only. Does the fraction grow or shrink with it?",
            "−p_i p_j.",
        ],
    ),
    Mistake(
        "plus_sign",
        STEPS.but(difference=lambda own, products: own + products),
        does="the products are added, not subtracted",
        says=(
            "The products are added. Then raising one score would raise all the weights, and they could not add up to "
            "1 any longer. Look at the sign."
        ),
        hints=[
            "What do the columns of the table add up to? The weights always add up to 1, so what should they?",
            "When one weight goes up, the others have to go down.",
            "Subtract the products.",
        ],
    ),
    Mistake(
        "identity_on_the_diagonal",
        STEPS.but(own=lambda delta: delta),
        does="the term δ_ij stands without its factor p_i",
        says="The diagonal is 1 − p_i², because δ_ij stands there without its factor p_i. Look at the first term.",
        hints=[
            "With p = (1, 0), nothing can move any more. Is the table 0 there?",
            "The formula is p_i (δ_ij − p_j): the p_i multiplies both terms.",
            "Use a diagonal matrix of the probabilities, `torch.diag`, not the identity.",
        ],
    ),
    Mistake(
        "forgets_the_factor",
        STEPS.but(column=lambda column: torch.ones_like(column)),
        STEPS.but(own=lambda delta: delta, products=lambda column: column),
        does="a factor is missing from each of the two terms, p_i δ_ij and p_i p_j",
        says="{does}, so weights that are nearly 0 seem to move as much as large ones.",
        hints=[
            "With p = (1, 0), nothing can move any more. Is the table 0 there?",
            "The factor p_i is the same along a whole row. What shape must p have to multiply row by row?",
        ],
    ),
    Mistake(
        "squares_instead_of_products",
        STEPS.but(column=lambda row: row),
        STEPS.but(row=lambda column: column),
        STEPS.but(products=lambda probabilities: probabilities * probabilities),
        does="both factors of the products run along the same axis",
        says=(
            "Beside the diagonal stand squares, p_i² or p_j²: both factors run along the same axis. In p_i p_j one "
            "belongs to the row, the other to the column. Look at the shapes that are multiplied."
        ),
        hints=[
            "What shape has `p * p`, and what shape `p * p.T`? Transposing a vector changes nothing.",
            "One of the two has to be a column, of shape (n, 1). Which indexing makes it one?",
            "`probabilities[:, None]` is the column: p_i, the same along each row.",
        ],
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
        hints=[
            "What shape has `p * p`, and what shape `p * p.T`? Transposing a vector changes nothing.",
            "Row by column: one of the two has to be a column, of shape (n, 1).",
            "`probabilities[:, None] * probabilities`, or `torch.outer`. The diagonal needs p_i on top of it.",
        ],
    ),
    Mistake(
        "one_instead_of_delta",
        STEPS.but(delta=lambda delta: torch.ones_like(delta)),
        STEPS.but(own=lambda row, delta: row * torch.ones_like(delta)),
        does="1 stands in place of δ_ij everywhere",
        says="The 1 of p_i (1 − p_j) stands everywhere. δ_ij is 1 on the diagonal only, and 0 beside it.",
        hints=[
            "What are the entries beside the diagonal? Can they all be positive, if the weights add up to 1?",
            "δ_ij as a table is called the identity matrix.",
            "`torch.eye(n)` in place of the 1.",
        ],
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
        hints=[
            "What shape has `probabilities @ probabilities`?",
            "All products of two vectors, row by column, are called the outer product.",
            "`torch.outer(probabilities, probabilities)`.",
        ],
    ),
    Mistake(
        "true_minus_a_number",
        STEPS.but(difference=lambda probabilities: True - probabilities[0]),
        does="a truth value, `i == j`, stands in front of a minus",
        says=(
            "A comparison such as `i == j` is True or False, and torch does not subtract from these: it crashes. Look "
            "at what stands in front of the minus."
        ),
        hints=[
            "δ_ij has to be a number, 1 or 0.",
            "`float(i == j)` is one; without any loop, `torch.eye(n)` holds them all.",
            "`probabilities[:, None] * (torch.eye(n) - probabilities)` is every entry at once.",
        ],
    ),
    Mistake(
        "takes_them_for_scores",
        STEPS.but(probabilities=lambda probabilities: torch.softmax(probabilities, dim=-1)),
        STEPS.but(probabilities=lambda probabilities: torch.softmax(probabilities.exp(), dim=-1)).attempt,
        does="a softmax is taken of the probabilities",
        says="A softmax is taken of something that has been through one already. The argument holds probabilities.",
        hints=[
            "What do the numbers in `probabilities` add up to?",
            "The formula needs only p, not the scores.",
            "Leave the softmax out.",
        ],
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
        hints=[
            "With the weights 0.8 and 0.2, the diagonal should hold 0.16 twice. Which numbers are there?",
            "For i = j the numerator and the denominator depend on the score: use the quotient rule.",
            "p_i − p_i².",
        ],
    ),
    Mistake(
        "delta_turned_round",
        STEPS.but(delta=lambda delta: 1 - delta),
        does="the table of δ_ij holds 0 on the diagonal and 1 beside it",
        says="δ_ij is turned round: the table holds 0 where i and j are equal, and 1 everywhere else.",
        hints=[
            "What does `torch.eye(2)` look like?",
            "Can raising a score lower its own weight?",
            "1 where `i == j`, else 0.",
        ],
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
        hints=[
            "What comes out for the weights 0.5 and 0.5?",
            "δ_ij depends on i and j alone.",
            "`torch.eye(n)` is that table.",
        ],
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
        hints=[
            "With the weights 0.8 and 0.2, -0.16 should stand beside the diagonal. Which two numbers make it?",
            "For i ≠ j, s_j stands in the denominator only, and its derivative brings in p_j.",
            "−p_i p_j.",
        ],
    ),
    Mistake(
        "differences_of_weights",
        STEPS.but(difference=lambda column, row: column - row),
        STEPS.but(difference=lambda column, row: row - column),
        does="a weight is subtracted from each other weight",
        says="These are the differences of the weights, with 0 on the diagonal. Products belong there, and δ_ij.",
        hints=[
            "What should the entry for i = j be, with the weights 0.8 and 0.2?",
            "The formula has a product with brackets: p_i (δ_ij − p_j).",
            "p_i stands as a factor in front, not as a term.",
        ],
    ),
    Mistake(
        "half_a_table",
        STEPS.but(jacobian=lambda difference: difference.tril()),
        STEPS.but(jacobian=lambda difference: difference.triu()),
        STEPS.but(jacobian=lambda difference: without_a_column(difference)),
        STEPS.but(jacobian=lambda difference: without_a_column(difference.mT).mT),
        does="some entries beside the diagonal are never filled in",
        says="Some entries beside the diagonal are 0: not every pair i, j has been filled in. Look at which ones are.",
        hints=[
            "How many entries has the table for 3 weights, and how many of them are filled in?",
            "Every i meets every j, larger or smaller, from the first to the last.",
            "Without loops there is nothing to miss: `torch.outer` holds every product.",
        ],
    ),
    Mistake(
        "column_times_vector",
        STEPS.but(products=lambda column, probabilities: column @ probabilities),
        does="a matrix product meets a column and a vector that do not fit",
        says=(
            "A matrix product of a column, (n, 1), and a vector, (n,), crashes. Look at the shapes on both sides of it."
        ),
        hints=[
            "In `a @ b`, which two lengths have to be equal?",
            "(n, 1) fits (1, n), a row. Entry by entry, (n, 1) also fits (n,).",
            "`probabilities[:, None] * probabilities`, or `torch.outer`.",
        ],
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
