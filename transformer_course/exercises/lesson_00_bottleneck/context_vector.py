"""Mix the encoder's states for one step of the decoder."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Mix the n states of each text, each as much as its weight says."""
    weighted = weights[:, :, None] * states  # (batch, n, 1) times (batch, n, d)
    return weighted.sum(dim=1)


def column(weights):
    """give the weights a third axis of length 1 → the weights, each ready to meet a whole state"""
    return weights[:, :, None]


def weighted(column, states):
    """multiply each state by its weight → the weighted states, (batch, n, d)"""
    return column * states


def axis():
    """choose the axis of the states → the axis of the sum"""
    return 1


def total(weighted, axis):
    """add the weighted states up → the sum of each text's weighted states"""
    return weighted.sum(dim=axis)


def context(total):
    """return one vector for each text → the contexts, (batch, d)"""
    return total


STEPS = InSteps(column, weighted, axis, total, context, reference=context_vector)


def context_vector_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, d: int, shows: str) -> Case:
        weights = torch.softmax(2 * normal(rng, batch, n), dim=-1)
        return Case({"weights": weights, "states": normal(rng, batch, n, d)}, shows)

    # Can be done in the head: the context is (6, 2, 4), and then 3 and 6.
    readable = {"weights": torch.tensor([[0.75, 0.25]]), "states": torch.tensor([[[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]]])}
    two_texts = {
        "weights": torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]),
        "states": torch.tensor([[[2.0], [4.0], [1.0]], [[6.0], [8.0], [-3.0]]]),
    }
    return [
        Case(readable, "one text, 2 states of width 3, weights of 0.75 and 0.25"),
        Case(two_texts, "2 texts, 3 states of width 1, some weights of 0"),
        case(1, 3, 3, "one text, 3 states of width 3"),
        case(3, 1, 4, "3 texts with a single state each: it comes back"),
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
        summary="the weights of every text meet the states of *every* text of the batch",
        message=(
            "{summary}, as they do in a product of the whole table of weights with each text's states. Text i should "
            "mix its own states only. Look at the axis of the batch."
        ),
        hints=["With 2 texts whose states are all 0 in the second: what should come out for the second text?"],
    ),
    Mistake(
        "texts_taken_for_states",
        STEPS.but(total=lambda weights, states: sum(w * h for w, h in zip(weights, states, strict=True))),
        summary="what is taken for one state is all the states of a *text*",
        message=(
            "The sum goes through the *texts*: they come first, so what it takes for one state is all the states of a "
            "text. That crashes, or, where the numbers happen to fit, adds the texts to each other."
        ),
        hints=["What shape has one `h` of `for h in states`, or one term of `sum(…)`?"],
    ),
    Mistake(
        "overwritten_in_the_loop",
        STEPS.but(total=lambda weighted: weighted[:, -1]),
        STEPS.but(total=lambda weighted: weighted[:, 0]),
        summary="only one of the weighted states arrives",
        message=(
            "Only one state arrives, weighted: the last, if each turn of a loop throws away what the one before it "
            "found, or the first, if a loop is left in its first turn."
        ),
        hints=["How many of the states does the result depend on?"],
    ),
    Mistake(
        "hard_pick",
        STEPS.but(weights=lambda weights: F.one_hot(weights.argmax(dim=1), weights.shape[1]).float()),
        summary="only the state with the largest weight is used",
        message=(
            "{summary}; all others are thrown away. And nothing can be learned that way about which state to choose. "
            "Every state should take part."
        ),
        hints=["With the weights 0.75 and 0.25, how much of the second state should be in the result?"],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(context=lambda context, weights: (context, weights)),
        STEPS.but(context=lambda context, weights: (weights, context)),
        summary="the weights are handed back beside the context",
        message="A pair comes out, the context and the weights. Only the context is asked for.",
    ),
]


EXERCISE = Exercise(
    reference=context_vector,
    steps=STEPS,
    distributions=("weights",),
    may_cut_gradients=True,
    cases=context_vector_cases,
    points=2,
    verified="Each text averages its own states with its own weights, and the result is as wide as one state, however "
    "many there were.",
    hints=[
        "Take a single text first: n weights, and n states of width d. Multiply each state by its weight and add them "
        "up. How would that look with a loop?",
        "Each weight belongs to a whole state. `weights[:, :, None]` has the shape (batch, n, 1): how does it "
        "broadcast against (batch, n, d)?",
        "The products have the shape (batch, n, d), the result has (batch, d). Along which axis must they be added?",
        "`(weights[:, :, None] * states).sum(dim=1)`.",
    ],
    messages={
        "number_axis: 2": (
            "The entries of each state are added to each other, so that no vector is left. The *states* "
            "should be added. Look at the axis of the sum."
        ),
        "left_out_column": (
            "Broadcasting lines the n weights up with the *width* of the states. That crashes, or, where the "
            "numbers happen to fit, weighs entries instead of states. Look at the two shapes."
        ),
    },
    mistakes=MISTAKES,
)
