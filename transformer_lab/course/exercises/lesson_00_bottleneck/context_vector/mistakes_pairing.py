"""What goes wrong in a context vector before anything is added: which weight meets which state."""

import torch

from transformer_lab.course.exercise import Mistake


def weights_along_the_width(weights, states):
    return (weights * states).sum(dim=1)


def weights_along_the_width_not_added(weights, states):
    return weights * states


def weights_along_the_width_in_each_text(weights, states):
    return (weights[:, None, :] * states).sum(dim=1)


def weights_along_the_width_in_each_text_added_across(weights, states):
    return (weights[:, None, :] * states).sum(dim=-1)


def every_text_with_every_other(weights, states):
    return weights @ states


def every_text_with_every_other_added(weights, states):
    return (weights @ states).sum(dim=1)


def every_text_with_every_other_summed(weights, states):
    return (weights @ states).sum(dim=0)


def every_text_with_every_other_by_tensordot(weights, states):
    return torch.tensordot(weights, states, dims=([1], [1]))


def weights_transposed(weights, states):
    return weights.T @ states


def weights_of_the_first_text(weights, states):
    return weights[0] @ states


def weights_of_the_texts_averaged(weights, states):
    return weights.mean(dim=0) @ states


def states_of_the_first_text(weights, states):
    return weights @ states[0]


def states_on_the_left(weights, states):
    return states @ weights


def states_on_the_left_of_a_column(weights, states):
    return (states @ weights[:, :, None]).squeeze(-1)


def states_on_the_left_transposed(weights, states):
    return states @ weights.T


def texts_taken_for_states(weights, states):
    return sum(w * h for w, h in zip(weights, states, strict=True))


def texts_taken_for_states_in_a_table(weights, states):
    return sum(weights * states)


def as_many_states_as_texts(weights, states):
    context = torch.zeros(states.shape[0], states.shape[2])
    for i in range(min(len(weights), states.shape[1])):
        context = context + weights[:, i, None] * states[:, i]
    return context


def as_many_states_as_texts_or_a_crash(weights, states):
    context = torch.zeros(states.shape[0], states.shape[2])
    for i in range(len(weights)):
        context = context + weights[:, i, None] * states[:, i]
    return context


def matrix_product_of_a_column(weights, states):
    return (weights[:, :, None] @ states).sum(dim=1)


def reshapes_the_states(weights, states):
    batch, n, d = states.shape
    return (states.reshape(batch, d, n) @ weights[:, :, None]).squeeze(-1)


