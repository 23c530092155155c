"""The receptive field: which outputs depend on which inputs."""

import torch
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_12_clinic.which_inputs import mistakes
from transformer_lab.course.exercises.lesson_12_clinic.which_inputs.answer import STEPS, which_inputs
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.stand_in_models import describe_model

SMALL = 0.003
"""The size of a dependence that is easily taken for rounding."""


def which_inputs_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def field(n_out: int, n_in: int) -> Tensor:
        """Draw which outputs depend on which inputs."""
        return torch.rand(n_out, n_in, generator=rng) < 0.5

    def case(
        depends: Tensor, d: int, d_out: int, shows: str, size: float = 1.0, zeros: tuple[int, ...] = (), **how: bool
    ) -> Case:
        strengths = 0.5 + torch.rand(depends.shape, generator=rng)
        signs = torch.where(torch.rand(depends.shape, generator=rng) < 0.5, -1.0, 1.0)
        projection = normal(rng, d, d_out)
        if how.get("centred"):  # as of a norm: the same number added to all of a vector changes nothing
            projection = projection - projection.mean(dim=0)
        if how.get("cancels"):  # as after a norm: the outputs of a position add up to 0
            projection = projection - projection.mean(dim=1, keepdim=True)
        x = normal(rng, depends.shape[1], d)
        x[list(zeros)] = 0.0
        model = describe_model("position_mixer", mixing=size * depends * strengths * signs, projection=projection)
        return Case({"model": model, "x": x}, shows)

    causal = torch.ones(4, 4).tril().bool()
    return [
        case(torch.tensor([[True, False]]), 2, 3, "one output that depends on the first of two inputs"),
        case(field(3, 3), 2, 2, "3 inputs, 3 outputs"),
        case(causal, 3, 5, "a causal model of 4 positions"),
        case(field(2, 5), 3, 4, "5 inputs, 2 outputs"),
        case(field(6, 3), 4, 3, "3 inputs, 6 outputs"),
        case(field(4, 5), 4, 6, "outputs that always add up to 0", cancels=True),
        case(field(5, 4), 5, 4, "a shift of a whole vector changes nothing", centred=True),
        case(field(4, 6), 4, 5, "inputs of zeros", zeros=(0, 2, 5), centred=True),
        case(field(5, 6), 3, 4, "outputs that depend on their inputs a little", size=SMALL),
        case(field(7, 8), 5, 6, "8 inputs, 7 outputs, which add up to 0", cancels=True, centred=True),
    ]


WHICH_INPUTS = Exercise(
    reference=which_inputs,
    steps=STEPS,
    cases=which_inputs_cases,
    points=4,
    stretch=True,
    verified="Every dependence was found, small ones too, and those that cancel in a sum. Next: the receptive field of "
    "a patient.",
    hints=[
        "As in the leak test of lesson 04: run the model once as it is. Then change the vector at one position, in a "
        "copy, and run it again. The outputs that move depend on this position.",
        "That makes one column of the table. `torch.stack(columns, dim=1)` puts them side by side.",
        "What is changed should not be lost in a norm: to add 1 to all of a vector, or to double it, may change "
        "nothing. Random numbers of `torch.randn_like` are safe.",
        "An output is a vector, too. Take its largest difference, `.abs().amax(dim=-1)`: a sum may cancel.",
    ],
    mistakes=mistakes.MISTAKES,
)
