"""GELU, used in BERT and GPT-2: x times the probability that a standard normal variable is below x."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def gelu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x · Φ(x), where Φ is the distribution function of the standard normal distribution."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def scaled(x):
    """divide x by √2 → the argument of erf: x / √2"""
    return x / math.sqrt(2)


def error_function(scaled):
    """apply the error function to x / √2 → the error function, between −1 and 1: erf(x / √2)"""
    return torch.erf(scaled)


def probability(error_function):
    """turn the error function into a probability → the probability Φ(x): (1 + erf(x / √2)) / 2"""
    return 0.5 * (1 + error_function)


def output(x, probability):
    """multiply x by the probability → the output: x · Φ(x)"""
    return x * probability


STEPS = InSteps(scaled, error_function, probability, output, reference=gelu)


def gelu_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    far = torch.tensor([-9.0, -2.5, 0.0, 2.5, 9.0]) + uniform(rng, -0.2, 0.2)
    return [
        Case({"x": torch.tensor([uniform(rng, 0.9, 1.1)])}, "one number near 1"),
        Case({"x": torch.tensor([-2.0, -1.0, 0.0]) + uniform(rng, -0.1, 0.1)}, "three numbers below 1"),
        Case({"x": far}, "numbers far from 0"),
        Case({"x": 2 * normal(rng, 3, 4)}, "a matrix"),
        Case({"x": 2 * normal(rng, 5, 7, 11)}, "a batch of 5"),
    ]


MISTAKES = [
    Mistake(
        "tanh_approximation",
        STEPS.but(
            probability=lambda x: 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        ),
        summary="you approximate Φ by tanh",
        message='You use the tanh approximation, as GPT-2 does (`approximate="tanh"` in PyTorch), which is off by '
        "up to 0.0005. This exercise asks for the exact GELU. Which PyTorch function computes Φ without an "
        "approximation?",
        hints=["What is your result for x = 2.5? Exactly, it is 2.4845."],
    ),
    Mistake(
        "sigmoid_approximation",
        STEPS.but(probability=lambda x: torch.sigmoid(1.702 * x)),
        summary="you approximate Φ by a sigmoid",
        message="You use the sigmoid approximation x · σ(1.702 x), which is off by up to 0.02. This exercise asks for "
        "the exact GELU. Which function of PyTorch gives Φ without an approximation?",
        hints=["What is your result for x = 2? Exactly, it is 1.9545."],
    ),
    Mistake(
        "silu",
        STEPS.but(probability=lambda x: torch.sigmoid(x)),
        summary="you use the sigmoid instead of Φ",
        message="You compute x · σ(x), which is SiLU (Swish), the activation of Llama. GELU weights x by the normal "
        "distribution function Φ. How is Φ related to `torch.erf`?",
        hints=["Φ(1) is 0.841. What is the sigmoid of 1?"],
    ),
    Mistake(
        "relu",
        STEPS.but(output=lambda x: x.clamp(min=0)),
        summary="you return 0 for negative numbers",
        message="You return 0 for every negative x, which is ReLU. GELU of −1 is −0.159. By what does GELU multiply x?",
        hints=["Compare gelu(−1) = −0.159 with your result."],
    ),
    Mistake(
        "x_multiplies_one_term_only",
        STEPS.but(output=lambda x, error_function: 0.5 * x + 0.5 * error_function),
        summary="you multiply x by ½ and leave it out of the second term",
        message="You multiply only the first term by x: ½x + ½ erf(x / √2). For a large x, the result should be x "
        "itself. What does x multiply?",
        hints=["What is your result for x = 10? It should be 10."],
    ),
]

EXERCISE = Exercise(
    reference=gelu,
    steps=STEPS,
    cases=gelu_cases,
    points=1,
    stretch=True,
    verified="Your GELU is exact, near 0 and far from it, and its gradient is right.",
    hints=[
        "GELU multiplies x by a number between 0 and 1. For x = 0 it is ½, and for x = 1 it is 0.841. What is "
        "distributed like that?",
        "Φ(x) is the probability that a standard normal random number is smaller than x. PyTorch has the error "
        "function `torch.erf`, and Φ is erf, shifted and scaled.",
        "Φ(x) = ½ · (1 + erf(x / √2)). Multiply it by x.",
        "`0.5 * (1 + torch.erf(x / 2**0.5))` is Φ(x).",
    ],
    messages={
        "call_left_out_scaled": Wording(
            "{summary}. ½ (1 + erf(x / 2)) is the distribution function of a normal distribution with variance 2, so "
            "Φ(1) becomes 0.76 instead of 0.84. Which number gives variance 1?",
            summary="you divide x by 2 instead of √2",
            hints=["Φ(1) should be 0.841. What does your code use in its place?"],
        ),
        "part_left_out_scaled: x": Wording(
            "{summary}. ½ (1 + erf(x)) is the distribution function of a normal distribution with variance ½, so Φ(1) "
            "becomes 0.92 instead of 0.84. What should you divide x by for variance 1?",
            summary="you pass x itself to erf instead of x / √2",
            hints=["Φ(1) should be 0.841. What does your code use in its place?"],
        ),
        "part_left_out_probability: error_function": Wording(
            "You multiply x by erf(x / √2) alone, which runs from −1 to 1, so your result is never negative. Φ is a "
            "probability. How do you map (−1, 1) to (0, 1)?",
            summary="you use erf as if it were a probability",
        ),
    },
    mistakes=MISTAKES,
)
