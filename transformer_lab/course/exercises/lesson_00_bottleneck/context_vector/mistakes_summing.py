"""What goes wrong in a context vector once each weight has met its state: with how the states are added up."""

import torch

from transformer_lab.course.exercise import Mistake


def weights_unused(weights, states):
    return states.mean(dim=1)


def sum_of_the_states(weights, states):
    return states.sum(dim=1)


def not_added(weights, states):
    return weights[:, :, None] * states


def adds_over_the_width(weights, states):
    return (weights[:, :, None] * states).sum(dim=-1)


def adds_everything(weights, states):
    return (weights[:, :, None] * states).sum()


def adds_everything_in_each_text(weights, states):
    return (weights[:, :, None] * states).sum(dim=(1, 2))


def adds_over_the_texts(weights, states):
    return (weights[:, :, None] * states).sum(dim=0)


def averages_once_more(weights, states):
    return (weights[:, :, None] * states).mean(dim=1)


def hard_pick(weights, states):
    return states[torch.arange(len(states)), weights.argmax(dim=1)]


def hard_pick_weighted(weights, states):
    best, where = weights.max(dim=1)
    return best[:, None] * states[torch.arange(len(states)), where]


def last_state_only(weights, states):
    return states[:, -1]


def softmax_again(weights, states):
    return (torch.softmax(weights, dim=-1)[:, :, None] * states).sum(dim=1)


def overwritten_in_the_loop(weights, states):
    for i in range(states.shape[1]):
        context = weights[:, i, None] * states[:, i]
    return context


def returned_in_the_loop(weights, states):
    for i in range(states.shape[1]):
        return weights[:, i, None] * states[:, i]


def a_list_of_contexts(weights, states):
    return [w @ h for w, h in zip(weights, states, strict=True)]


def keeps_the_axis(weights, states):
    return weights[:, None, :] @ states


def keeps_the_axis_behind(weights, states):
    return states.mT @ weights[:, :, None]


def squeezes_everything(weights, states):
    return (weights[:, None, :] @ states).squeeze()


def writes_into_the_states(weights, states):
    states *= weights[:, :, None]
    return states.sum(dim=1)


