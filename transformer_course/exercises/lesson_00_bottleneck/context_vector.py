"""Average the encoder's states for one step of the decoder."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Return each text's weighted average of its n states."""
    weighted = weights[:, :, None] * states  # (batch, n, 1) times (batch, n, d)
    return weighted.sum(dim=1)


def column(weights):
    """add a third dimension to the weights → the weights with a third dimension, (batch, n, 1)"""
    return weights[:, :, None]


def weighted(column, states):
    """multiply each state by its weight → the weighted states, (batch, n, d)"""
    return column * states


def axis():
    """choose the dimension to sum over → the dimension to sum over: 1, the states"""
    return 1


def total(weighted, axis):
    """sum the weighted states → the sum of the weighted states"""
    return weighted.sum(dim=axis)


def context(total):
    """return one vector for each text → the context vectors, (batch, d)"""
    return total


STEPS = InSteps(column, weighted, axis, total, context, reference=context_vector)


def context_vector_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, d: int, shows: str) -> Case:
        weights = torch.softmax(2 * normal(rng, batch, n), dim=-1)
        return Case({"weights": weights, "states": normal(rng, batch, n, d)}, shows)

    # Easy to do by hand: the contexts are (6, 2, 4) in the first case, and (3) and (6) in the second.
    readable = {"weights": torch.tensor([[0.75, 0.25]]), "states": torch.tensor([[[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]]])}
    two_texts = {
        "weights": torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]),
        "states": torch.tensor([[[2.0], [4.0], [1.0]], [[6.0], [8.0], [-3.0]]]),
    }
    return [
        Case(readable, "one text, 2 states of width 3, weights of 0.75 and 0.25"),
        Case(two_texts, "2 texts, 3 states of width 1, some weights of 0"),
        case(1, 3, 3, "one text, 3 states of width 3"),
        case(3, 1, 4, "3 texts with a single state each: the context is that state"),
        case(3, 3, 3, "3 texts, 3 states each, width 3"),
        case(3, 5, 1, "3 texts, 5 states each, width 1"),
        case(4, 3, 4, "4 texts, 3 states each, width 4"),
        case(2, 5, 3, "2 texts, 5 states each, width 3"),
        case(7, 53, 31, "7 texts, 53 states each, width 31"),
    ]


MISTAKES = [
    Mistake(
        "every_text_with_every_other",
        STEPS.but(total=lambda weights, states: weights @ states),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=0)),
        summary="you apply the weights of every sequence to the states of every sequence",
        message=(
            "{summary}, as `weights @ states` does: with 2 sequences, that makes 4 averages instead of 2. Each "
            "sequence should average only its own states. Which dimension of `weights` and `states` is the batch?"
        ),
        hints=["Suppose that all the states of the second sequence are 0. What should its context be?"],
    ),
    Mistake(
        "texts_taken_for_states",
        STEPS.but(total=lambda weights, states: sum(w * h for w, h in zip(weights, states, strict=True))),
        summary="you sum over the sequences instead of the states",
        message=(
            "{summary}: a loop over `states` gives you one whole *sequence* of shape (n, d) at a time. Your code "
            "crashes, or mixes the sequences if n = d. Which dimension holds the states?"
        ),
        hints=["In `for h in states`, what shape does `h` have?"],
    ),
    Mistake(
        "overwritten_in_the_loop",
        STEPS.but(total=lambda weighted: weighted[:, -1]),
        summary="you keep only the last weighted state",
        message=(
            "{summary}: for the states [8] and [4] with weights 0.75 and 0.25, you get 1 instead of 7. If you use a "
            "loop, does each iteration add to the result or overwrite it?"
        ),
        hints=["How many states does your result depend on? How many should it depend on?"],
    ),
    Mistake(
        "returned_in_the_loop",
        STEPS.but(total=lambda weighted: weighted[:, 0]),
        summary="you keep only the first weighted state",
        message=(
            "{summary}: for the states [8] and [4] with weights 0.75 and 0.25, you get 6 instead of 7. If you use a "
            "loop, does it return during the first iteration?"
        ),
        hints=["How many states does your result depend on? How many should it depend on?"],
    ),
    Mistake(
        "not_squeezed",
        STEPS.but(context=lambda context: context[:, None]),
        STEPS.but(context=lambda context: context[:, :, None]),
        summary="you leave a dimension of length 1 in the output",
        message=(
            "{summary}, so it has three dimensions instead of two. For instance, multiplying (batch, 1, n) by (batch, "
            "n, d) gives (batch, 1, d). Which method removes a dimension of length 1?"
        ),
        hints=["For 2 sequences of width 3, what shape should the result have? What shape does yours have?"],
    ),
    Mistake(
        "hard_pick",
        STEPS.but(weights=lambda weights: F.one_hot(weights.argmax(dim=1), weights.shape[1]).float()),
        summary="you use only the state with the largest weight",
        message=(
            "{summary}: with the weights 0.75 and 0.25, you ignore the second state. No gradient reaches the weights, "
            "so the model can't learn where to attend. Every state should contribute in proportion to its weight."
        ),
        hints=["With the weights 0.75 and 0.25, how much of the second state should be in the context?"],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(context=lambda context, weights: (context, weights)),
        STEPS.but(context=lambda context, weights: (weights, context)),
        summary="you return the weights as well as the context",
        message="You return the context and the weights as a pair. Return only the context.",
        hints=["How many tensors does the annotation after `->` promise?"],
    ),
    Mistake(
        "reshaped_instead_of_transposed",
        STEPS.but(
            total=lambda weights, states: (states.reshape(len(states), states.shape[2], -1) * weights[:, None, :]).sum(
                dim=2
            )
        ),
        summary="you reshape the states instead of transposing them",
        message=(
            "{summary}. `reshape` and `view` keep the numbers in the same order, so each row mixes features of "
            "different states. Which method swaps two dimensions?"
        ),
        hints=[
            "In a new cell, compare `torch.arange(6).view(2, 3).reshape(3, 2)` with `torch.arange(6).view(2, 3).T`."
        ],
    ),
]


