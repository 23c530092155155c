"""One step of attention in the other order: the state after the step asks."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def luong_step(
    state: Float[Tensor, "batch d"], states: Float[Tensor, "batch n d"], w_c: Float[Tensor, "d_out d_both"]
) -> Float[Tensor, "batch d_out"]:
    """Score the states by dot products with the decoder's state, mix them, and combine: tanh(W_c [c; s])."""
    scores = (states * state[:, None, :]).sum(dim=-1)  # (batch, n)
    weights = torch.softmax(scores, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)  # (batch, d)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def row(state):
    """let the decoder's state meet every state of its text → the decoder's states, each as a row"""
    return state[:, None, :]


def products(row, states):
    """multiply the two entry by entry → the products, (batch, n, d)"""
    return states * row


def scores(products):
    """add up the products of each state → the scores, (batch, n)"""
    return products.sum(dim=-1)


def axis():
    """choose the axis of the states for the softmax → the axis along which the weights add up to 1"""
    return -1


def weights(scores, axis):
    """take the softmax of the scores → the weights, (batch, n)"""
    return torch.softmax(scores, dim=axis)


def weighted(weights, states):
    """multiply each state by its weight → the weighted states, (batch, n, d)"""
    return weights[:, :, None] * states


def context(weighted):
    """add the weighted states up → the contexts, (batch, d)"""
    return weighted.sum(dim=1)


def both(context, state):
    """put context and state side by side → [c; s], (batch, 2 d)"""
    return torch.cat([context, state], dim=-1)


def matrix(w_c):
    """transpose W_c → W_c with its outputs as columns"""
    return w_c.T


def combined(both, matrix):
    """multiply by it → W_c [c; s], (batch, d_out)"""
    return both @ matrix


def squashed(combined):
    """take the tanh → tanh(W_c [c; s])"""
    return torch.tanh(combined)


def output(squashed):
    """return one vector for each text → the output vectors, (batch, d_out)"""
    return squashed


STEPS = InSteps(
    row,
    products,
    scores,
    axis,
    weights,
    weighted,
    context,
    both,
    matrix,
    combined,
    squashed,
    output,
    reference=luong_step,
)


def luong_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, d: int, d_out: int, shows: str) -> Case:
        inputs = {
            "state": normal(rng, batch, d),
            "states": normal(rng, batch, n, d),
            "w_c": normal(rng, d_out, 2 * d) / (2 * d) ** 0.5,
        }
        return Case(inputs, shows)

    def far(size: float, shows: str) -> Case:
        """Scores near ``size``, not far from each other: the first entries alone are large."""
        inputs = dict(case(2, 3, 2, 4, shows).inputs)
        inputs["state"][:, 0] = 2 * size
        inputs["states"][:, :, 0] = 0.5
        inputs["w_c"][:, 2] /= size
        return Case(inputs, shows)

    # Can be done in the head: both scores are 0, the context is (0, 3), and the result tanh(0.5 · 3 − 1) = tanh(0.5).
    readable = {
        "state": torch.tensor([[1.0, 0.0]]),
        "states": torch.tensor([[[0.0, 2.0], [0.0, 4.0]]]),
        "w_c": torch.tensor([[0.25, 0.5, -1.0, 2.0]]),
    }
    no_question = {**case(2, 3, 2, 4, "").inputs, "state": torch.zeros(2, 2)}
    return [
        Case(readable, "one text, 2 states that match equally well"),
        case(1, 1, 2, 2, "one text with a single state: the context is that state"),
        case(1, 3, 2, 4, "one text, 3 states of width 2, w_c of shape (4, 4)"),
        Case(no_question, "a decoder's state of zeros: every state matches equally well"),
        case(3, 3, 3, 6, "3 texts, 3 states of width 3, w_c of shape (6, 6)"),
        case(2, 5, 3, 4, "2 texts, 5 states of width 3, w_c of shape (4, 6)"),
        far(100, "scores near 100"),
        far(-100, "scores near -100"),
        case(7, 31, 5, 23, "7 texts, 31 states of width 5, w_c of shape (23, 10)"),
    ]


