"""The Jacobian of the softmax: how each weight depends on each score."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Return the matrix whose entry (i, j) is the derivative of weight i with respect to score j."""
    return torch.diag(probabilities) - torch.outer(probabilities, probabilities)


def delta(probabilities):
    """create the identity matrix → the identity matrix: δ_ij"""
    return torch.eye(len(probabilities))


def column(probabilities):
    """turn the weights into a column → the weights as a column: p_i, constant along each row"""
    return probabilities[:, None]


def row(probabilities):
    """turn the weights into a row → the weights as a row: p_j, constant along each column"""
    return probabilities[None, :]


def own(column, delta):
    """multiply δ_ij by p_i → the diagonal matrix of the weights: p_i δ_ij"""
    return column * delta


def products(column, row):
    """multiply every weight by every weight → the products p_i p_j"""
    return column * row


def difference(own, products):
    """subtract p_i p_j from p_i δ_ij → the difference: p_i δ_ij − p_i p_j"""
    return own - products


def jacobian(difference):
    """return the whole matrix → the Jacobian"""
    return difference


STEPS = InSteps(delta, column, row, own, products, difference, jacobian, reference=softmax_jacobian)


def softmax_jacobian_cases(seed: int) -> list[Case]:
    """Return the cases. The last is small enough for a Python loop over all pairs."""
    rng = generator(seed)

    def case(n: int) -> Case:
        return Case({"probabilities": torch.softmax(normal(rng, n), dim=-1)}, f"{n} weights")

    # Easy to do by hand: 0.16 on the diagonal and -0.16 elsewhere.
    readable = Case({"probabilities": torch.tensor([0.8, 0.2])}, "the weights 0.8 and 0.2")
    decided = Case({"probabilities": torch.tensor([0.01, 0.97, 0.02])}, "nearly all the weight on one key")
    even = Case({"probabilities": torch.tensor([0.25, 0.5, 0.25])}, "two equal weights of three")
    return [readable, case(2), case(3), even, decided, case(5), case(31)]


MISTAKES = [
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - torch.diag(probabilities**2)),
        summary="you subtract p_i² twice on the diagonal",
        message=(
            "{summary}: once in the diagonal term, and again with the products p_i p_j. For the weights 0.5 and 0.5, "
            "your diagonal is 0 instead of 0.25. Which term should contain p_i²?"
        ),
        hints=["For the weights 0.5 and 0.5, which terms make up your first entry?"],
    ),
    Mistake(
        "squares_not_subtracted",
        STEPS.but(difference=lambda own, products: own - (products - torch.diag(products.diag()))),
        summary="your diagonal is p_i instead of p_i − p_i²",
        message=(
            "{summary}: for the weights 0.5 and 0.5, its entries are 0.5 instead of 0.25. Which two terms does "
            "p_i δ_ij − p_i p_j have for i = j?"
        ),
        hints=["For the weights 0.5 and 0.5, which terms make up your first entry?"],
    ),
    Mistake(
        "one_number_instead_of_products",
        STEPS.but(products=lambda probabilities: probabilities @ probabilities),
        summary="you subtract the same number everywhere",
        message=(
            "{summary}, because `@` of two vectors is a dot product: for the weights 0.5 and 0.5, you subtract 0.5 "
            "from every entry instead of 0.25. How do you get a matrix of all the products p_i p_j?"
        ),
        hints=["What is the shape of `probabilities @ probabilities`?"],
    ),
    Mistake(
        "below_the_diagonal_only",
        STEPS.but(jacobian=lambda difference: difference.tril(-1)),
        STEPS.but(jacobian=lambda difference: difference.tril()),
        STEPS.but(jacobian=lambda difference: difference.triu()),
        summary="you fill only one side of the diagonal",
        message=(
            "{summary}. Every score j changes every weight i, so the entries on the other side aren't 0 either: for "
            "the weights 0.8 and 0.2, both off-diagonal entries are −0.16. Which pairs (i, j) does your code fill?"
        ),
        hints=["For 3 weights, how many entries does your code compute? How many are there?"],
    ),
]