EXERCISE = Exercise(
    reference=context_vector,
    steps=STEPS,
    distributions=("weights",),
    may_cut_gradients=True,
    cases=context_vector_cases,
    points=2,
    verified=(
        "Each sequence averages its own states with its own weights, and the context is as wide as one state for any "
        "number of states."
    ),
    hints=[
        "Take a single sequence: n weights, and n states of width d. Multiply each state by its weight and add them "
        "up. How would you write that as a loop?",
        "Each weight multiplies a whole state. `weights[:, :, None]` has shape (batch, n, 1): how does it broadcast "
        "against (batch, n, d)?",
        "The products have shape (batch, n, d), and the context has shape (batch, d). Which dimension do you sum over?",
        "`(weights[:, :, None] * states).sum(dim=1)`.",
    ],
    messages={
        "sibling_total: weighted.mean(dim=axis)": Wording(
            "{summary}. The weights already sum to 1, so dividing by n makes your context n times too small. Which "
            "method adds up the weighted states without dividing?",
            summary="you take the mean of the weighted states instead of the sum",
            hints=[
                ("For the states [8] and [8] with weights 0.75 and 0.25, what should the context be? What do you get?")
            ],
        ),
        "axis_total: weighted.sum(dim=0)": Wording(
            "You sum over dim 0, the batch, so you add up different *sequences* and get one vector per state. You "
            "should get one vector per sequence. Which dimension holds the states?",
            summary="you sum over dim 0, the batch, instead of dim 1, the states",
            hints=["For 2 sequences of 5 states, how many vectors should you return? How many do you return?"],
        ),
        "function_weights: weights.softmax(dim=-1)": Wording(
            "{summary}: 0.75 and 0.25 become 0.62 and 0.38. What should you multiply each state by?",
            summary="you apply a softmax to `weights`, which already sum to 1",
            hints=["What do the weights of one sequence sum to before your softmax?"],
        ),
        "function_weights: weights ** 2": Wording(
            "{summary}: 0.75 and 0.25 count as 0.5625 and 0.0625. Do you multiply by the weights more than once?",
            summary="you multiply each state by the square of its weight",
            hints=["With weights of 0.75 and 0.25, which fraction of the first state should the context contain?"],
        ),
        "first_for_all_weights": Wording(
            "{summary}, so the other sequences average their states with the wrong weights. Which dimension of "
            "`weights` is the batch?",
            summary="you use the weights of the first sequence for every sequence",
            hints=["If only the weights of the second sequence change, should its context change?"],
        ),
        "one_number_states: states[0]": Wording(
            "{summary}, so the states of the other sequences have no effect on your output. Which dimension of "
            "`states` is the batch?",
            summary="you use the states of the first sequence for every sequence",
            hints=["If only the states of the second sequence change, should its context change?"],
        ),
        "slice_column": Wording(
            "You give the weights the shape (batch, 1, n), so broadcasting pairs the n weights with the d *entries* of "
            "a state. Your code crashes, or scales the wrong numbers if n = d. What shape should the weights have?",
            summary="you give the weights the shape (batch, 1, n) instead of (batch, n, 1)",
            hints=["How does shape (2, 1, 5) broadcast against (2, 5, 3)? Which sizes does it line up?"],
        ),
        "number_axis: 2": Wording(
            "You sum over dim 2, which adds up the entries of each state and leaves one number for each state. Each "
            "sequence's context should be a vector of width d. Which dimension holds the states?",
            summary="you sum over the entries of each state instead of over the states",
            hints=[
                "For 2 sequences of 5 states with width 3, what shape should the result have? What shape does yours "
                "have?"
            ],
        ),
        "left_out_column": Wording(
            "You multiply weights of shape (batch, n) by states of shape (batch, n, d), so broadcasting pairs the n "
            "weights with the d *entries* of a state. Your code crashes, or scales the wrong numbers if the sizes "
            "happen to match. What shape should the weights have?",
            summary="you multiply the states by the weights without adding a third dimension to the weights",
            hints=["How does shape (2, 5) broadcast against (2, 5, 3)? Which sizes does it line up?"],
        ),
    },
    mistakes=MISTAKES,
)
