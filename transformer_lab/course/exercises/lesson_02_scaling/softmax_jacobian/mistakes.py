"""What goes wrong in the Jacobian of a softmax."""

import torch

from transformer_lab.course.exercise import Mistake


def only_the_diagonal(probabilities):
    return torch.diag(probabilities * (1 - probabilities))


def one_column(probabilities):
    return probabilities * (1 - probabilities)


def forgets_the_diagonal(probabilities):
    return -torch.outer(probabilities, probabilities)


def zeros_on_the_diagonal(probabilities):
    products = torch.outer(probabilities, probabilities)
    return torch.diag(torch.diag(products)) - products


def squares_subtracted_twice(probabilities):
    return torch.diag(probabilities * (1 - probabilities)) - torch.outer(probabilities, probabilities)


def plus_beside_the_diagonal(probabilities):
    products = torch.outer(probabilities, probabilities)
    return products + torch.diag(probabilities * (1 - 2 * probabilities))


def plus_sign(probabilities):
    return torch.diag(probabilities) + torch.outer(probabilities, probabilities)


def wrong_sign(probabilities):
    return torch.outer(probabilities, probabilities) - torch.diag(probabilities)


def identity_on_the_diagonal(probabilities):
    return torch.eye(len(probabilities)) - torch.outer(probabilities, probabilities)


def forgets_the_factor(probabilities):
    return torch.eye(len(probabilities)) - probabilities


def forgets_the_factor_by_columns(probabilities):
    return torch.eye(len(probabilities)) - probabilities[:, None]


def squares_instead_of_products(probabilities):
    return probabilities * (torch.eye(len(probabilities)) - probabilities)


def squares_by_columns(probabilities):
    return probabilities[:, None] * (torch.eye(len(probabilities)) - probabilities[:, None])


def squares_alone(probabilities):
    return -probabilities * probabilities


def squares_alone_and_positive(probabilities):
    return probabilities * probabilities


def one_instead_of_delta(probabilities):
    return probabilities[:, None] * (1 - probabilities)


def one_instead_of_delta_by_columns(probabilities):
    return probabilities * (1 - probabilities[:, None])


def one_number_instead_of_products(probabilities):
    return torch.diag(probabilities) - probabilities @ probabilities


def one_number(probabilities):
    return probabilities @ probabilities


def minus_one_number(probabilities):
    return -(probabilities @ probabilities)


def true_minus_a_number(probabilities):
    jacobian = torch.zeros(len(probabilities), len(probabilities))
    for i, p_i in enumerate(probabilities):
        for j, p_j in enumerate(probabilities):
            jacobian[i, j] = p_i * ((i == j) - p_j)
    return jacobian


def takes_them_for_scores(probabilities):
    weights = torch.softmax(probabilities, dim=-1)
    return torch.diag(weights) - torch.outer(weights, weights)


