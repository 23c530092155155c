"""What goes wrong in one step of attention in Luong's order, up to the context."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.luong_step.answer import STEPS
from transformer_course.exercises.shared.single_query_mistakes import of_the_sum, of_the_weights

MISTAKES = [
    Mistake(
        "no_softmax",
        STEPS.but(weights=lambda scores: scores),
        does="the states are averaged with raw scores, without a softmax",
        says=(
            "The states are averaged with raw scores: nothing makes them positive or lets them add up to 1. A step is "
            "missing between scoring and averaging."
        ),
        hints=["With a single state, the context should be that state. Is it?"],
    ),
    Mistake(
        "softmax_over_the_texts",
        STEPS.but(axis=lambda: 0),
        does="the softmax runs over the texts of the batch",
    ),
    Mistake(
        "softmax_over_everything",
        STEPS.but(weights=lambda scores: torch.softmax(scores.flatten(), dim=0).view_as(scores)),
        does="the softmax runs over all texts and states together",
        says=(
            "The weights of all texts together add up to 1. For each text, the weights of its states should add up to "
            "1. Look at what the softmax runs over."
        ),
        hints=["What do the weights of one text add up to?"],
    ),
    Mistake(
        "softmax_over_one",
        STEPS.but(weights=lambda scores: torch.ones_like(scores)),
        does="every weight is 1",
    ),
    Mistake(
        "overflows",
        STEPS.but(weights=lambda scores: torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)),
        does="the exponentials overflow where scores are large",
        says=(
            "Right for ordinary scores. At 100 `exp` overflows to infinity, and at -100 every `exp` is 0 or nearly "
            "so: the division goes wrong. torch's own softmax survives such scores."
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`?"],
    ),
    Mistake(
        "another_function_of_the_scores",
        STEPS.but(weights=lambda scores: torch.sigmoid(scores)),
        STEPS.but(weights=lambda scores: scores / scores.sum(dim=-1, keepdim=True)),
        STEPS.but(weights=lambda scores: torch.tanh(scores)),
        does="another function than a softmax makes weights of the scores",
        says=(
            "The scores become weights by something else than a softmax (a sigmoid, a `tanh`, a division by the sum). "
            "Look at that step."
        ),
        hints=["Print the weights. Are all positive, and do those of each text add up to 1?"],
    ),
    *of_the_weights(
        STEPS,
        "The worse a state matches, the more it counts",
        "With a single state, the context should be that state.",
        "`torch.softmax(scores, dim=-1)`",
    ),
    Mistake(
        "hard_pick",
        STEPS.but(weights=lambda scores: torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1]).float()),
        does="only the state with the largest score is used",
        says="{does}; all others are thrown away. Every state should take part.",
        hints=["What is the context if two states match equally well?"],
    ),
    Mistake(
        "scores_with_an_axis_left",
        STEPS.but(scores=lambda state, states: states @ state[:, :, None], axis=lambda: 1),
        STEPS.but(scores=lambda state, states: state[:, None] @ states.mT),
        does="the scores keep three axes instead of two",
        says=(
            "The scores have three axes instead of two, and all are still there when the states are mixed. That "
            "crashes. Look at the shape of the weights."
        ),
        hints=["A weighted average needs weights of the shape (batch, n). Which have they?"],
    ),
    Mistake(
        "added_up_over_the_states",
        STEPS.but(scores=lambda products: products.sum(dim=1)),
        does="the products are added up over the states, not over the width",
        says=(
            "The products are added up over the states, so that there is a score for each entry of the width, and "
            "none for a state. That crashes, or, where the numbers happen to fit, weighs the wrong things. Look at "
            "the axis of the sum."
        ),
        hints=[
            "`state[:, None, :] * states` has the shape (batch, n, d). Which of the three should a dot product use up?"
        ],
    ),
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
        STEPS.but(context=lambda states: states[:, -1]),
        STEPS.but(context=lambda states: states[:, 0]),
        does="the context does not depend on the decoder's state",
        says=(
            "The context is the same whatever the decoder's state is: the mean of the states, or one of them. The "
            "state should ask. Look at where the weights come from."
        ),
        hints=["How should the context change when `state` changes?"],
    ),
    Mistake(
        "asks_with_the_last_state",
        STEPS.but(row=lambda states: states[:, -1:]),
        STEPS.but(row=lambda states: states.mean(dim=1, keepdim=True)),
        does="a state of the encoder asks, not the decoder's",
        says=(
            "The scores compare the encoder's states with each other. It is the decoder's state, `state`, that asks. "
            "Look at what the states are multiplied by."
        ),
        hints=["How should the scores change when `state` changes? Do they?"],
    ),
    Mistake(
        "every_text_asks_every_other",
        STEPS.but(weights=lambda state, states: torch.softmax(states @ state.T, dim=1).mean(dim=-1)),
        STEPS.but(scores=lambda state, states: states @ state.T),
        STEPS.but(row=lambda state: state),
        STEPS.but(scores=lambda state, states: states @ state),
        does="the state of one text meets the states of other texts",
        says=(
            "The decoder's state of a text meets the states of *every* text of the batch, or of the wrong one. Text i "
            "should ask its own states only. Look at how `state` meets `states`."
        ),
        hints=["With 2 texts, 5 states and width 3, the scores should have the shape (2, 5). Which have they?"],
    ),
    Mistake(
        "one_state_asks_for_all",
        STEPS.but(row=lambda state: state[:1, None]),
        STEPS.but(row=lambda state: state.mean(dim=0)),
        STEPS.but(row=lambda state: state.sum(dim=0)),
        does="all texts of a batch are asked with the same state",
        says=(
            "Right for one text; in a batch, all the texts are asked with the same state: that of one of them, or an "
            "average. Text i should be asked with its own."
        ),
        hints=["Which state asks the second text of a batch?"],
    ),
    Mistake(
        "states_of_one_text",
        STEPS.but(states=lambda states, state: states[:1].expand(len(state), -1, -1)),
        STEPS.but(states=lambda states, state: states.mean(dim=0, keepdim=True).expand(len(state), -1, -1)),
        does="all texts of a batch mix the same states",
        says=(
            "Right for one text; in a batch, all the texts mix the same states: those of the first, or the average. "
            "Look at whose states each text mixes."
        ),
        hints=["Which states does the second text of a batch mix?"],
    ),
    Mistake(
        "divided_by_the_root_of_the_width",
        STEPS.but(row=lambda row: row / row.shape[-1] ** 0.5),
        STEPS.but(scores=lambda products: products.mean(dim=-1)),
        STEPS.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
        does="the scores are divided by a number that grows with the sizes",
        says=(
            "The scores are divided by a number that grows with the width, or with the number of states. That can "
            "work as attention too (it is the subject of lesson 02), but it is not what was asked for."
        ),
        hints=["Compare with the formula: the score is a plain dot product."],
    ),
    Mistake(
        "matches_by_cosine",
        STEPS.but(scores=lambda state, states: torch.cosine_similarity(state[:, None], states, dim=-1)),
        STEPS.but(products=lambda row, states: states / states.norm(dim=-1, keepdim=True) * row),
        STEPS.but(row=lambda row: row / (row.norm(dim=-1, keepdim=True) + 1e-9)),
        does="lengths are divided away, as in a cosine",
        says=(
            "Lengths of vectors are divided away, as in a cosine. The score is the plain dot product, in which a "
            "longer vector counts more."
        ),
        hints=["If `state` is made 10 times longer, or one of the states, should the weights change?"],
    ),
    Mistake(
        "matches_by_distance",
        STEPS.but(scores=lambda row, states: -(states - row).norm(dim=-1)),
        STEPS.but(scores=lambda row, states: -(states - row).square().sum(dim=-1)),
        STEPS.but(products=lambda row, states: states + row),
        does="states are compared by adding or subtracting, not by multiplying",
        says=(
            "The states are compared with the decoder's by a sum or a difference. The score is a dot product: "
            "products, added up."
        ),
        hints=["Which sign stands between the decoder's state and a state in the formula?"],
    ),
    Mistake(
        "a_fixed_factor",
        STEPS.but(scores=lambda scores: scores * 2),
        STEPS.but(scores=lambda scores: scores / 2),
        STEPS.but(scores=lambda scores: scores * 10).attempt,
        STEPS.but(scores=lambda scores: scores / 10).attempt,
        does="the scores are multiplied or divided by a fixed number",
        says="A fixed number multiplies or divides the scores, which makes the weights too sharp or too flat.",
        hints=["Are the largest weights too large, or too small?"],
    ),
    Mistake(
        "squeezes_everything",
        STEPS.but(scores=lambda state, states: (states @ state[:, :, None]).squeeze()),
        STEPS.but(output=lambda output: output.squeeze()),
        does="every axis of length 1 is taken away",
        says=(
            "Right for several texts; with a single one, the axis of the batch is gone as well. `squeeze()` without a "
            "number takes away *every* axis of length 1. Look at the shapes for a batch of 1."
        ),
        hints=["Print the shape before and after the `squeeze`, for one text and for three."],
    ),
    Mistake(
        "weights_along_the_width",
        STEPS.but(weighted=lambda weights, states: weights * states),
        STEPS.but(weighted=lambda weights, states: weights[:, None, :] * states),
        STEPS.but(context=lambda weights, states: (weights @ states).sum(dim=1)),
        does="weights and states of different texts or axes meet when they are mixed",
        says=(
            "Weights and states do not meet as they should: broadcasting lines the weights up with the *width* of the "
            "states, or a product lets the weights of every text meet every text. Look at the shapes of both."
        ),
        hints=["The weights have the shape (batch, n), the states (batch, n, d). Which axes meet?"],
    ),
    Mistake(
        "context_with_three_axes",
        STEPS.but(context=lambda weighted: weighted),
        does="the context has three axes instead of two",
    ),
    Mistake(
        "adds_over_another_axis",
        STEPS.but(context=lambda weighted: weighted.sum(dim=-1)),
        STEPS.but(context=lambda weighted: weighted.sum(dim=0)),
        does="the weighted states are added up along another axis than that of the states",
    ),
    *of_the_sum(STEPS, "context", 1, "states", "states"),
    Mistake(
        "a_state_left_out",
        STEPS.but(states=lambda states: states[:, 1:]),
        STEPS.but(states=lambda states: states[:, :-1]),
        STEPS.but(weighted=lambda weighted: weighted[:, 1:]),
        STEPS.but(weighted=lambda weighted: weighted[:, :-1]),
        does="the first or the last state of each text is left out",
        says="The first or the last state of each text never takes part. Look at where the counting begins and ends.",
        hints=["What is the context if only the state that is left out matches?"],
    ),
]
