"""What goes wrong in a context vector before anything is added: which weight meets which state."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS


def one_hot(weights, places):
    """Return 1 at one position of each row, and 0 elsewhere."""
    return torch.zeros_like(weights).scatter(1, places, 1.0)


MISTAKES = [
    Mistake(
        "every_text_with_every_other",
        STEPS.but(total=lambda weights, states: weights @ states),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=1)),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=0)),
        STEPS.but(total=lambda weights, states: torch.tensordot(weights, states, dims=([1], [1]))),
        does="the weights of every text meet the states of *every* text of the batch",
        says=(
            "{does}, as they do in a product of the whole table of weights with each text's states. Text i should mix "
            "its own states only. Look at the axis of the batch."
        ),
        hints=["With 2 texts whose states are all 0 in the second: what should come out for the second text?"],
    ),
    Mistake(
        "weights_transposed",
        STEPS.but(total=lambda weights, states: weights.T @ states),
        STEPS.but(weighted=lambda weights, states: weights.T[:, :, None] * states),
        does="the table of weights is transposed, so that the texts stand where the states should",
        says=(
            "The weights are transposed: the texts stand where the states should. That crashes, or, where the numbers "
            "happen to fit, mixes states by the weights of several texts. Look at what each axis of the weights means."
        ),
        hints=["weights have the shape (batch, n). Which shape has `weights.T`?"],
    ),
    Mistake(
        "weights_of_the_first_text",
        STEPS.but(weights=lambda weights: weights[:1]),
        STEPS.but(weights=lambda weights: weights[-1:]),
        STEPS.but(weights=lambda weights: weights.mean(dim=0, keepdim=True)),
        does="all the texts of a batch share one row of weights",
        says=(
            "Right for one text; in a batch, the same weights are used for all the texts: those of one of them, or "
            "the average. Each text has weights of its own."
        ),
        hints=["Which weights does the second text of a batch get?"],
    ),
    Mistake(
        "states_of_the_first_text",
        STEPS.but(states=lambda states: states[:1]),
        STEPS.but(states=lambda states: states[-1:]),
        STEPS.but(states=lambda states: states.mean(dim=0, keepdim=True)),
        does="all the texts of a batch mix the same states",
        says=(
            "Right for one text; in a batch, all the texts mix the same states: those of one of them, or the average. "
            "Look at whose states each text mixes."
        ),
        hints=["Which states does the second text of a batch mix?"],
    ),
    Mistake(
        "states_on_the_left",
        STEPS.but(total=lambda weights, states: states @ weights),
        STEPS.but(total=lambda weights, states: (states @ weights[:, :, None]).squeeze(-1)),
        STEPS.but(total=lambda weights, states: states @ weights.T),
        STEPS.but(total=lambda weights, states: (weights[:, None] @ states.mT).squeeze(1)),
        does="a matrix product pairs the *width* of the states with the weights",
        says=(
            "The product pairs the *width* of the states with the weights. That crashes, or, where the numbers happen "
            "to fit, mixes the entries of each state instead of the states. Look at the order of the product."
        ),
        hints=["In `a @ b`, the last axis of a meets the second-to-last of b. Which two are these here?"],
    ),
    Mistake(
        "texts_taken_for_states",
        STEPS.but(total=lambda weights, states: sum(w * h for w, h in zip(weights, states, strict=True))),
        STEPS.but(total=lambda weights, states: sum(weights * states)),
        does="what is taken for one state is all the states of a *text*",
        says=(
            "The sum goes through the *texts*: they come first, so what it takes for one state is all the states of a "
            "text. That crashes, or, where the numbers happen to fit, adds the texts to each other."
        ),
        hints=["What shape has one `h` of `for h in states`, or one term of `sum(…)`?"],
    ),
    Mistake(
        "reshapes_the_states",
        STEPS.but(
            total=lambda column, states: (
                states.reshape(states.shape[0], states.shape[2], states.shape[1]) @ column
            ).squeeze(-1)
        ),
        does="the numbers of the states are read in their old order along exchanged axes",
        says=(
            "The shape is right, but the numbers are not: `reshape` and `view` only break the same sequence of "
            "numbers into other rows, so each row mixes entries of several states."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`."],
    ),
    Mistake(
        "hard_pick",
        STEPS.but(weights=lambda weights: one_hot(weights, weights.argmax(dim=1, keepdim=True))),
        STEPS.but(weights=lambda weights: weights * one_hot(weights, weights.argmax(dim=1, keepdim=True))),
        does="only the state with the largest weight is used",
        says=(
            "{does}; all others are thrown away. And nothing can be learned that way about which state to choose. "
            "Every state should take part."
        ),
        hints=["With the weights 0.75 and 0.25, how much of the second state should be in the result?"],
    ),
    Mistake(
        "last_state_only",
        STEPS.but(total=lambda states: states[:, -1]),
        STEPS.but(total=lambda states: states[:, 0]),
        does="one state alone is handed on, unweighted, whatever the weights are",
        says=(
            "This is a single state, whatever the weights are: the one vector that the decoder had before there was "
            "attention, if it is the last one. All the states should take part."
        ),
        hints=["What becomes of the result if the weights change? What should?"],
    ),
]