MISTAKES = [
    Mistake(
        "scored_entry_by_entry",
        STEPS.but(
            weights=lambda products: torch.softmax(products, dim=1),
            weighted=lambda weights, states: weights * states,
        ),
        STEPS.but(
            weights=lambda products: torch.softmax(products, dim=-1),
            weighted=lambda weights, states: weights * states,
        ),
        summary="the products are not added up to one score for each state",
        message=(
            "Every entry of a state gets a weight of its own: the products have not been added up to one score per "
            "state. Look at the shape of the scores."
        ),
        hints=["How many scores should there be for a text of n states?"],
    ),
    Mistake(
        "every_state_counts_the_same",
        STEPS.but(weights=lambda weights: torch.full_like(weights, 1 / weights.shape[1])),
        STEPS.but(weights=lambda weights: torch.ones_like(weights)),
        STEPS.but(context=lambda states: states[:, -1]),
        summary="the context does not depend on the decoder's state",
        message=(
            "The context is the same whatever the decoder's state is: the sum or the mean of the states, or one of "
            "them. The state should ask. Look at where the weights come from; along an axis of length 1, a softmax "
            "gives 1."
        ),
        hints=["How should the context change when `state` changes?"],
    ),
    Mistake(
        "asks_with_the_last_state",
        STEPS.but(row=lambda states: states[:, -1:]),
        summary="a state of the encoder asks, not the decoder's",
        message=(
            "The scores compare the encoder's states with each other. It is the decoder's state, `state`, that asks. "
            "Look at what the states are multiplied by."
        ),
        hints=["How should the scores change when `state` changes? Do they?"],
    ),
    Mistake(
        "every_text_asks_every_other",
        STEPS.but(scores=lambda state, states: states @ state.T),
        STEPS.but(row=lambda state: state),
        summary="the state of one text meets the states of other texts",
        message=(
            "The decoder's state of a text meets the states of *every* text of the batch, or of the wrong one. Text i "
            "should ask its own states only. Look at how `state` meets `states`."
        ),
        hints=["With 2 texts, 5 states and width 3, the scores should have the shape (2, 5). Which have they?"],
    ),
    Mistake(
        "divided_by_the_root_of_the_width",
        STEPS.but(row=lambda row: row / row.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
        summary="the scores are divided by a number that grows with the sizes",
        message=(
            "The scores are divided by a number that grows with the width, or with the number of states. That can "
            "work as attention too (it is the subject of lesson 02), but it is not what was asked for."
        ),
        hints=["Compare with the formula: the score is a plain dot product."],
    ),
]


EXERCISE = Exercise(
    reference=luong_step,
    steps=STEPS,
    may_cut_gradients=True,
    cases=luong_step_cases,
    points=2,
    verified="The state after the step scores, and is combined with the context afterwards.",
    hints=[
        "Five steps: scores, weights, context, put side by side, tanh of the product with W_c. Only the first and the "
        "last two are new.",
        "A dot product is: multiply entry by entry, and add. `state[:, None, :]` has the shape (batch, 1, d), and "
        "meets every state of its text.",
        "The scores have the shape (batch, n), and each row of them becomes weights by `torch.softmax(scores, "
        "dim=-1)`. Then `parts.context_vector`.",
        "`torch.cat([context, state], dim=-1)` puts them side by side, the context first. `w_c` has the shape (d_out, "
        "2 d), so the product is with `w_c.T`.",
    ],
    messages={
        "call_left_out_weights": (
            "The states are averaged with raw scores: nothing makes them positive or lets them add up to 1. A "
            "step is missing between scoring and averaging."
        ),
        "no_softmax_weights: (scores).flatten(-2).softmax(dim=-1).reshape((scores).shape)": (
            "The weights of all texts together add up to 1. For each text, the weights of its states should "
            "add up to 1. Look at what the softmax runs over."
        ),
        "no_softmax_weights: (scores).exp() / (scores).exp().sum(dim=-1, keepdim=True)": (
            "Right for ordinary scores. At 100 `exp` overflows to infinity, and at -100 every `exp` is 0 or "
            "nearly so: the division goes wrong. torch's own softmax survives such scores."
        ),
        "call_left_out_scores": (
            "The scores have three axes instead of two, and all are still there when the states are mixed. "
            "That crashes. Look at the shape of the weights."
        ),
        "axis_scores: products.sum(dim=1)": (
            "The products are added up over the states, so that there is a score for each entry of the width, "
            "and none for a state. That crashes, or, where the numbers happen to fit, weighs the wrong "
            "things. Look at the axis of the sum."
        ),
        "moved_combined: squashed": (
            "The tanh is taken of context and state, before the product with W_c. Look at the order: what is "
            "inside the tanh?"
        ),
        "not_transposed_matrix": (
            "The product meets the wrong axis of W_c: it stands with (outputs, inputs). That crashes, or, "
            "where it is square, gives other numbers. Look at the shapes on both sides of the product."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
