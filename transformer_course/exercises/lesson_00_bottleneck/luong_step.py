"""One step of Luong attention, which computes the scores from the decoder's state after the step."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def luong_step(
    state: Float[Tensor, "batch d"], states: Float[Tensor, "batch n d"], w_c: Float[Tensor, "d_out d_both"]
) -> Float[Tensor, "batch d_out"]:
    """Attend to the encoder's states, then combine the context and the decoder's state: tanh(W_c [c; s])."""
    scores = (states * state[:, None, :]).sum(dim=-1)  # (batch, n)
    weights = torch.softmax(scores, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)  # (batch, d)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def row(state):
    """add a dimension to the decoder's state → the decoder's states with a new dimension, (batch, 1, d)"""
    return state[:, None, :]


def products(row, states):
    """multiply every encoder state by the decoder's state, entry by entry → the products, (batch, n, d)"""
    return states * row


def scores(products):
    """sum each state's products → the scores, (batch, n)"""
    return products.sum(dim=-1)


def axis():
    """choose the dimension of the softmax → the dimension of the softmax: −1, the states"""
    return -1


def weights(scores, axis):
    """take the softmax of the scores → the weights, (batch, n)"""
    return torch.softmax(scores, dim=axis)


def weighted(weights, states):
    """multiply each state by its weight → the weighted states, (batch, n, d)"""
    return weights[:, :, None] * states


def context(weighted):
    """sum the weighted states → the contexts, (batch, d)"""
    return weighted.sum(dim=1)


def both(context, state):
    """concatenate context and state → [c; s], (batch, 2 d)"""
    return torch.cat([context, state], dim=-1)


def matrix(w_c):
    """transpose W_c → W_cᵀ: one column per output"""
    return w_c.T


def combined(both, matrix):
    """multiply [c; s] by W_c → W_c [c; s], (batch, d_out)"""
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
        """Return a case whose scores are all close to ``size``, because the state's first feature is large."""
        inputs = dict(case(2, 3, 2, 4, shows).inputs)
        inputs["state"][:, 0] = 2 * size
        inputs["states"][:, :, 0] = 0.5
        inputs["w_c"][:, 2] /= size
        return Case(inputs, shows)

    # Easy to do by hand: both scores are 0, the context is (0, 3), and the result is tanh(0.5 · 3 − 1) = tanh(0.5).
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
        summary="you don't sum the products into one score for each state",
        message=(
            "{summary}, so every *entry* of a state gets its own weight. A sequence of 5 states should have 5 scores. "
            "What shape do your scores have?"
        ),
        hints=["A score is a dot product. Which two operations make up a dot product?"],
    ),
    Mistake(
        "every_state_counts_the_same",
        STEPS.but(weights=lambda weights: torch.full_like(weights, 1 / weights.shape[1])),
        summary="you give every encoder state the same weight",
        message=(
            "{summary}, 1/n, so your context is the plain mean of the states and doesn't depend on `state`. What "
            "should you compute the weights from?"
        ),
        hints=["How should the context change if `state` changes?"],
    ),
    Mistake(
        "every_weight_is_1",
        STEPS.but(weights=lambda weights: torch.ones_like(weights)),
        summary="you give every encoder state the weight 1",
        message=(
            "{summary}, so your context is the plain sum of the states and doesn't depend on `state`. A softmax over a "
            "dimension of length 1 always gives 1. Which dimension does your softmax run over?"
        ),
        hints=["How should the context change if `state` changes?"],
    ),
    Mistake(
        "last_state_as_context",
        STEPS.but(context=lambda states: states[:, -1]),
        summary="you use the encoder's last state as the context",
        message=(
            "{summary}, so the context doesn't depend on `state`. With which weights should you average all n states?"
        ),
        hints=["How should the context change if `state` changes?"],
    ),
    Mistake(
        "asks_with_the_last_state",
        STEPS.but(row=lambda states: states[:, -1:]),
        summary="you compute the scores with the encoder's last state instead of the decoder's state",
        message="{summary}, so `state` has no effect on the weights.",
        hints=["Do your scores change if `state` changes? Should they?"],
    ),
    Mistake(
        "every_text_asks_every_other",
        STEPS.but(scores=lambda state, states: states @ state.T),
        STEPS.but(row=lambda state: state),
        summary="you compare each sequence's decoder state with the encoder states of other sequences",
        message=(
            "{summary}, so your code crashes or mixes the sequences. Each sequence should use only its own states. How "
            "do the shapes (batch, d) and (batch, n, d) line up in your product?"
        ),
        hints=[
            "With 2 sequences, 5 states and width 3, the scores should have shape (2, 5). What shape do yours have?"
        ],
    ),
    Mistake(
        "divided_by_the_root_of_the_width",
        STEPS.but(scores=lambda scores, state: scores / state.shape[-1] ** 0.5),
        summary="you divide the scores by √d",
        message=(
            "{summary}, so your weights are too uniform: with d = 2, scores of 0 and 2 give weights of 0.20 and 0.80 "
            "instead of 0.12 and 0.88. Lesson 02 introduces this scaling; here, a score is the plain dot product."
        ),
        hints=["What is the dot product of [1, 2] and [3, 4]? What is your score for them?"],
    ),
    Mistake(
        "divided_by_the_root_of_the_number",
        STEPS.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
        summary="you divide the scores by √n, the square root of the number of states",
        message=(
            "{summary}, so your weights are too uniform: scores of 0 and 2 give weights of 0.20 and 0.80 instead of "
            "0.12 and 0.88. Here, a score is the plain dot product."
        ),
        hints=["What is the dot product of [1, 2] and [3, 4]? What is your score for them?"],
    ),
]


