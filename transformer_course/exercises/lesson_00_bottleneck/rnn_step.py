"""One step of a simple recurrent neural network."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
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
    """transpose W → Wᵀ: one column per output"""
    return w.T


def u_columns(u):
    """transpose U → Uᵀ: one column per output"""
    return u.T


def kept(state, w_columns):
    """multiply the old state by W → W h, (batch, d)"""
    return state @ w_columns


def read(token, u_columns):
    """multiply the token by U → U x, (batch, d)"""
    return token @ u_columns


def total(kept, read):
    """add W h and U x → W h + U x, (batch, d)"""
    return kept + read


def squashed(total):
    """take the tanh of the sum → tanh(W h + U x)"""
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

    # Easy to do by hand: W h = (2, 0), U x = (-1.5, 0.5), and the new state is tanh of (0.5, 0.5).
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


def one_text_after_another(state, w_columns, read):
    new = [state[0]]
    for token in read:
        new.append(torch.tanh(new[-1] @ w_columns + token))
    return torch.stack(new[1:])


MISTAKES = [
    Mistake(
        "reshapes_u",
        STEPS.but(u_columns=lambda u: u.reshape(u.shape[1], u.shape[0])),
        summary="you reshape `u` instead of transposing it",
        message=(
            "{summary}: [[1, 2, 3], [4, 5, 6]] becomes [[1, 2], [3, 4], [5, 6]] instead of [[1, 4], [2, 5], [3, 6]]. "
            "Which attribute or method swaps the two dimensions?"
        ),
        hints=["Compare `torch.arange(6).reshape(2, 3).reshape(3, 2)` with `torch.arange(6).reshape(2, 3).T`."],
    ),
    Mistake(
        "tanh_of_one_term",
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + read),
        STEPS.but(squashed=lambda kept, read: kept + torch.tanh(read)),
        summary="you take the tanh of only one of the two terms",
        message="{summary}, so entries of your state can be larger than 1. What is inside the tanh in the formula?",
        hints=["What is the largest possible value of tanh(W h + U x)? And of tanh(W h) + U x?"],
    ),
    Mistake(
        "tanh_of_each_term",
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + torch.tanh(read)),
        summary="you take the tanh of each term before adding the two terms",
        message=(
            "{summary}: for W h = 2 and U x = −1.5, you get 0.06 instead of tanh(0.5) = 0.46. What is inside the tanh "
            "in the formula?"
        ),
        hints=["What is the largest possible value of tanh(W h + U x)? And of tanh(W h) + tanh(U x)?"],
    ),
    Mistake(
        "one_text_after_another",
        STEPS.but(squashed=one_text_after_another),
        summary="you pass the new state of each sequence on to the next sequence",
        message=(
            "{summary}, so the new state of one sequence depends on the sequences before it in the batch. Row i of "
            "`state` is the old state of sequence i. Which state should you combine with row i of `token`?"
        ),
        hints=["If only the first sequence changes, should the new state of the second sequence change?"],
    ),
]


EXERCISE = Exercise(
    reference=rnn_step,
    steps=STEPS,
    may_cut_gradients=True,
    cases=rnn_step_cases,
    points=2,
    verified="The new state combines the old state with the token.",
    hints=[
        "What shape does the new state have? How do you get that shape from `state` and W, and how from `token` and U?",
        "In the formula, W h has the vector on the right. Each row of `state` is the state of one sequence, and a row "
        "vector goes on the left.",
        "W is stored as (outputs, inputs), as in `nn.Linear`, so the product with rows is `state @ w.T`. U is stored "
        "in the same way.",
        "Add the two products, and apply `torch.tanh` to the sum.",
    ],
    messages={
        "not_transposed_u_columns": Wording(
            "{summary}, so your code crashes, or computes Uᵀ x if the two widths are equal. Weights have shape (out, "
            "in), as in `nn.Linear`: each *row* produces one output. Over which dimension of `u` should you sum?",
            summary="you use `u` as if its shape were (in, out)",
            hints=["Which dimension of `u` has one entry for each feature of the token?"],
        ),
        "one_number_state: state[0]": Wording(
            "{summary}, so the other sequences continue from the wrong state. Row i of `state` is the state of "
            "sequence i. Where does your code select row 0?",
            summary="you use the state of the first sequence for every sequence",
            hints=["If only the old state of the second sequence changes, should its new state change?"],
        ),
        "one_number_token: token[0]": Wording(
            "{summary}, so the other sequences read the wrong token. Row i of `token` is the token of sequence i. "
            "Where does your code select row 0?",
            summary="you use the token of the first sequence for every sequence",
            hints=["If only the token of the second sequence changes, should its new state change?"],
        ),
        "call_left_out_squashed": Wording(
            "{summary}, so entries of your state can be larger than 1 and can grow with every token. Which function "
            "keeps them between −1 and 1?",
            summary="you never take the tanh of the sum",
            hints=["What is the largest possible value of a tanh? Can an entry of your new state exceed it?"],
        ),
        "operator_kept: (state) * (w_columns)": Wording(
            "{summary}: for W = [[0, 2], [0, 0]] and h = [0.5, 1], you get a 2 × 2 matrix instead of W h = [2, 0]. "
            "Which operator is the matrix product?",
            summary="you multiply the state and W element by element",
            hints=["Each entry of W h is a sum of products. Where does your code add them up?"],
        ),
        "part_left_out_kept: state": Wording(
            "{summary}, so `w` is never used: for W = [[0, 2], [0, 0]] and h = [0.5, 1], you add [0.5, 1] instead of "
            "[2, 0]. What should you multiply the state by?",
            summary="you add the state itself instead of W h",
            hints=["If `w` changes, does your new state change?"],
        ),
        "not_transposed_w_columns": Wording(
            "{summary}: for W = [[0, 2], [0, 0]] and h = [0.5, 1], you get Wᵀ h = [0, 1] instead of W h = [2, 0]. "
            "Weights have shape (out, in), as in `nn.Linear`. Over which dimension of `w` should the product sum?",
            summary="you use `w` as if its shape were (in, out)",
            hints=["Which dimension of `w` has one entry for each feature of the old state?"],
        ),
        "product_kept: (w_columns).mT @ (state)": Wording(
            "You multiply the whole batch by W from the left, as in the formula W h for a column vector h, but "
            "each *row* of `state` is one sequence. Your code crashes, or mixes the sequences when the batch size "
            "equals d. Which side of W should the batch be on?",
            summary="you multiply by W from the left",
            hints=[
                "For W of shape (3, 3) and a state of shape (2, 3), which sizes would have to be equal in `w @ state`?"
            ],
        ),
    },
    mistakes=MISTAKES,
)
