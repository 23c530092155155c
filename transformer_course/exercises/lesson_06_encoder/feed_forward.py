"""A small network at every position."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps, asking


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_2(torch.relu(self.w_1(x)))


def first_layer(self):
    """choose `w_1` → the first layer: `w_1`"""
    return self.w_1


def hidden(first_layer, x):
    """apply it to x → the hidden features: the output of the first layer"""
    return first_layer(x)


def activated(hidden):
    """set the negative numbers to 0, with a ReLU → the activations: the hidden features after the ReLU"""
    return torch.relu(hidden)


def second_layer(self):
    """choose `w_2` → the second layer: `w_2`"""
    return self.w_2


def output(second_layer, activated):
    """apply it to the result → the output of the second layer"""
    return second_layer(activated)


STEPS = InSteps(first_layer, hidden, activated, second_layer, output, reference=FeedForward)


def feed_forward_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        d_model: int, d_ff: int, leading: tuple[int, ...], shows: str, size: float = 1.0, later: tuple[int, ...] = ()
    ) -> Case:
        parameters = {
            "w_1.weight": normal(rng, d_ff, d_model),
            "w_1.bias": normal(rng, d_ff),
            "w_2.weight": normal(rng, d_model, d_ff),
            "w_2.bias": normal(rng, d_model),
        }
        return Case(
            {"x": size * normal(rng, *leading, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "d_ff": d_ff},
            parameters=parameters,
            later=[{"x": normal(rng, n, d_model)} for n in later],
        )

    by_hand = Case(
        {"x": torch.tensor([[2.0, -1.0]])},
        "one position: 2, 1 and −3 in the middle",
        kind="module",
        arguments={"d_model": 2, "d_ff": 3},
        parameters={
            "w_1.weight": torch.tensor([[1.0, 1.0], [1.0, 2.0], [-1.0, 0.0]]),
            "w_1.bias": torch.tensor([1.0, 1.0, -1.0]),
            "w_2.weight": torch.tensor([[1.0, 2.0, 3.0], [2.0, -1.0, -1.0]]),
            "w_2.bias": torch.tensor([1.0, -7.0]),
        },
    )
    return [
        by_hand,
        case(2, 3, (1,), "one position, 2 features, 3 in the middle"),
        case(3, 5, (), "a single vector, without an axis for positions"),
        case(4, 4, (2,), "as wide in the middle as outside", later=(2, 3)),
        case(3, 5, (7,), "7 positions, 3 features, 5 in the middle"),
        case(3, 5, (8,), "large numbers", size=20.0),
        case(5, 11, (7, 3), "7 sentences of 3 positions"),
        case(24, 96, (5, 31), "5 sentences of 31 positions, 24 features, 96 in the middle"),
    ]


OTHERS: list[Callable[..., Any]] = [
    F.gelu,
    F.silu,
    F.elu,
    F.softplus,
    torch.tanh,
    torch.sigmoid,
    F.leaky_relu,
    partial(F.softmax, dim=-1),
]

MISTAKES = [
    Mistake(
        "another_activation",
        *[STEPS.but(activated=asking(function, "hidden")) for function in OTHERS],
        summary="another function than a ReLU stands between the two layers",
        message=(
            "Another function than a ReLU stands in the middle. Many models since the Transformer have other ones; the "
            "paper of 2017 has a ReLU. Look at what becomes of the hidden features."
        ),
        hints=["What should become of −3 in the middle, and what of 3?"],
    ),
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            first_layer=lambda self: lambda x: x @ self.w_1.weight + self.w_1.bias,
            second_layer=lambda self: lambda z: z @ self.w_2.weight + self.w_2.bias,
        ),
        summary="the weights of a layer are not transposed before their product",
        message=(
            "The weights of a layer are used as they are stored, and that is the other way round: `nn.Linear` keeps "
            "them as (outputs, inputs). A layer knows by itself how to use them."
        ),
        hints=["Which shape has `self.w_1.weight`?"],
    ),
    Mistake(
        "dropout_in_training",
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.5, self.training)),
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.1, self.training)),
        STEPS.but(output=lambda self, output: F.dropout(output, 0.1, self.training)),
        summary="some numbers are dropped at random in train mode",
        message="While training, some numbers are dropped at random. In these exercises there is no dropout.",
        hints=["What differs between `train()` and `eval()`?"],
    ),
]


EXERCISE = Exercise(
    reference=FeedForward,
    steps=STEPS,
    cases=feed_forward_cases,
    points=1,
    verified="Wide in the middle, with a ReLU there.",
    hints=[
        "Three steps, from the inside of the formula outwards: the first layer, max(0, …), the second layer.",
        "A layer is called like a function: `self.w_1(x)` multiplies by the weights and adds the bias. It works on the "
        "last axis, whatever stands in front.",
        "`torch.relu(z)` is max(0, z), number by number.",
        "`self.w_2(torch.relu(self.w_1(x)))`.",
    ],
    messages={
        "moved_activated": (
            "The ReLU comes after the second layer, so that the network can only add and never take away. "
            "Look at the order of the steps."
        ),
        "function_output: §.relu()": (
            "A ReLU comes after the second layer as well, so that the network can only add and never take "
            "away. Look at the number of steps."
        ),
        "moved_hidden: activated": (
            "The ReLU is applied to x itself, and nothing stands between the two layers. Look at the order of "
            "the steps."
        ),
    },
    mistakes=MISTAKES,
)
