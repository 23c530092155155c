"""What goes wrong in one step of attention in Luong's order."""

import torch

from transformer_lab.course.exercise import Mistake


def _context(state, states):
    weights = torch.softmax((states * state[:, None, :]).sum(dim=-1), dim=-1)
    return (weights[:, :, None] * states).sum(dim=1)


def no_softmax(state, states, w_c):
    scores = (states * state[:, None, :]).sum(dim=-1)
    context = (scores[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def softmax_over_the_texts(state, states, w_c):
    weights = torch.softmax((states * state[:, None, :]).sum(dim=-1), dim=0)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def softmax_over_one(state, states, w_c):
    weights = torch.softmax(states @ state[:, :, None], dim=-1)
    context = (weights * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def scores_with_an_axis_left(state, states, w_c):
    weights = torch.softmax(states @ state[:, :, None], dim=1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def scores_with_an_axis_before(state, states, w_c):
    weights = torch.softmax(state[:, None] @ states.mT, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def added_up_over_the_states(state, states, w_c):
    weights = torch.softmax((states * state[:, None, :]).sum(dim=1), dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def scored_entry_by_entry(state, states, w_c):
    weights = torch.softmax(states * state[:, None, :], dim=1)
    context = (weights * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def state_first(state, states, w_c):
    return torch.tanh(torch.cat([state, _context(state, states)], dim=-1) @ w_c.T)


def no_tanh(state, states, w_c):
    return torch.cat([_context(state, states), state], dim=-1) @ w_c.T


def tanh_before_the_product(state, states, w_c):
    return torch.tanh(torch.cat([_context(state, states), state], dim=-1)) @ w_c.T


def only_the_context(state, states, w_c):
    return _context(state, states)


def state_forgotten(state, states, w_c):
    return torch.tanh(_context(state, states) @ w_c.T)


def added_instead_of_side_by_side(state, states, w_c):
    return torch.tanh((_context(state, states) + state) @ w_c.T)


def put_below_each_other(state, states, w_c):
    return torch.tanh(torch.cat([_context(state, states), state]) @ w_c.T)


def not_transposed(state, states, w_c):
    return torch.tanh(torch.cat([_context(state, states), state], dim=-1) @ w_c)


def w_c_on_the_left(state, states, w_c):
    return torch.tanh(w_c @ torch.cat([_context(state, states), state], dim=-1))


def every_state_counts_the_same(state, states, w_c):
    return torch.tanh(torch.cat([states.mean(dim=1), state], dim=-1) @ w_c.T)


def last_state_as_context(state, states, w_c):
    return torch.tanh(torch.cat([states[:, -1], state], dim=-1) @ w_c.T)


def every_text_asks_every_other(state, states, w_c):
    weights = torch.softmax(states @ state.T, dim=1)
    context = (weights.mean(dim=-1, keepdim=True) * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def every_text_asks_every_other_and_breaks(state, states, w_c):
    weights = torch.softmax(states @ state.T, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def state_along_the_texts(state, states, w_c):
    weights = torch.softmax((states * state).sum(dim=-1), dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def state_taken_for_one_table(state, states, w_c):
    weights = torch.softmax(states @ state, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def state_taken_for_one_table_on_the_left(state, states, w_c):
    weights = torch.softmax(state @ states.mT, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


MISTAKES = [
    Mistake(
        "no_softmax",
        [no_softmax],
        says=(
            "The states are mixed by raw scores: nothing makes them positive or lets them add up to 1. A step is missing "
            "between scoring and mixing."
        ),
        hints=[
            "With a single state, the context should be that state. Is it?",
            "Which function turns a row of scores into shares?",
            "`torch.softmax(scores, dim=-1)`, then the mixture.",
        ],
    ),
    Mistake(
        "softmax_over_the_texts",
        [softmax_over_the_texts],
        says=(
            "The weights add up to 1 over the texts of the batch: texts compete with each other. For each text, the "
            "weights of its states should add up to 1. Look at the axis of the softmax."
        ),
        hints=[
            "The scores have the shape (batch, n). Which axis is number 0?",
            "With one text in the batch, every weight is 1. Should it be?",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "softmax_over_one",
        [softmax_over_one],
        says=(
            "Every weight is 1, and the context the plain sum of the states. A softmax does that along an axis of length "
            "1. Look at the shape of the scores, and at the axis of the softmax."
        ),
        hints=[
            "With 3 states, what do the weights of a text add up to? What should they?",
            "`states @ state[:, :, None]` has the shape (batch, n, 1). Which axis holds the states that compete?",
            "`dim=1`, or take the last axis away before the softmax, by `[:, :, 0]`.",
        ],
    ),
    Mistake(
        "scores_with_an_axis_left",
        [scores_with_an_axis_left, scores_with_an_axis_before, state_taken_for_one_table_on_the_left],
        says=(
            "The scores have three axes instead of two, and all are still there when the states are mixed. That crashes. "
            "Look at the shape of the weights."
        ),
        hints=[
            "A mixture needs weights of the shape (batch, n). Which have they?",
            "What shape has the product of `states` and `state`?",
            "`states @ state[:, :, None]` has (batch, n, 1), and `[:, :, 0]` takes the last axis away. It must be gone "
            "before the softmax.",
        ],
    ),
    Mistake(
        "added_up_over_the_states",
        [added_up_over_the_states],
        says=(
            "The products are added up over the states, so that there is a score for each entry of the width, and none "
            "for a state. That crashes, or, where the numbers happen to fit, weighs the wrong things. Look at the axis of "
            "the sum."
        ),
        hints=[
            "`state[:, None, :] * states` has the shape (batch, n, d). Which of the three should a dot product use up?",
            "For a text of n states there should be n scores.",
            "`.sum(dim=-1)` gives them.",
        ],
    ),
    Mistake(
        "scored_entry_by_entry",
        [scored_entry_by_entry],
        says=(
            "Every entry of a state gets a weight of its own: the products have not been added up to one score per state. "
            "Look at the shape of the scores."
        ),
        hints=[
            "How many scores should there be for a text of n states?",
            "A dot product is: multiply entry by entry, *and add*.",
            "`.sum(dim=-1)` before the softmax.",
        ],
    ),
    Mistake(
        "state_first",
        [state_first],
        says=(
            "The two halves have changed places: the columns of W_c that were meant for the context meet the state. Look "
            "at the order in [c; s]."
        ),
        hints=[
            "Which comes first in the formula, the context or the state?",
            "The first half of the columns of `w_c` belongs to what stands first.",
            "`torch.cat([context, state], dim=-1)`.",
        ],
    ),
    Mistake(
        "no_tanh",
        [no_tanh],
        says="The numbers are those before the tanh: some lie outside of -1 and 1. The last step is missing.",
        hints=[
            "Compare with the formula: tanh(W_c [c; s]).",
            "What stands outermost in it?",
            "`torch.tanh` of the product.",
        ],
    ),
    Mistake(
        "tanh_before_the_product",
        [tanh_before_the_product],
        says=(
            "The tanh is taken of context and state, before the product with W_c. Look at the order: what is inside the "
            "tanh?"
        ),
        hints=[
            "Compare with the formula: tanh(W_c [c; s]).",
            "The product comes first.",
            "`torch.tanh` goes round the whole product.",
        ],
    ),
    Mistake(
        "only_the_context",
        [only_the_context],
        says="This is the context. It has not been combined with the decoder's state yet, and `w_c` is not used.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Put context and state side by side. How wide is that, and what is the shape of `w_c`?",
            "The product of `torch.cat([context, state], dim=-1)` with `w_c.T`, and the tanh of it.",
        ],
    ),
    Mistake(
        "state_forgotten",
        [state_forgotten, added_instead_of_side_by_side],
        says=(
            "What meets W_c is as wide as one state, and W_c is twice as wide. Context and state do not stand side by "
            "side."
        ),
        hints=[
            "`w_c` has the shape (d_out, 2 d). What should be 2 d wide?",
            "[c; s] is context and state side by side.",
            "`torch.cat([context, state], dim=-1)`.",
        ],
    ),
    Mistake(
        "put_below_each_other",
        [put_below_each_other],
        says=(
            "Context and state have become further *texts*: they were put below each other, not side by side. Look at the "
            "axis of the `cat`."
        ),
        hints=[
            "What shape has `torch.cat([context, state])` for two tensors of shape (3, 5)? It should be (3, 10).",
            "`torch.cat` takes the first axis unless it is told which.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "not_transposed",
        [not_transposed, w_c_on_the_left],
        says=(
            "The product meets the wrong axis of W_c: it stands with (outputs, inputs). That crashes, or, where it is "
            "square, gives other numbers. Look at the shapes on both sides of the `@`."
        ),
        hints=[
            "(batch, 2 d) @ (d_out, 2 d): which two numbers would have to be equal?",
            "Each row of `w_c` makes one output, of the vector of one text.",
            "The vectors on the left, `w_c.T` on the right.",
        ],
    ),
    Mistake(
        "every_state_counts_the_same",
        [every_state_counts_the_same, last_state_as_context],
        says=(
            "The context is the same whatever the decoder's state is: all the states count the same. The state should "
            "ask. Look at where the weights come from."
        ),
        hints=[
            "How should the context change when `state` changes?",
            "The score of a state is its dot product with `state`.",
            "Softmax of the scores, then `parts.context_vector`.",
        ],
    ),
    Mistake(
        "every_text_asks_every_other",
        [
            every_text_asks_every_other,
            every_text_asks_every_other_and_breaks,
            state_along_the_texts,
            state_taken_for_one_table,
        ],
        says=(
            "The decoder's state of every text meets the states of *every* text of the batch, or of the wrong one. Text i "
            "should ask its own states only. Look at how `state` meets `states`."
        ),
        hints=[
            "With 2 texts, 5 states and width 3, the scores should have the shape (2, 5). Which have they?",
            "Broadcasting lines shapes up from the right: (batch, d) and (batch, n, d). Which axes meet?",
            "`state[:, None, :] * states`, added over the width.",
        ],
    ),
]