MISTAKES = [
    Mistake(
        "weights_unused",
        [weights_unused, sum_of_the_states],
        says=(
            "Every state counts the same, whatever the weights are: changing them changes nothing. Look at where the "
            "weights come in."
        ),
        hints=[
            "Does `weights` occur in the code at all?",
            "With the weights 0.75 and 0.25, the first state should count three times as much as the second.",
            "Multiply each state by its weight first, then add.",
        ],
    ),
    Mistake(
        "not_added",
        [not_added],
        says=(
            "Each state has been multiplied by its weight, but they are not added up: one vector per state comes out. "
            "Look at the shape."
        ),
        hints=[
            "How many vectors should come out for each text?",
            "A weighted average is a *sum* of weight times state.",
            "Add along the axis of the states, `dim=1`.",
        ],
    ),
    Mistake(
        "adds_over_the_width",
        [adds_over_the_width, adds_everything, adds_everything_in_each_text],
        says=(
            "The entries of each state are added to each other, so that no vector is left. The *states* should be added. "
            "Look at the axis of the sum."
        ),
        hints=[
            "How many numbers should come out for states of width 3?",
            "The products have the shape (batch, n, d). Which of these axes should be gone at the end?",
            "The axis of the states is number 1.",
        ],
    ),
    Mistake(
        "adds_over_the_texts",
        [adds_over_the_texts],
        says=(
            "The texts of the batch are added to each other: the first axis is gone, and the states are still there. Look "
            "at the axis of the sum."
        ),
        hints=[
            "The products have the shape (batch, n, d). Which of these axes is number 0?",
            "Texts in one batch have nothing to do with each other. Each gets a context of its own.",
            "The axis of the states is number 1.",
        ],
    ),
    Mistake(
        "averages_once_more",
        [averages_once_more],
        says=(
            "All numbers are too small by one factor, the number of states: a mean is taken of the weighted states. The "
            "weights make it an average already."
        ),
        hints=[
            "With the weights ½ and ½, what should become of 4 and 6, and what comes out?",
            "A mean is a sum divided by how many there are.",
            "`sum` in place of `mean`.",
        ],
    ),
    Mistake(
        "hard_pick",
        [hard_pick, hard_pick_weighted],
        says=(
            "Only the state with the largest weight is used; all others are thrown away. And no gradient reaches the "
            "weights that way, so nothing could be learned. Every state should take part."
        ),
        hints=[
            "With the weights 0.75 and 0.25, how much of the second state should be in the result?",
            "No `argmax` and no `max` is needed.",
            "Multiply each state by its weight, and add them all up.",
        ],
    ),
    Mistake(
        "last_state_only",
        [last_state_only],
        says=(
            "This is the last state, whatever the weights are: the one vector that the decoder had before there was "
            "attention. All the states should take part."
        ),
        hints=[
            "Does `weights` occur in the code at all?",
            "The result should be the last state only if its weight is 1.",
            "Multiply each state by its weight, and add them all up.",
        ],
    ),
    Mistake(
        "softmax_again",
        [softmax_again],
        says=(
            "The result lies too near to the plain mean of the states: the weights have been flattened. They are shares "
            "that add up to 1 already, and must be used as they are."
        ),
        hints=[
            "What does a softmax make of 1 and 0?",
            "A softmax turns scores into weights. Are scores handed over here, or weights?",
            "Leave the softmax out.",
        ],
    ),
    Mistake(
        "overwritten_in_the_loop",
        [overwritten_in_the_loop, returned_in_the_loop],
        says=(
            "Only one state arrives, weighted: each turn of the loop throws away what the one before it found, or the "
            "loop is left in its first turn."
        ),
        hints=[
            "What is in the variable after the first turn of the loop, and what after the second?",
            "Start from zeros, before the loop, and add to them in each turn.",
            "`context = context + ...` in the loop, and `return` after it; or one multiplication and one sum without "
            "any loop.",
        ],
    ),
    Mistake(
        "a_list_of_contexts",
        [a_list_of_contexts],
        says="The numbers are right, but they come as a list of vectors. One tensor is asked for, of shape (batch, d).",
        hints=[
            "What does `type(...)` say of the result?",
            "There is a function in torch that makes one tensor of a list of tensors of the same shape.",
            "`torch.stack(...)`; or do all texts at once, without a loop.",
        ],
    ),
    Mistake(
        "keeps_the_axis",
        [keeps_the_axis, keeps_the_axis_behind],
        says="The numbers are right, but there is an axis of length 1 too many. Look at the shape.",
        hints=[
            "The shape asked for is (batch, d). Which is it now?",
            "A `[:, None]`, an `unsqueeze` or a `keepdim` has never been undone.",
            "`.squeeze(1)` or `.squeeze(-1)` takes away that one axis.",
        ],
    ),
    Mistake(
        "squeezes_everything",
        [squeezes_everything],
        says=(
            "Right for several texts; with a single one, the axis of the batch is gone as well. `squeeze()` without a "
            "number takes away *every* axis of length 1. Look at the shape for a batch of 1."
        ),
        hints=[
            "What does `torch.zeros(1, 1, 3).squeeze().shape` say?",
            "Only one axis should go. Which number does it have?",
            "`.squeeze(1)`.",
        ],
    ),
    Mistake(
        "writes_into_the_states",
        [writes_into_the_states],
        says=(
            "The numbers are right, but the states that were handed over have been changed. At the next step, the decoder "
            "would mix what is left of them. Look at what is assigned to."
        ),
        hints=[
            "Call it twice with the same states. Is the result the same?",
            "`a *= b` writes into a; `a * b` makes a new tensor.",
            "Give the product a name of its own.",
        ],
    ),
]
