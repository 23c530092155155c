"""The feed-forward network, applied at every position."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps, with_inputs


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_2(torch.relu(self.w_1(x)))


def first_layer(self):
    """use `w_1` as the first layer → the first layer: `w_1` → `w_1`"""
    return self.w_1


def hidden(first_layer, x):
    """apply the first layer to x → the hidden features: the output of the first layer"""
    return first_layer(x)


def activated(hidden):
    """apply ReLU to the hidden features → the activations: the hidden features after the ReLU"""
    return torch.relu(hidden)


def second_layer(self):
    """use `w_2` as the second layer → the second layer: `w_2` → `w_2`"""
    return self.w_2


def output(second_layer, activated):
    """apply the second layer to the activations → the output of the second layer"""
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
        "one position, hidden features 2, 1 and −3",
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
        case(2, 3, (1,), "one position, d_model 2, d_ff 3"),
        case(3, 5, (), "a single vector, without a dimension for positions"),
        case(4, 4, (2,), "d_ff equal to d_model", later=(2, 3)),
        case(3, 5, (7,), "7 positions, d_model 3, d_ff 5"),
        case(3, 5, (8,), "large numbers", size=20.0),
        case(5, 11, (7, 3), "7 sentences of 3 positions"),
        case(24, 96, (5, 31), "5 sentences of 31 positions, d_model 24, d_ff 96"),
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
        *[STEPS.but(activated=with_inputs(function, "hidden")) for function in OTHERS],
        summary="you use an activation function other than ReLU",
        message=(
            "{summary} between the two layers. The original Transformer uses ReLU, max(0, z), which returns 0 for "
            "z = −3. What does your activation function return?"
        ),
        hints=[
            "Between the two layers, −3 should become 0 and 3 should stay 3. What does your function return for these "
            "two numbers?",
        ],
    ),
    Mistake(
        "maximum_of_all_features",
        STEPS.but(activated=lambda hidden: hidden.max().expand_as(hidden)),
        STEPS.but(activated=lambda hidden: hidden.max().clamp(min=0).expand_as(hidden)),
        summary="you take the maximum of all hidden features",
        message=(
            "{summary}, as `torch.max(h)` does, so all of them become the same number. ReLU compares each number with "
            "0 separately. What should 2, 1 and −3 become?"
        ),
        hints=["What is `torch.max(torch.tensor([2.0, 1.0, -3.0]))`, and what is max(0, z) for each of the three?"],
    ),
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            first_layer=lambda self: lambda x: x @ self.w_1.weight + self.w_1.bias,
            second_layer=lambda self: lambda z: z @ self.w_2.weight + self.w_2.bias,
        ),
        summary="you multiply by the weights without transposing them",
        message=(
            "{summary}, so your code crashes, or gives wrong numbers if d_ff = d_model. `nn.Linear` stores the weights "
            "as (outputs, inputs). What happens if you call the layer itself?"
        ),
        hints=[
            "What is the shape of `self.w_1.weight`?",
            "A layer that you call multiplies by its transposed weight and adds its bias.",
            "`self.w_1(x)`, and the same with `self.w_2`.",
        ],
    ),
    Mistake(
        "dropout_in_training",
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.5, self.training)),
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.1, self.training)),
        STEPS.but(output=lambda self, output: F.dropout(output, 0.1, self.training)),
        summary="you use dropout in training mode",
        message="You use dropout, so your output is random in training mode. This exercise uses no dropout.",
        hints=[
            "Call your layer twice on the same x in training mode, and twice after `eval()`. When do the results "
            "differ?",
            "Nothing in the formula is random.",
            "Remove the dropout.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=FeedForward,
    steps=STEPS,
    cases=feed_forward_cases,
    points=1,
    verified="You pass every position through two linear layers with a ReLU between them.",
    hints=[
        "In the formula, what is inside max(0, …), and what happens to the result?",
        "You call a layer like a function: `self.w_1(x)` multiplies by the weights and adds the bias. It works on "
        "the last dimension, for any leading dimensions.",
        "`torch.relu(z)` is max(0, z) for each number.",
        "`self.w_2(torch.relu(self.w_1(x)))`.",
    ],
    messages={
        "call_left_out_activated": Wording(
            "You never apply the ReLU, so your two linear layers are equivalent to a single one. What comes between "
            "the two layers in the formula?",
            summary="you never apply the ReLU",
            hints=["The hidden features are 2, 1 and −3. Which three numbers should the second layer get?"],
        ),
        "added_output: x": Wording(
            "You add x to the output of the second layer, so x is added twice in the encoder layer. That residual "
            "connection is part of the encoder layer, not of this network. Return the output of the second layer.",
            summary="you add x to the output of the second layer",
            hints=["If the encoder layer adds x as well, how many times does x occur in the sum?"],
        ),
        "moved_activated": (
            Wording(
                "You apply the ReLU after the second layer, so your output is never negative. Where is the ReLU in the "
                "formula?",
                summary="you apply the ReLU after the second layer instead of the first",
                hints=["The hidden features are 2, 1 and −3. Which three numbers should the second layer get?"],
            )
        ),
        "function_output: §.relu()": (
            Wording(
                "You apply another ReLU after the second layer, so your output is never negative. How many ReLUs does "
                "the formula have?",
                summary="you apply a ReLU after the second layer",
                hints=["In the formula, what happens outside of max(0, …)?"],
            )
        ),
        "moved_hidden: activated": (
            Wording(
                "You apply the ReLU to x itself, so the two linear layers follow each other directly and are "
                "equivalent to a single layer. Where is the ReLU in the formula?",
                summary="you apply the ReLU to x instead of the hidden features",
                hints=["The hidden features are 2, 1 and −3. Which three numbers should the second layer get?"],
            )
        ),
    },
    mistakes=MISTAKES,
)
