"""What goes wrong in one step of attention in Luong's order."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.luong_step.answer import STEPS

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
        does="the products are not added up to one score for each state",
        says=(
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
        does="the context does not depend on the decoder's state",
        says=(
            "The context is the same whatever the decoder's state is: the sum or the mean of the states, or one of "
            "them. The state should ask. Look at where the weights come from; along an axis of length 1, a softmax "
            "gives 1."
        ),
        hints=["How should the context change when `state` changes?"],
    ),
    Mistake(
        "asks_with_the_last_state",
        STEPS.but(row=lambda states: states[:, -1:]),
        does="a state of the encoder asks, not the decoder's",
        says=(
            "The scores compare the encoder's states with each other. It is the decoder's state, `state`, that asks. "
            "Look at what the states are multiplied by."
        ),
        hints=["How should the scores change when `state` changes? Do they?"],
    ),
    Mistake(
        "every_text_asks_every_other",
        STEPS.but(scores=lambda state, states: states @ state.T),
        STEPS.but(row=lambda state: state),
        does="the state of one text meets the states of other texts",
        says=(
            "The decoder's state of a text meets the states of *every* text of the batch, or of the wrong one. Text i "
            "should ask its own states only. Look at how `state` meets `states`."
        ),
        hints=["With 2 texts, 5 states and width 3, the scores should have the shape (2, 5). Which have they?"],
    ),
    Mistake(
        "divided_by_the_root_of_the_width",
        STEPS.but(row=lambda row: row / row.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
        does="the scores are divided by a number that grows with the sizes",
        says=(
            "The scores are divided by a number that grows with the width, or with the number of states. That can "
            "work as attention too (it is the subject of lesson 02), but it is not what was asked for."
        ),
        hints=["Compare with the formula: the score is a plain dot product."],
    ),
]
