"""Quantize a weight matrix to 8 bits, with one scale per row."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def quantize_per_channel(
    weight: Float[Tensor, "d_out d_in"],
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, " d_out"]]:
    """Return whole numbers from −127 to 127 and a scale per row, so that scale · number is near the weight.

    A row of zeros gets the scale 1.
    """
    largest = weight.abs().amax(dim=1)
    scale = torch.where(largest > 0, largest / 127, 1.0)
    return (weight / scale[:, None]).round().to(torch.int8), scale


def magnitudes(weight):
    """take absolute values → the absolute values of the weights"""
    return weight.abs()


def largest(magnitudes):
    """find the largest absolute value of each row → the largest absolute value of each row, (d_out)"""
    return magnitudes.amax(dim=1)


def step_size(largest):
    """divide the largest absolute value by 127 → the step size of each row: largest absolute value / 127"""
    return largest / 127


def scale(step_size, largest):
    """give rows of zeros the scale 1 → the scale of each row, (d_out): 1 where all weights are 0"""
    return torch.where(largest > 0, step_size, 1.0)


def divided(weight, scale):
    """divide each row by its scale → the unrounded numbers, from −127 to 127"""
    return weight / scale[:, None]


def rounded(divided):
    """round to the nearest whole number → the rounded numbers"""
    return divided.round()


def codes(rounded):
    """convert the rounded numbers to int8 → the whole numbers in 8 bits"""
    return rounded.to(torch.int8)


def result(codes, scale):
    """return the whole numbers and the scales → the whole numbers and the scales"""
    return codes, scale


STEPS = InSteps(magnitudes, largest, step_size, scale, divided, rounded, codes, result, reference=quantize_per_channel)


def quantize_per_channel_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(weight, shows):
        return Case({"weight": weight}, shows, constants=("weight",))

    def rows(d_out, d_in):
        """Draw rows with very different scales. In every second row, the entry with the largest absolute value is
        negative.
        """
        sizes = 10 ** (4 * torch.rand(d_out, 1, generator=rng) - 3)
        drawn = normal(rng, d_out, d_in)
        signs = 1 - 2.0 * (torch.arange(d_out)[:, None] % 2)
        largest = drawn.gather(1, drawn.abs().argmax(dim=1, keepdim=True)).sign()
        return sizes * drawn * largest * signs

    zeros = rows(3, 4)
    zeros[1] = 0.0
    return [
        case(torch.tensor([[uniform(rng, 0.3, 0.7), -1.27]]), "one row, the largest is −1.27"),
        case(rows(2, 3), "2 rows of 3, of different sizes"),
        case(zeros, "3 rows of 4, one of them zeros"),
        case(rows(4, 4), "as many rows as columns"),
        case(rows(5, 3), "5 rows of 3"),
        case(rows(13, 31), "13 rows of 31"),
    ]


MISTAKES = [
    Mistake(
        "one_scale_for_all",
        STEPS.but(largest=lambda magnitudes: magnitudes.amax().expand(magnitudes.shape[0])),
        summary="you use one scale for the whole matrix",
        message=(
            "You use one scale for the whole matrix. If one row is 100 times larger than the others, only one or two "
            "steps are left for the others. How many scales does a matrix with 13 rows need?"
        ),
        hints=["For the rows [1, −1] and [0.01, −0.01], which whole numbers does the second row get?"],
    ),
    Mistake(
        "scale_per_column",
        STEPS.but(
            scale=lambda magnitudes: torch.where(magnitudes.amax(dim=0) > 0, magnitudes.amax(dim=0) / 127, 1.0),
            divided=lambda weight, scale: weight / scale,
        ),
        summary="you use a scale for each column",
        message=(
            "You compute one scale per column, that is, per *input* of the layer. Per-channel quantization has one "
            "scale per *output*, a row, so that you can multiply by it after the matrix product. Over which `dim` "
            "should you take the maximum?"
        ),
        hints=["For a weight of shape (13, 31), what is the shape of your scales?"],
    ),
    Mistake(
        "truncates",
        STEPS.but(rounded=lambda divided: divided.trunc()),
        STEPS.but(rounded=lambda divided: divided.floor()),
        summary="you don't round to the nearest whole number",
        message=(
            "You don't round to the nearest whole number: 126.9 becomes 126. An error can then be almost a whole "
            "step instead of half a step. What should you do before the conversion to int8?"
        ),
        hints=["Which whole number is nearest to 2.9, and which one do you store?"],
    ),
    Mistake(
        "divides_by_128",
        STEPS.but(step_size=lambda largest: largest / 128),
        STEPS.but(step_size=lambda largest: largest / 128, rounded=lambda divided: divided.round().clamp(-128, 127)),
        summary="you divide by 128",
        message="You divide by 128, so the largest weight becomes 128, one more than int8 can store. What is the "
        "largest number in int8?",
        hints=["What is `torch.tensor(128.0).to(torch.int8)`?"],
    ),
    Mistake(
        "divides_by_255",
        STEPS.but(step_size=lambda largest: 2 * largest / 255),
        summary="you divide the whole range by 255",
        message=(
            "You divide the range from −largest to largest into 255 steps, so the largest weight becomes 127.5, which "
            "rounds to 128, one more than int8 can store. Symmetric quantization has 127 steps on each side of 0. "
            "How large is each step?"
        ),
        hints=["Which whole number does the largest weight of a row get in your code?"],
    ),
    Mistake(
        "signed_maximum",
        STEPS.but(magnitudes=lambda weight: weight),
        STEPS.but(magnitudes=lambda weight: weight, rounded=lambda divided: divided.round().clamp(-127, 127)),
        summary="you take the maximum without absolute values",
        message="You take the largest weight instead of the largest *absolute* value. In a row such as [0.1, −1], the "
        "scale then fits 0.1, and −1 does not fit into int8. What should the scale depend on?",
        hints=["For the row [0.1, −1], what is your scale, and what is −1 divided by it?"],
    ),
    Mistake(
        "scale_of_zeros",
        STEPS.but(scale=lambda step_size: step_size),
        summary="you give a row of zeros the scale 0",
        message=(
            "You give a row of zeros the scale 0, and dividing by it gives nan. Any positive scale represents zeros; "
            "this exercise asks for 1. Where should you check for it?"
        ),
        hints=["For the row [0, 0], what is the largest absolute value, and what do you divide by?"],
    ),
    Mistake(
        "scale_keeps_its_dimension",
        STEPS.but(result=lambda codes, scale: (codes, scale[:, None])),
        summary="you return the scales with an extra dimension",
        message="You return the scales with shape (d_out, 1). They should have shape (d_out,). You need the extra "
        "dimension only to broadcast in the division.",
        hints=["For 13 rows, what should `scale.shape` be?"],
    ),
]

EXERCISE = Exercise(
    reference=quantize_per_channel,
    steps=STEPS,
    cases=quantize_per_channel_cases,
    points=2,
    stretch=True,
    verified="Each row uses all of −127 to 127, whatever its size, and rows of zeros cause no nan.",
    hints=[
        "A row has the weights [0.5, −1.27]. If −1.27 becomes −127, how large is one step, and what becomes of 0.5?",
        "Symmetric quantization: the largest absolute value of a row maps to 127, and everything else to the "
        "nearest step. One scale per row is *per channel*.",
        "Take absolute values and their maximum over dim 1, divide by 127, and replace a scale of 0 by 1. Divide the "
        "weights by it, round, convert to int8.",
        "`(weight / scale[:, None]).round().to(torch.int8)`.",
    ],
    messages={
        "part_left_out_step_size: largest": Wording(
            "{summary}, so all numbers are −1, 0 or 1. Which number should the largest weight of a row get?",
            summary="you use the largest absolute value of each row as its scale",
        ),
    },
    mistakes=MISTAKES,
)
