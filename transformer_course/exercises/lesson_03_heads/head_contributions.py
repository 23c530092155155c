"""The contribution of each head to the output of multi-head attention."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def head_contributions(
    heads: Float[Tensor, "batch n_heads n d_k"], w_o: Float[Tensor, "d_out d_merged"]
) -> Float[Tensor, "batch n_heads n d_out"]:
    """Return each head's contribution to merge_heads(heads) @ w_o.T; the contributions sum to that product."""
    n_heads, d_k = heads.shape[1], heads.shape[3]
    per_head = w_o.T.reshape(n_heads, d_k, -1)  # head i uses columns i·d_k … (i + 1)·d_k − 1 of w_o
    return heads @ per_head


def columns(w_o):
    """transpose w_o → w_oᵀ: one row per feature of the merged heads"""
    return w_o.T


def own(heads):
    """select each head's rows → each head's rows: i·d_k to (i + 1)·d_k − 1 for head i"""
    d_k = heads.shape[3]
    return lambda head: slice(head * d_k, (head + 1) * d_k)


def terms(heads, columns, own):
    """multiply each head by its own rows of w_oᵀ → the product of each head and its rows of w_oᵀ → the products"""
    return torch.stack([heads[:, i] @ columns[own(i)] for i in range(heads.shape[1])], dim=1)


def scaled(terms):
    """leave the products unscaled → the unscaled products"""
    return terms


def contributions(scaled):
    """return one contribution for each head → the contributions: (batch, n_heads, n, d_out)"""
    return scaled


STEPS = InSteps(columns, own, terms, scaled, contributions, reference=head_contributions)


def head_contributions_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n_heads: int, n: int, d_k: int, d_out: int, shows: str) -> Case:
        return Case({"heads": normal(rng, batch, n_heads, n, d_k), "w_o": normal(rng, d_out, n_heads * d_k)}, shows)

    return [
        case(1, 2, 1, 1, 2, "2 heads of width 1, one position"),
        case(1, 1, 2, 3, 3, "one head: its contribution is the whole output"),
        case(1, 2, 1, 2, 4, "2 heads of width 2, one position"),
        case(2, 3, 5, 2, 6, "a batch of 2: 3 heads of width 2, 5 positions"),
        case(3, 4, 5, 2, 7, "a batch of 3: d_out differs from the width of all heads"),
        case(5, 8, 31, 11, 37, "a batch of 5: 8 heads of width 11, 31 positions"),
    ]


def merged(heads):
    return heads.transpose(1, 2).flatten(2)


MISTAKES = [
    Mistake(
        "every_other_column",
        STEPS.but(own=lambda heads: lambda head: slice(head, None, heads.shape[1])),
        summary="you give each head every `n_heads`-th column of w_o",
        message=(
            "{summary}: with 2 heads, head 0 gets columns 0, 2, 4 … Each head should get d_k consecutive columns. At "
            "which column does the slice of head i begin?"
        ),
        hints=["In the merged vector, where are the features of head 0?"],
    ),
    Mistake(
        "first_columns_for_every_head",
        STEPS.but(own=lambda heads: lambda head: slice(0, heads.shape[3])),
        summary="you give every head the first d_k columns of w_o",
        message=(
            "{summary}, so all the other heads use the weights of head 0. Head i has its own d_k columns. At which "
            "column does the slice of head i begin?"
        ),
        hints=["In the merged vector, where are the features of head 1?"],
    ),
    Mistake(
        "averaged_over_the_heads",
        STEPS.but(scaled=lambda scaled, heads: scaled / heads.shape[1]),
        summary="you divide each contribution by the number of heads",
        message=(
            "{summary}, so your contributions add up to only 1/n_heads of the output. They should add up to the output "
            "itself. Which operation should you leave out?"
        ),
        hints=["What should the contributions of all heads add up to? What do yours add up to?"],
    ),
    Mistake(
        "the_whole_output",
        STEPS.but(terms=lambda heads, w_o: merged(heads) @ w_o.T),
        summary="you add up the contributions of all heads",
        message=(
            "You return the output of all the heads together, in shape (batch, n, d_out). Return each head's "
            "contribution separately, in shape (batch, n_heads, n, d_out). Where do you add the contributions up?"
        ),
        hints=["Which dimension is missing from your result?"],
    ),
    Mistake(
        "the_output_cut_into_heads",
        STEPS.but(terms=lambda heads, w_o: (merged(heads) @ w_o.T).unflatten(-1, (heads.shape[1], -1)).transpose(1, 2)),
        summary="you split the whole output into one piece for each head",
        message=(
            "{summary}, but w_o has already mixed the heads: every head adds to *every* feature of the output. What "
            "should you split before you multiply by w_o?"
        ),
        hints=["How wide is the contribution of one head: d_k or d_out?"],
    ),
    Mistake(
        "cut_before_it_is_turned",
        STEPS.but(terms=lambda heads, w_o: heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)),
        summary="you split w_o into heads along its rows",
        message=(
            "{summary}, as if w_o had a row for each feature of the merged heads. It has a *column* for each of these "
            "features, so your heads get the weights of other heads. What should you do to w_o before you split it?"
        ),
        hints=["`w_o` has shape (d_out, d_merged). Which of its numbers should head 0 get?"],
    ),
]


EXERCISE = Exercise(
    reference=head_contributions,
    steps=STEPS,
    cases=head_contributions_cases,
    points=2,
    verified="The contributions of the heads, each through its own columns of w_o, add up to the whole output.",
    hints=[
        "Take a single position. Its merged vector is (head 0, head 1, …), one after the other. Which columns of w_o "
        "multiply the features of head 0?",
        "If all heads but head i were 0, the output would be the contribution of head i, and only columns i·d_k to "
        "(i + 1)·d_k − 1 of w_o would matter.",
        "For head i: `heads[:, i] @ w_o[:, i * d_k : (i + 1) * d_k].T`. Stack these along dim 1.",
    ],
    messages={
        "not_transposed_columns": Wording(
            "{summary}. The *columns* of w_o correspond to the features of the merged heads, and its rows to the "
            "outputs. Which columns should you slice for head i?",
            summary="you take d_k rows of w_o for each head instead of d_k columns",
            hints=["`w_o` has shape (d_out, d_merged). Which of its numbers should head 0 get?"],
        ),
        "product_terms: (heads[:, i]) @ (columns[own(i)]).mT": Wording(
            "You multiply a head by its columns of w_o without transposing them: (n, d_k) @ (d_out, d_k). Your code "
            "crashes, or gives wrong numbers if d_out = d_k. Which dimension should the product sum over?",
            summary="you don't transpose a head's columns of w_o",
            hints=["In (n, d_k) @ (d_out, d_k), which sizes would have to be equal?"],
        ),
        "axis_terms: torch.stack([heads[:, i] @ columns[own(i)] for i in range(heads.shape[1])], dim=0)": Wording(
            "{summary}, so your output has shape (n_heads, batch, n, d_out). Which `dim` puts the heads right after "
            "the batch?",
            summary="you stack the heads along dim 0 instead of dim 1",
            hints=["For a batch of 3 and 2 heads, what should the first two sizes of the output be? What are yours?"],
        ),
        "number_terms: -1": Wording(
            "Your numbers are right, but you put the head dimension last, so your output has shape (batch, n, d_out, "
            "n_heads). Which `dim` puts the heads right after the batch?",
            summary="you put the head dimension last instead of after the batch",
            hints=["What shape do you return? Which of its dimensions holds the heads?"],
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