EXERCISE = Exercise(
    reference=luong_step,
    steps=STEPS,
    may_cut_gradients=True,
    cases=luong_step_cases,
    points=2,
    verified="The decoder's new state scores the encoder's states and is then combined with their context.",
    hints=[
        "What comes after the context in tanh(W_c [c; s]), and which steps lead to the context? You wrote some of "
        "them for `context_vector`.",
        "There are five steps: scores, weights, context, concatenation, tanh of the product with W_c. A score is a dot "
        "product: `state[:, None, :]` has shape (batch, 1, d), so you can multiply it by every state of its sequence "
        "and sum.",
        "The scores have shape (batch, n), and `torch.softmax(scores, dim=-1)` turns each row into weights. Then use "
        "`parts.context_vector`.",
        "`torch.cat([context, state], dim=-1)` concatenates the two, context first. `w_c` has shape (d_out, 2 d), so "
        "multiply by `w_c.T`.",
    ],
    messages={
        "one_number_states: states[0]": Wording(
            "{summary}, so the encoder's states of the other sequences have no effect on your output. Which dimension "
            "of `states` is the batch?",
            summary="you use the encoder's states of the first sequence for every sequence",
            hints=["If only the states of the second sequence change, should its output change?"],
        ),
        "call_left_out_squashed": Wording(
            "{summary}, so your output can be larger than 1. Which function does the formula apply to W_c [c; s]?",
            summary="you never take the tanh",
            hints=["What is the range of tanh? What is the range of your output?"],
        ),
        "parts_exchanged_both": Wording(
            "{summary}, so the columns of W_c meant for the context multiply the decoder's state. Which vector comes "
            "first in the formula?",
            summary="you concatenate [s; c] instead of [c; s]",
            hints=["With width 2, which columns of W_c multiply the context in W_c [c; s]? Which do in your code?"],
        ),
        "axis_weights: torch.softmax(scores, dim=0)": Wording(
            "You take the softmax over dim 0, the batch, so the weights of one sequence depend on the other sequences. "
            "With a single sequence, every weight is 1. Which dimension holds the states?",
            summary="you take the softmax over the batch instead of the states",
            hints=[
                "With 2 sequences of 5 states, what should the weights of each sequence sum to? What do yours sum to?"
            ],
        ),
        "sibling_context: weighted.mean(dim=1)": Wording(
            "{summary}. The weights already sum to 1, so dividing by n makes your context n times too small. Which "
            "method adds up the weighted states without dividing?",
            summary="you take the mean of the weighted states instead of the sum",
            hints=[
                "For the states [8] and [8] with weights 0.75 and 0.25, what should the context be? What do you get?"
            ],
        ),
        "sibling_scores: products.mean(dim=-1)": Wording(
            "{summary}, so every score is d times too small and your weights are too uniform. Which method adds up the "
            "products without dividing?",
            summary="you take the mean of the products instead of the sum",
            hints=["What is the dot product of [1, 2] and [3, 4]? What is your score for them?"],
        ),
        "call_left_out_weights": Wording(
            "You average the states with the raw scores, which can be negative and don't sum to 1. Which function "
            "turns scores into weights?",
            summary="you use the raw scores as weights",
            hints=["Are your weights positive? What do the weights of one sequence sum to?"],
        ),
        "no_softmax_weights: (scores).flatten(-2).softmax(dim=-1).reshape((scores).shape)": Wording(
            "You take one softmax over all sequences, so the weights of the whole batch sum to 1. The weights of each "
            "sequence should sum to 1. Which dimension should your softmax run over?",
            summary="you take one softmax over the whole batch",
            hints=["With 2 sequences, what do the weights of each sequence sum to?"],
        ),
        "no_softmax_weights: (scores).exp() / (scores).exp().sum(dim=-1, keepdim=True)": Wording(
            "Your output is right for ordinary scores. At 100, `exp` overflows to infinity; at −100, it underflows and "
            "loses most of its digits. How does `torch.softmax` avoid this?",
            summary="your exponentials overflow or underflow for large scores",
            hints=["What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?"],
        ),
        "call_left_out_scores": Wording(
            "You don't sum the products of each state, so your scores have three dimensions, (batch, n, d), and your "
            "code crashes later. What shape should the scores have?",
            summary="you don't sum the products into one score for each state",
            hints=["How many scores should a sequence of 5 states have? How many numbers do you compute?"],
        ),
        "axis_scores: products.sum(dim=1)": Wording(
            "You sum the products over dim 1, which gives a score for each *entry* instead of each state. Your code "
            "crashes, or weights the wrong numbers if n = d. Which dimension holds the entries of a state?",
            summary="you sum the products over the states instead of the entries",
            hints=[
                "With 2 sequences of 5 states and width 3, the scores should have shape (2, 5). What shape do yours "
                "have?"
            ],
        ),
        "moved_combined: squashed": Wording(
            "You take the tanh of [c; s] before you multiply by W_c, so entries of your output can be larger than 1. "
            "What is inside the tanh in the formula?",
            summary="you take the tanh before the product with W_c",
            hints=["In tanh(W_c [c; s]), which comes first: the product or the tanh?"],
        ),
        "not_transposed_matrix": Wording(
            "You use `w_c` as if its shape were (2 d, d_out), but it is (d_out, 2 d). Your code crashes, or gives "
            "wrong numbers if `w_c` is square. What do you have to do to `w_c` before you multiply [c; s] by it?",
            summary="you don't transpose `w_c`",
            hints=[
                "If you multiply a row of 2 d numbers by a matrix, how many rows does the matrix need? How many does "
                "`w_c` have?"
            ],
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
