"""Split vectors into heads."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import split_heads


def d_k(x, n_heads):
    """divide d_model by the number of heads → the width of a head: d_model divided by n_heads"""
    return x.shape[2] // n_heads


def sizes(n_heads, d_k):
    """put n_heads before d_k → the two new sizes: n_heads and d_k"""
    return n_heads, d_k


def cut(x, sizes):
    """split the last dimension into heads and features → the split features: (batch, n, n_heads, d_k)"""
    return x.reshape(*x.shape[:2], *sizes)


def heads(cut):
    """swap positions and heads → the heads: (batch, n_heads, n, d_k)"""
    return cut.transpose(1, 2)


STEPS = InSteps(d_k, sizes, cut, heads, reference=split_heads)


def split_heads_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens digit is the position and the units digit is the feature, so moved entries are easy to see.
    readable = torch.tensor([[[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0]]])
    return [
        Case({"x": readable, "n_heads": 2}, "2 positions of 4 features, 2 heads"),
        Case({"x": normal(rng, 1, 3, 4), "n_heads": 1}, "one head: nothing to split"),
        Case({"x": normal(rng, 2, 1, 6), "n_heads": 2}, "a batch of 2: one position of 6 features, 2 heads"),
        Case({"x": normal(rng, 2, 5, 12), "n_heads": 3}, "a batch of 2: 5 positions of 12 features, 3 heads"),
        Case({"x": normal(rng, 7, 31, 88), "n_heads": 8}, "a batch of 7: 31 positions of 88 features, 8 heads"),
    ]


MISTAKES = [
    Mistake(
        "splits_by_view",
        STEPS.but(heads=lambda x, sizes: x.reshape(len(x), sizes[0], x.shape[1], sizes[1])),
        summary="you give each head some of the positions instead of some of the features",
        message=(
            "Your shape is right, but each head gets some of the positions instead of some of the features: head 0 "
            "holds all the features of the first positions. Which dimension of x should you split in two, and which "
            "two dimensions should you then swap?"
        ),
        hints=[
            "In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second. What does "
            "yours hold?"
        ],
    ),
    Mistake(
        "heads_interleaved",
        STEPS.but(cut=lambda x, n_heads, d_k: x.reshape(*x.shape[:2], d_k, n_heads).mT),
        summary="you give each head every `n_heads`-th feature",
        message=(
            "{summary}: with 4 features and 2 heads, head 0 gets features 0 and 2 instead of 0 and 1. Weights trained "
            "with one layout don't work with the other. Which columns of x should head h contain?"
        ),
        hints=["In `x.view(batch, n, a, b)`, do neighboring features share their index in `a` or in `b`?"],
    ),
    Mistake(
        "heads_before_the_batch",
        STEPS.but(heads=lambda cut: cut.permute(2, 0, 1, 3)),
        summary="you put the head dimension before the batch",
        message=(
            "{summary}: for a batch of 3 and 2 heads, your shape begins with (2, 3) instead of (3, 2). Here, as in "
            "PyTorch's attention, the order is (batch, n_heads, n, d_k)."
        ),
        hints=["Your output has shape (n_heads, batch, n, d_k). Which two dimensions should swap places?"],
    ),
    Mistake(
        "batch_and_heads_in_one_dimension",
        STEPS.but(heads=lambda cut: cut.transpose(1, 2).flatten(0, 1)),
        summary="you flatten batch and heads into one dimension",
        message=(
            "{summary}, as *Dive into Deep Learning* does for `bmm`. Here, they should stay separate, in shape (batch, "
            "n_heads, n, d_k), because `@` works with any leading dimensions. Which call flattens them?"
        ),
        hints=["For a batch of 3 and 2 heads, what should the first two sizes of the output be? What are yours?"],
    ),
]


EXERCISE = Exercise(
    reference=split_heads,
    steps=STEPS,
    cases=split_heads_cases,
    points=2,
    verified="Head i holds features i·d_k to (i + 1)·d_k − 1 of every position.",
    hints=[
        "Take 2 positions of 4 features, and 2 heads. Which numbers should head 0 hold, and what shape should the "
        "result have?",
        "First split the last dimension, d_model, into n_heads pieces of d_model / n_heads features. `view` and "
        "`reshape` can do that: (batch, n, d_model) becomes (batch, n, n_heads, d_k). Which two dimensions do you have "
        "to swap next?",
        "`x.view(batch, n, n_heads, d_model // n_heads)`, then swap dims 1 and 2 with `.transpose(1, 2)`.",
    ],
    messages={
        "transposed_heads": Wording(
            "{summary}, in shape (batch, n_heads, d_k, n). Each *row* of a head should hold the features of one "
            "position, in shape (batch, n_heads, n, d_k). Which two dimensions should you swap?",
            summary="you put the positions after the features of each head",
            hints=[
                "For x of shape (2, 5, 12) and 3 heads, what shape should the result have? What shape does yours have?"
            ],
        ),
        "other_axes_heads: cut.transpose(-2, -1)": Wording(
            "You return shape (batch, n, d_k, n_heads), with the head dimension last. It should come right after the "
            "batch. Which two dimensions should you swap?",
            summary="you put the head dimension after the position dimension instead of before it",
            hints=[
                "For x of shape (2, 5, 12) and 3 heads, what shape should the result have? What shape does yours have?"
            ],
        ),
        "parts_exchanged_sizes": Wording(
            "You split the features into (d_k, n_heads) instead of (n_heads, d_k): with 12 features and 3 heads, you "
            "get 4 heads of width 3 instead of 3 heads of width 4. Which new dimension should come first?",
            summary="you split the features into (d_k, n_heads) instead of (n_heads, d_k)",
            hints=["In `x.view(batch, n, a, b)`, is `a` the number of heads or the width of a head?"],
        ),
    },
    mistakes=MISTAKES,
)