MISTAKES = [
    Mistake(
        "only_the_diagonal",
        [only_the_diagonal],
        says=(
            "The diagonal is right, but everything beside it is 0. Raising one score also lowers all the *other* weights: "
            "they share the denominator."
        ),
        hints=[
            "If score 1 goes up, does weight 2 stay the same?",
            "The derivative of p_i by s_j for i ≠ j comes from the denominator alone.",
            "It is −p_i p_j: subtract all the products, `torch.outer(p, p)`, from a diagonal of p.",
        ],
    ),
    Mistake(
        "one_column",
        [one_column],
        says=(
            "One number per weight comes out: its derivative by its own score. Every weight depends on every score, so a "
            "table is asked for."
        ),
        hints=[
            "What shape is asked for?",
            "These numbers are its diagonal. What stands beside it?",
            "For i ≠ j: −p_i p_j. `torch.diag` makes a table of a diagonal, `torch.outer` one of all products.",
        ],
    ),
    Mistake(
        "forgets_the_diagonal",
        [forgets_the_diagonal, zeros_on_the_diagonal],
        says="−p_i p_j is right everywhere but on the diagonal: there the numerator depends on the score as well.",
        hints=[
            "Can raising a score lower its own weight, or leave it as it is? What does the diagonal say?",
            "For i = j, use the product rule: p_i − p_i².",
            "To all the −p_i p_j, those on the diagonal included, add `torch.diag(probabilities)`.",
        ],
    ),
    Mistake(
        "squares_subtracted_twice",
        [squares_subtracted_twice],
        says=(
            "Right beside the diagonal; on it, p_i² is subtracted twice: by the formula for i = j, and again with the "
            "table of all products. Look at what both terms hold there."
        ),
        hints=[
            "For weights of 0.5 and 0.5, the first entry should be 0.25. Which numbers make it up?",
            "The table of all products p_i p_j has a diagonal too.",
            "`torch.diag(p) - torch.outer(p, p)`, or fill the diagonal instead of adding to it.",
        ],
    ),
    Mistake(
        "plus_beside_the_diagonal",
        [plus_beside_the_diagonal],
        says=(
            "The diagonal is right, but the products beside it have lost their sign. Raising one score would then raise "
            "all the weights."
        ),
        hints=[
            "What should each row add up to, if the weights always add up to 1?",
            "For i ≠ j, s_j stands in the denominator only. Does the fraction grow or shrink with it?",
            "−p_i p_j.",
        ],
    ),
    Mistake(
        "plus_sign",
        [plus_sign],
        says=(
            "The products are added. Then raising one score would raise all the weights, and they could not add up to 1 "
            "any longer. Look at the sign."
        ),
        hints=[
            "What do the columns of the table add up to? The weights always add up to 1, so what should they?",
            "When one weight goes up, the others have to go down.",
            "Subtract the products.",
        ],
    ),
    Mistake(
        "wrong_sign",
        [wrong_sign],
        says="All the signs are turned round: raising a score would lower its own weight.",
        hints=[
            "Is the diagonal positive?",
            "p_i (1 − p_i) is the diagonal.",
            "Turn the subtraction round.",
        ],
    ),
    Mistake(
        "identity_on_the_diagonal",
        [identity_on_the_diagonal],
        says="The diagonal is 1 − p_i², because δ_ij stands there without its factor p_i. Look at the first term.",
        hints=[
            "With p = (1, 0), nothing can move any more. Is the table 0 there?",
            "The formula is p_i (δ_ij − p_j): the p_i multiplies both terms.",
            "Use a diagonal matrix of the probabilities, `torch.diag`, not the identity.",
        ],
    ),
    Mistake(
        "forgets_the_factor",
        [forgets_the_factor, forgets_the_factor_by_columns],
        says=(
            "This is only what stands in the brackets of p_i (δ_ij − p_j): the factor in front is missing, so weights that "
            "are nearly 0 seem to move as much as large ones."
        ),
        hints=[
            "With p = (1, 0), nothing can move any more. Is the table 0 there?",
            "The factor p_i is the same along a whole row. What shape must p have to multiply row by row?",
            "Multiply by `probabilities[:, None]`.",
        ],
    ),
    Mistake(
        "squares_instead_of_products",
        [squares_instead_of_products, squares_by_columns],
        says=(
            "The diagonal is right, but beside it stand squares, p_j · p_j: both factors run along the same axis. In "
            "p_i p_j one belongs to the row, the other to the column. Look at the shapes that are multiplied."
        ),
        hints=[
            "What shape has `p * p`, and what shape `p * p.T`? Transposing a vector changes nothing.",
            "One of the two has to be a column, of shape (n, 1). Which indexing makes it one?",
            "`probabilities[:, None]` is the column: p_i, the same along each row.",
        ],
    ),
    Mistake(
        "squares_alone",
        [squares_alone, squares_alone_and_positive],
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
        [one_instead_of_delta, one_instead_of_delta_by_columns],
        says="Every entry is p_i (1 − p_j): the 1 stands everywhere. δ_ij is 1 on the diagonal only, and 0 beside it.",
        hints=[
            "What are the entries beside the diagonal? Can they all be positive, if the weights add up to 1?",
            "δ_ij as a table is called the identity matrix.",
            "`torch.eye(n)` in place of the 1.",
        ],
    ),
    Mistake(
        "one_number_instead_of_products",
        [one_number_instead_of_products, one_number, minus_one_number],
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
        [true_minus_a_number],
        says=(
            "`i == j` is True or False, and torch does not subtract from these: it crashes. Look at what stands in front "
            "of the minus."
        ),
        hints=[
            "δ_ij has to be a number, 1 or 0.",
            "`float(i == j)` is one; without any loop, `torch.eye(n)` holds them all.",
            "`probabilities[:, None] * (torch.eye(n) - probabilities)` is every entry at once.",
        ],
    ),
    Mistake(
        "takes_them_for_scores",
        [takes_them_for_scores],
        says="A softmax is taken of something that has been through one already. The argument holds probabilities.",
        hints=[
            "What do the numbers in `probabilities` add up to?",
            "The formula needs only p, not the scores.",
            "Leave the softmax out.",
        ],
    ),
]
