"""The number of floating-point operations needed to train a model."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import count_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def training_flops(n_parameters: int, n_tokens: int) -> int:
    """Return the FLOPs for training: 2 per parameter and token in the forward pass, 4 in the backward pass."""
    return 6 * n_parameters * n_tokens


def forward(n_parameters):
    """count a product and a sum for each parameter → the FLOPs of a forward pass: 2 per parameter and token"""
    return 2 * n_parameters


def backward(forward):
    """double the FLOPs for the backward pass → the FLOPs of a backward pass: twice the forward pass"""
    return 2 * forward


def of_a_token(forward, backward):
    """add the FLOPs of both passes → the FLOPs per token"""
    return forward + backward


def flops(of_a_token, n_tokens):
    """multiply by the number of tokens → the FLOPs of the whole training"""
    return of_a_token * n_tokens


STEPS = InSteps(forward, backward, of_a_token, flops, reference=training_flops)


def training_flops_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def size(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    sizes = [
        (size(11, 99), 1, "one token"),
        (1, size(11, 99), "one parameter"),
        (size(200_000, 300_000), size(1_000_000, 2_000_000), "a model of this course"),
        (124_439_808, 1_000_000_000, "GPT-2 and a billion tokens"),
        (size(300 * 10**9, 400 * 10**9), 1, "one token and a very large model"),
        (1, size(300 * 10**9, 400 * 10**9), "one parameter and very many tokens"),
    ]
    return [Case({"n_parameters": n, "n_tokens": t}, shows) for n, t, shows in sizes]


MISTAKES = [
    Mistake(
        "too_many_operations",
        STEPS.but(of_a_token=lambda n_parameters: 8 * n_parameters),
        summary="you count 8 FLOPs per parameter per token",
        message=(
            "{summary}. That is the count with checkpointing, which runs the forward pass twice. How many FLOPs do one "
            "forward pass and one backward pass take?"
        ),
        hints=[
            "Which passes does a training step have, and which of them do you count twice?",
        ],
    ),
    count_mistakes.a_float(STEPS.but(flops=lambda flops: float(flops)), "FLOPs"),
    Mistake(
        "four_operations",
        STEPS.but(of_a_token=lambda n_parameters: 4 * n_parameters),
        summary="you count 4 FLOPs per parameter per token",
        message=(
            "{summary}. The forward pass takes 2, and the backward pass computes two gradients: those of the inputs "
            "and those of the parameters. How many FLOPs do both passes take in total?"
        ),
        hints=["Which passes does a training step have, and which one costs more?"],
    ),
]


EXERCISE = Exercise(
    reference=training_flops,
    steps=STEPS,
    cases=training_flops_cases,
    points=1,
    verified="You count 6 FLOPs per parameter per token: 2 forward and 4 backward.",
    hints=[
        "In a matrix product, which two operations use a parameter once for each token?",
        "The backward pass computes gradients for the inputs and for the parameters. Each of these costs as much as "
        "the forward pass.",
        "So training takes 2 + 4 FLOPs per parameter per token.",
    ],
    messages={
        "operator_flops: (of_a_token) + (n_tokens)": Wording(
            "{summary}. A model with 1,000 parameters needs 6,000 FLOPs for *each* token. How many does it need for 5?",
            summary="you add the number of tokens instead of multiplying by it",
        ),
        "part_left_out_flops: of_a_token": Wording(
            "{summary}. Every token passes through all parameters. What else should the number of FLOPs depend on?",
            summary="you count the FLOPs of only one token",
        ),
        "brackets_flops": Wording(
            "{summary}, so you count the other pass for only one token. Where do you need parentheses?",
            summary="you multiply only one of the passes by the number of tokens",
        ),
        "left_out_forward: n_parameters": Wording(
            "{summary}. In the forward pass, a parameter takes part in a multiplication and an addition, and the "
            "backward pass costs more. How many FLOPs does each of the two passes take?",
            summary="your total is only 3 FLOPs per parameter per token",
        ),
        "part_left_out_of_a_token: forward": Wording(
            "{summary}. That is the forward pass alone: a multiplication and an addition. How many FLOPs does the "
            "backward pass take?",
            summary="you count only 2 FLOPs per parameter per token",
        ),
    },
    mistakes=MISTAKES,
)
