"""What goes wrong in a context vector before anything is added: which weight meets which state."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS


def one_hot(weights, places):
    """Return 1 at one position of each row, and 0 elsewhere."""
    return torch.zeros_like(weights).scatter(1, places, 1.0)


def as_many_as_texts(weights, states):
    return sum(weights[:, i, None] * states[:, i] for i in range(len(weights)))


MISTAKES = [
    Mistake(
        "weights_along_the_width",
        STEPS.but(weighted=lambda weights, states: weights * states),
        STEPS.but(weighted=lambda weights, states: weights[:, None, :] * states),
        does="the n weights meet the *width* of the states",
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
        STEPS.but(total=lambda weights, states: weights @ states),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=1)),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=0)),
        STEPS.but(total=lambda weights, states: torch.tensordot(weights, states, dims=([1], [1]))),
        does="the weights of every text meet the states of *every* text of the batch",
        says=(
            "{does}, as they do in a product of the whole table of weights with each text's states. Text i should mix "
            "its own states only. Look at the axis of the batch."
        ),
        hints=[
            "With 2 texts whose states are all 0 in the second: what should come out for the second text?",
            "Multiply weights and states number by number, and add. With which shape of the weights does each weight "
            "meet its own state?",
            "`weights[:, :, None] * states`, added along axis 1; or `weights[:, None, :] @ states`, a row for each "
            "text, without its axis of length 1.",
        ],
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
        hints=[
            "weights have the shape (batch, n). Which shape has `weights.T`?",
            "Row i of the weights belongs to text i, and should meet the states of text i only.",
            "`weights[:, :, None] * states` lets each weight meet its own state.",
        ],
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
        hints=[
            "Which weights does the second text of a batch get?",
            "No text should be picked out: the batch stays the first axis all along.",
            "`weights[:, :, None]` keeps all texts, and gives each weight its own state.",
        ],
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
        hints=[
            "Which states does the second text of a batch mix?",
            "No text should be picked out: the batch stays the first axis all along.",
            "`weights[:, :, None] * states`, added along axis 1.",
        ],
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
        hints=[
            "In `a @ b`, the last axis of a meets the second-to-last of b. Which two are these here?",
            "The axis of length n of the one has to meet the axis of length n of the other.",
            "`weights[:, None, :] @ states` is (batch, 1, n) times (batch, n, d).",
        ],
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
        hints=[
            "What shape has one `h` of `for h in states`, or one term of `sum(…)`?",
            "The states of a text lie along axis 1.",
            "`weights[:, :, None] * states` needs no loop; or go through `range(n)`, with `states[:, i]`.",
        ],
    ),
    Mistake(
        "as_many_states_as_texts",
        STEPS.but(total=as_many_as_texts),
        STEPS.but(total=lambda weighted: weighted[:, : len(weighted)].sum(dim=1)),
        does="as many states are added as there are *texts*",
        says=(
            "{does}, so some are left out (or a loop runs past the end of them). There is one for each weight of a "
            "text. Look at what is counted."
        ),
        hints=[
            "weights have the shape (batch, n). Which of the two is `len(weights)`?",
            "In the first case there is one text, and there are two states.",
            "`states.shape[1]` is the number of states.",
        ],
    ),
    Mistake(
        "matrix_product_of_a_column",
        STEPS.but(weighted=lambda column, states: column @ states),
        STEPS.but(weighted=lambda weights, states: torch.bmm(weights, states)),
        STEPS.but(total=lambda weights, states: (states.mT @ weights[:, None]).squeeze()),
        does="a matrix product is called whose shapes do not fit",
        says=(
            "A matrix product needs two tables for each text whose inner lengths are equal: (1, n) and (n, d), or (d, "
            "n) and (n, 1). Here they are not, so it crashes. Look at the shape of the weights, and at which product "
            "is meant."
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
        hints=[
            "Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`.",
            "Entry (i, j) has to become entry (j, i). Which of them does that?",
            "`states.mT` swaps the last two axes.",
        ],
    ),
    Mistake(
        "weights_unused",
        STEPS.but(weights=lambda weights: torch.full_like(weights, 1 / weights.shape[1])),
        STEPS.but(weights=lambda weights: torch.ones_like(weights)),
        does="every state counts the same, whatever the weights are",
        says="{does}: changing them changes nothing. Look at where the weights come in.",
        hints=[
            "What becomes of the result if a text's weights are 1, 0, 0 instead? What should?",
            "With the weights 0.75 and 0.25, the first state should count three times as much as the second.",
            "Multiply each state by its weight first, then add.",
        ],
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
        hints=[
            "With the weights 0.75 and 0.25, how much of the second state should be in the result?",
            "No `argmax` and no `max` is needed.",
            "Multiply each state by its weight, and add them all up.",
        ],
    ),
    Mistake(
        "small_weights_dropped",
        STEPS.but(weights=lambda weights: weights * (weights > 0.1)),
        STEPS.but(weights=lambda weights: weights * (weights >= 0.5)),
        STEPS.but(weights=lambda weights: weights * (weights >= weights.sort(descending=True).values[:, :2][:, -1:])),
        STEPS.but(weights=lambda weights: weights * (weights >= 0.01)).attempt,
        STEPS.but(weights=lambda weights: weights * (weights >= 0.05)).attempt,
        does="small weights are set to 0",
        says="States with a small weight are left out: their weights are taken for 0. Every state should take part.",
        hints=[
            "How much of a state with the weight 0.09 should be in the result?",
            "A weight of 0.01 still counts: nothing has to be compared with a bound.",
            "Multiply each state by its weight as it is, and add them all up.",
        ],
    ),
    Mistake(
        "weights_in_reverse",
        STEPS.but(weights=lambda weights: weights.flip(1)),
        does="the weights run through the states from the last to the first",
        says=(
            "The first state gets the weight of the last, and so on: one of the two runs backwards. Look at the order."
        ),
        hints=[
            "With the weights 1, 0, 0, which of three states comes back?",
            "Weight i belongs to state i.",
            "Nothing has to be reversed: leave out the `flip` or the `[::-1]`.",
        ],
    ),
    Mistake(
        "weights_shifted",
        STEPS.but(weights=lambda weights: weights.roll(1, 1)),
        STEPS.but(weights=lambda weights: weights.roll(-1, 1)),
        does="each state gets the weight of its neighbour",
        says="The weights and the states are one place apart: {does}.",
        hints=[
            "With the weights 1, 0, 0, which of three states comes back?",
            "Weight i belongs to state i, not to state i + 1 or i - 1.",
            "Use the same index for both.",
        ],
    ),
    Mistake(
        "weights_inverted",
        STEPS.but(weights=lambda weights: 1 - weights),
        does="1 minus the weight stands in place of the weight",
        says="The larger its weight, the less a state counts: it is multiplied by what is left of 1.",
        hints=[
            "With the weights 1 and 0, which of the two states should come back? Which does?",
            "A weight is the fraction of its state that is taken, not the fraction that is left to the others.",
            "Multiply by the weights as they are.",
        ],
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
        hints=[
            "What becomes of the result if the weights change? What should?",
            "The result should be the last state only if its weight is 1.",
            "Multiply each state by its weight, and add them all up.",
        ],
    ),
    Mistake(
        "weights_changed",
        STEPS.but(weights=lambda weights: weights**2),
        STEPS.but(weights=lambda weights: weights**0.5),
        does="the square or the root of each weight is used",
        says=(
            "The weights are squared, or their roots are taken, so that they no longer add up to 1. Use them as they "
            "are."
        ),
        hints=[
            "What do the weights of one text add up to, before and after?",
            "With the weights ½ and ½, the result should be the mean of the two states.",
            "Multiply each state by its weight, once.",
        ],
    ),
    Mistake(
        "adds_the_weights",
        STEPS.but(weighted=lambda column, states: column + states),
        does="each weight is added to its state, not multiplied",
        says="Each weight is *added* to its state. A part of a state is a product: weight times state.",
        hints=[
            "With the weights 1 and 0, the first state should come back. What comes back?",
            "Which sign stands between weight and state in the formula?",
            "Multiply each state by its weight first, then add the states up.",
        ],
    ),
    Mistake(
        "divides_by_the_number_of_texts",
        STEPS.but(weights=lambda weights: weights / len(weights)),
        does="something is divided by the number of texts",
        says="Right for one text; in a batch, all numbers are too small by one factor, the number of texts.",
        hints=[
            "By how much do the numbers shrink with 2 texts, and by how much with 3?",
            "Texts in one batch have nothing to do with each other.",
            "The weights add up to 1 in each text: nothing has to be divided.",
        ],
    ),
    Mistake(
        "softmax_again",
        STEPS.but(weights=lambda weights: torch.softmax(weights, dim=-1)),
        does="a softmax is taken of the weights, which add up to 1 already",
        says=(
            "The result lies too near to the plain mean of the states: the weights have been flattened. They are "
            "fractions that add up to 1 already, and must be used as they are."
        ),
        hints=[
            "What does a softmax make of 1 and 0?",
            "A softmax turns scores into weights. Are scores handed over here, or weights?",
            "Leave the softmax out.",
        ],
    ),
    Mistake(
        "softmax_over_the_texts",
        STEPS.but(weights=lambda weights: torch.softmax(weights, dim=0)),
        STEPS.but(weights=lambda weights: weights / weights.sum(dim=0)),
        does="the weights are normalised once more, across the texts",
        says=(
            "The weights are normalised once more, across the texts of the batch. They add up to 1 already, text by "
            "text."
        ),
        hints=[
            "What do the weights of one text add up to, before and after?",
            "Texts in one batch have nothing to do with each other.",
            "The weights need no softmax and no division: use them as they are.",
        ],
    ),
]
