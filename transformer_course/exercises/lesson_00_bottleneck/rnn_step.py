"""One step of a simple recurrent neural network."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def rnn_step(
    state: Float[Tensor, "batch d"],
    token: Float[Tensor, "batch d_token"],
    w: Float[Tensor, "d d"],
    u: Float[Tensor, "d d_token"],
) -> Float[Tensor, "batch d"]:
    """Return the next hidden state of each text: tanh(W h + U x)."""
    return torch.tanh(state @ w.T + token @ u.T)


def w_columns(w):
    """transpose W → W with its outputs as columns"""
    return w.T


def u_columns(u):
    """transpose U → U with its outputs as columns"""
    return u.T


def kept(state, w_columns):
    """multiply the old state by W → W h, (batch, d)"""
    return state @ w_columns


def read(token, u_columns):
    """multiply the token by U → U x, (batch, d)"""
    return token @ u_columns


def total(kept, read):
    """add the two → W h + U x, (batch, d)"""
    return kept + read


def squashed(total):
    """take the tanh → tanh(W h + U x)"""
    return torch.tanh(total)


def output(squashed):
    """return one state for each text → the new states, (batch, d)"""
    return squashed


STEPS = InSteps(w_columns, u_columns, kept, read, total, squashed, output, reference=rnn_step)


def rnn_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, d: int, d_token: int, shows: str) -> Case:
        inputs = {
            "state": torch.tanh(normal(rng, batch, d)),
            "token": normal(rng, batch, d_token),
            "w": normal(rng, d, d) / d**0.5,
            "u": normal(rng, d, d_token) / d_token**0.5,
        }
        return Case(inputs, shows)

    # Can be done in the head: W h = (2, 0), U x = (-1.5, 0.5), and the new state is tanh of (0.5, 0.5).
    readable = {
        "state": torch.tensor([[0.5, 1.0]]),
        "token": torch.tensor([[0.5]]),
        "w": torch.tensor([[0.0, 2.0], [0.0, 0.0]]),
        "u": torch.tensor([[-3.0], [1.0]]),
    }
    beginning = {**case(2, 3, 4, "").inputs, "state": torch.zeros(2, 3)}
    return [
        Case(readable, "one text, a state of width 2, a token of width 1"),
        case(1, 3, 3, "one text, a state and a token of width 3"),
        case(3, 3, 3, "3 texts, states and tokens of width 3"),
        Case(beginning, "the first step of 2 texts: the states are zeros"),
        case(2, 3, 5, "2 texts, states of width 3, tokens of width 5"),
        case(31, 19, 23, "31 texts, states of width 19, tokens of width 23"),
    ]


MISTAKES = [
    Mistake(
        "reshapes_u",
        STEPS.but(u_columns=lambda u: u.reshape(u.shape[1], u.shape[0])),
        summary="the numbers of U are read in their old order along exchanged axes",
        message=(
            "The shape is that of the transposed U, but its numbers are in the wrong places: `reshape` and `view` only "
            "cut the same sequence of numbers into other rows."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.T`."],
    ),
    Mistake(
        "tanh_of_one_term",
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + read),
        STEPS.but(squashed=lambda kept, read: kept + torch.tanh(read)),
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + torch.tanh(read)),
        summary="the tanh is taken of the terms one by one, before they are added",
        message="{summary}, or of one term only. Look at the parentheses: a single tanh goes around the whole sum.",
        hints=["Can your result be larger than 1? Can a tanh?"],
    ),
]


EXERCISE = Exercise(
    reference=rnn_step,
    steps=STEPS,
    may_cut_gradients=True,
    cases=rnn_step_cases,
    points=2,
    verified="The new state holds what is left of the old one, and the token.",
    hints=[
        "Two matrix products, a sum, a tanh. Start with the shapes: what comes out is as wide as the state.",
        "Each row of `state` is the state of one text. The formula's W h has the vector on the right; with rows, the "
        "vector goes to the left.",
        "W is stored as (outputs, inputs), as in `nn.Linear`: the product with rows is `state @ w.T`. U is, too.",
        "`torch.tanh` goes around the sum of the two products.",
    ],
    messages={
        "product_kept: (w_columns).mT @ (state)": (
            "The matrix stands on the left of a whole batch. W h is written for one vector; here each *row* "
            "is a text, so the shapes do not fit."
        ),
    },
    mistakes=MISTAKES,
)