EXERCISE = Exercise(
    reference=softmax_jacobian,
    steps=STEPS,
    distributions=("probabilities",),
    may_cut_gradients=True,
    cases=softmax_jacobian_cases,
    points=2,
    verified=(
        "Every entry is p_i (δ_ij − p_j), so every row and column sums to 0: what one weight gains, the others lose."
    ),
    hints=[
        "Differentiate p_i = exp(s_i) / Σ exp(s) with respect to s_j. What is different between i = j and i ≠ j?",
        "For i ≠ j only the denominator depends on s_j: −p_i p_j. For i = j the numerator does too: p_i − p_i².",
        "As one formula: p_i δ_ij − p_i p_j. The first term is a diagonal matrix, and the second holds every product.",
        "`torch.diag(p)` puts p on a diagonal, `torch.eye(n)` is δ_ij, and `torch.outer(p, p)` or `p[:, None] * p` "
        "holds every p_i p_j.",
    ],
    messages={
        "order_difference: (products) - (own)": Wording(
            "{summary}, so every entry has the wrong sign. If score i rises, weight i should rise too, but your "
            "diagonal is negative. Which term has the minus sign in p_i δ_ij − p_i p_j?",
            summary="you subtract p_i δ_ij from p_i p_j instead of the reverse",
            hints=["For the weights 0.8 and 0.2, should the first entry be positive or negative?"],
        ),
        "absolute_difference": Wording(
            "{summary}: for the weights 0.8 and 0.2, you return 0.16 instead of −0.16, so your rows don't sum to 0. "
            "If score j rises, should weight i rise or fall?",
            summary="off the diagonal, you return p_i p_j instead of −p_i p_j",
            hints=["Each row of the Jacobian should sum to 0. What do your rows sum to?"],
        ),
        "operator_products: (column) + (row)": Wording(
            "{summary}: for the weights 0.8 and 0.2, you subtract 1 instead of 0.16 off the diagonal. Which operation "
            "combines the two weights in the formula?",
            summary="you use the sums p_i + p_j instead of the products p_i p_j",
            hints=["For the weights 0.8 and 0.2, which four numbers should p_i p_j be?"],
        ),
        "part_left_out_own: column": Wording(
            "{summary}: for the weights 0.8 and 0.2, its row 0 is 0.8 and 0.8 instead of 0.8 and 0. What is δ_ij off "
            "the diagonal?",
            summary="you fill every column of the first term with p_i instead of only the diagonal",
            hints=["Each row of the Jacobian should sum to 0. What do your rows sum to?"],
        ),
        "function_probabilities: probabilities.softmax(dim=-1)": Wording(
            "{summary}: 0.8 and 0.2 become 0.65 and 0.35. Use `probabilities` as p_i without another softmax.",
            summary="you apply a softmax to `probabilities`, which already sum to 1",
            hints=["What do the probabilities sum to before your softmax?"],
        ),
        "part_left_out_difference: -(products)": Wording(
            "Your entries −p_i p_j are right off the diagonal. On the diagonal, they should be p_i − p_i², because the "
            "numerator of p_i depends on s_i as well. Which term of the formula adds p_i there?",
            summary="you leave out the term p_i δ_ij",
            hints=["Each row of the Jacobian should sum to 0. What do your rows sum to?"],
        ),
        "wrong_input_products: own": Wording(
            "{summary}, as if each weight depended only on its own score: for the weights 0.8 and 0.2, you get 0 "
            "instead of −0.16 off the diagonal. If score j rises, what happens to weight i?",
            summary="you fill only the diagonal",
            hints=["If one score rises and the weights still sum to 1, what happens to the other weights?"],
        ),
        "left_out_own": Wording(
            "Your diagonal is 1 − p_i² instead of p_i − p_i², because you use δ_ij without its factor p_i. What is the "
            "first term of p_i δ_ij − p_i p_j on the diagonal?",
            summary="you leave out the factor p_i of δ_ij",
            hints=["For the weights 0.5 and 0.5, the first entry should be 0.25. What is yours?"],
        ),
        "slice_row: probabilities[:, None]": Wording(
            "You use p_i for both factors of p_i p_j, so every product in row i is p_i²: for the weights 0.8 and 0.2, "
            "row 0 holds 0.64 and 0.64 instead of 0.64 and 0.16. Which index should the second factor have?",
            summary="you multiply each weight only by itself",
            hints=["Which index stays the same along a row of the matrix, and which one changes?"],
        ),
        "call_left_out_delta: probabilities": Wording(
            "You pass the weights themselves to `torch.eye`, which expects the number of rows, so your code crashes. "
            "How many rows should the matrix have?",
            summary="you pass the weights to `torch.eye` instead of their number",
            hints=["What is `torch.eye(3)`?"],
        ),
    },
    mistakes=MISTAKES,
)