MISTAKES = [
    Mistake(
        "weights_along_the_width",
        [
            weights_along_the_width,
            weights_along_the_width_not_added,
            weights_along_the_width_in_each_text,
            weights_along_the_width_in_each_text_added_across,
        ],
        says=(
            "Broadcasting lines the n weights up with the *width* of the states. That crashes, or, where the numbers "
            "happen to fit, weighs entries instead of states. Look at the two shapes."
        ),
        hints=[
            "Broadcasting lines shapes up from the right: (batch, n) and (batch, n, d). Which axes meet?",
            "Each weight should meet a whole state. With which shape of the weights does it?",
            "(batch, n, 1): `weights[:, :, None]`.",
        ],
    ),
    Mistake(
        "every_text_with_every_other",
        [
            every_text_with_every_other,
            every_text_with_every_other_added,
            every_text_with_every_other_summed,
            every_text_with_every_other_by_tensordot,
        ],
        says=(
            "The weights of every text meet the states of *every* text of the batch: `@` takes `weights` for one table, "
            "with a row per text, and multiplies each text's states by all of it. Text i should mix its own states only. "
            "Look at the shape."
        ),
        hints=[
            "With 2 texts, 5 states and width 3: what shape comes out, and what should?",
            "Without `@`: multiply weights and states number by number, and add. With which shape of the weights does "
            "each weight meet its own state?",
            "`weights[:, :, None] * states`, added along axis 1; or `weights[:, None, :] @ states`, a row for each "
            "text, without its axis of length 1.",
        ],
    ),
    Mistake(
        "weights_transposed",
        [weights_transposed],
        says=(
            "After `.T`, the texts stand where the states should. That crashes, or, where the numbers happen to fit, mixes "
            "states by the weights of several texts. Look at what each axis of the weights means."
        ),
        hints=[
            "weights have the shape (batch, n). Which shape has `weights.T`?",
            "Row i of the weights belongs to text i, and should meet the states of text i only.",
            "`weights[:, :, None] * states` lets each weight meet its own state.",
        ],
    ),
    Mistake(
        "weights_of_the_first_text",
        [weights_of_the_first_text, weights_of_the_texts_averaged],
        says=(
            "Right for one text; in a batch, the same weights are used for all the texts: those of the first, or the "
            "average. Each text has weights of its own."
        ),
        hints=[
            "Which weights does the second text of a batch get?",
            "No text should be picked out: the batch stays the first axis all along.",
            "`weights[:, :, None]` keeps all texts, and gives each weight its own state.",
        ],
    ),
    Mistake(
        "states_of_the_first_text",
        [states_of_the_first_text],
        says=(
            "Right for one text; in a batch, all the texts mix the states of the first. The shape is right, and the "
            "numbers belong to another text. Look at the states."
        ),
        hints=[
            "Which states does the second text of a batch mix?",
            "No text should be picked out: the batch stays the first axis all along.",
            "`weights[:, :, None] * states`, added along axis 1.",
        ],
    ),
    Mistake(
        "states_on_the_left",
        [states_on_the_left, states_on_the_left_of_a_column, states_on_the_left_transposed],
        says=(
            "The product pairs the *width* of the states with the weights. That crashes, or, where the numbers happen to "
            "fit, mixes the entries of each state instead of the states. Look at the order of the product."
        ),
        hints=[
            "In `a @ b`, the last axis of a meets the second-to-last of b. Which two are these here?",
            "The axis of length n of the one has to meet the axis of length n of the other.",
            "`weights[:, None, :] @ states` is (batch, 1, n) times (batch, n, d).",
        ],
    ),
    Mistake(
        "texts_taken_for_states",
        [texts_taken_for_states, texts_taken_for_states_in_a_table],
        says=(
            "The loop goes through the *texts*: they come first, so what it takes for one state is all the states of a "
            "text. That crashes, or, where the numbers happen to fit, adds the texts to each other."
        ),
        hints=[
            "What shape has one `h` of `for h in states`?",
            "The states of a text lie along axis 1.",
            "`weights[:, :, None] * states` needs no loop; or go through `range(n)`, with `states[:, i]`.",
        ],
    ),
    Mistake(
        "as_many_states_as_texts",
        [as_many_states_as_texts, as_many_states_as_texts_or_a_crash],
        says=(
            "The loop runs as often as there are *texts*, so some of the states are left out (or it runs past the end of "
            "them). It should run once for each state. Look at what it counts."
        ),
        hints=[
            "weights have the shape (batch, n). Which of the two is `len(weights)`?",
            "In the first case there is one text, and there are two states.",
            "`states.shape[1]` is the number of states.",
        ],
    ),
    Mistake(
        "matrix_product_of_a_column",
        [matrix_product_of_a_column],
        says=(
            "The weights have their new axis, but `@` is a matrix product: (n, 1) does not fit (n, d), and it crashes. "
            "Look at the sign between the two."
        ),
        hints=[
            "In `a @ b`, which two lengths have to be equal? Are they, in (n, 1) and (n, d)?",
            "Each state is to be multiplied by its weight. Which sign multiplies entry by entry, with broadcasting?",
            "`(weights[:, :, None] * states).sum(dim=1)`; or, with a matrix product, `weights[:, None, :] @ states`, "
            "and `.squeeze(1)` behind it.",
        ],
    ),
    Mistake(
        "reshapes_the_states",
        [reshapes_the_states],
        says=(
            "The shape is right, but the numbers are not: `reshape` and `view` only break the same sequence of numbers "
            "into other rows, so each row mixes entries of several states."
        ),
        hints=[
            "Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`.",
            "Entry (i, j) has to become entry (j, i). Which of them does that?",
            "`states.mT` swaps the last two axes.",
        ],
    ),
]
