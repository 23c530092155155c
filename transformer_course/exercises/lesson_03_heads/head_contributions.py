"""What each head adds to the output of a multi-head attention."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def head_contributions(
    heads: Float[Tensor, "batch n_heads n d_k"], w_o: Float[Tensor, "d_out d_merged"]
) -> Float[Tensor, "batch n_heads n d_out"]:
    """Return what each head adds to merge_heads(heads) @ w_o.T: the sum over the heads is all of it."""
    n_heads, d_k = heads.shape[1], heads.shape[3]
    per_head = w_o.T.reshape(n_heads, d_k, -1)  # head i meets columns i·d_k … (i + 1)·d_k − 1 of w_o
    return heads @ per_head


def columns(w_o):
    """transpose w_o → w_o, transposed: a row for each feature of the merged vector"""
    return w_o.T


def own(heads):
    """choose the rows of each head → the rows that belong to a head: i·d_k to (i + 1)·d_k − 1 for head i"""
    d_k = heads.shape[3]
    return lambda head: slice(head * d_k, (head + 1) * d_k)


def terms(heads, columns, own):
    """multiply each head by its own rows → what each head adds: the head times its own rows of w_o, transposed"""
    return torch.stack([heads[:, i] @ columns[own(i)] for i in range(heads.shape[1])], dim=1)


def scaled(terms):
    """take the products as they are → what each head adds, as it is"""
    return terms


def contributions(scaled):
    """keep one term for each head, behind the batch → the contributions: (batch, n_heads, n, d_out)"""
    return scaled


STEPS = InSteps(columns, own, terms, scaled, contributions, reference=head_contributions)


def head_contributions_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n_heads: int, n: int, d_k: int, d_out: int, shows: str) -> Case:
        return Case({"heads": normal(rng, batch, n_heads, n, d_k), "w_o": normal(rng, d_out, n_heads * d_k)}, shows)

    return [
        case(1, 2, 1, 1, 2, "2 heads of width 1, one position"),
        case(1, 1, 2, 3, 3, "one head: all of it"),
        case(1, 2, 1, 2, 4, "2 heads of width 2, one position"),
        case(2, 3, 5, 2, 6, "a batch of 2: 3 heads of width 2, 5 positions"),
        case(3, 4, 5, 2, 7, "a batch of 3: an output of another width than the heads together"),
        case(5, 8, 31, 11, 37, "a batch of 5: 8 heads of width 11, 31 positions"),
    ]


def merged(heads):
    return heads.transpose(1, 2).flatten(2)


MISTAKES = [
    Mistake(
        "every_other_column",
        STEPS.but(own=lambda heads: lambda head: slice(head, None, heads.shape[1])),
        summary="the features of the merged vector are dealt out in turn: head 0 gets 0, h, 2h and so on",
        message=(
            "The columns of w_o are dealt out in turn: head 0 gets columns 0, h, 2h … Each head owns d_k "
            "neighboring columns. Look at how the columns of one head are chosen."
        ),
        hints=["In the merged vector, where do the numbers of head 0 stand?"],
    ),
    Mistake(
        "the_whole_output",
        STEPS.but(terms=lambda heads, w_o: merged(heads) @ w_o.T),
        summary="the terms of all heads are added up",
        message="This is the output of all heads together. What each head adds is asked for: one more axis.",
        hints=["The shape asked for is (batch, n_heads, n, d_out). Which is it now?"],
    ),
    Mistake(
        "the_output_cut_into_heads",
        STEPS.but(terms=lambda heads, w_o: (merged(heads) @ w_o.T).unflatten(-1, (heads.shape[1], -1)).transpose(1, 2)),
        summary="the whole output is cut into as many pieces as there are heads",
        message=(
            "The whole output is computed and then cut into pieces. But every head adds to *every* feature of the "
            "output: w_o has mixed them already. Look at what is cut, and when."
        ),
        hints=["How wide is what one head adds? The shape asked for is (batch, n_heads, n, d_out)."],
    ),
    Mistake(
        "cut_before_it_is_turned",
        STEPS.but(terms=lambda heads, w_o: heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)),
        summary="w_o is cut into heads row by row, as if it had a row for each feature of the merged vector",
        message=(
            "w_o is cut into heads row by row, as if it had a row for each feature of the merged vector. It has a "
            "*column* for each, so every head gets numbers of other heads. Look at what comes before the cut."
        ),
        hints=["`w_o` has the shape (d_out, d_merged). Which of its numbers does head 0 get, and which should it get?"],
    ),
]


EXERCISE = Exercise(
    reference=head_contributions,
    steps=STEPS,
    cases=head_contributions_cases,
    points=2,
    verified="What the heads add, each through its own columns of w_o, adds up to the whole output.",
    hints=[
        "Take a single position. Its merged vector is (head 0, head 1, …), one after the other. Which columns of w_o "
        "are multiplied by the numbers of head 0?",
        "Had all heads but head i been set to 0, the output would be what head i adds. Only columns i·d_k to "
        "(i + 1)·d_k − 1 of w_o would then play a part.",
        "For head i: `heads[:, i] @ w_o[:, i * d_k : (i + 1) * d_k].T`. Stack these along axis 1.",
    ],
    messages={
        "product_terms: (heads[:, i]) @ (columns[own(i)]).mT": (
            "The columns of w_o that belong to a head meet it as they are. Look at which axes the product pairs."
        ),
        "number_terms: -1": (
            "The numbers are right, but another axis than that of the features comes last. Look at the order "
            "of the axes."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
