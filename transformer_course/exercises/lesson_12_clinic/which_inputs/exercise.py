"""The receptive field: which outputs depend on which inputs."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_12_clinic.which_inputs.answer import STEPS, which_inputs
from transformer_course.exercises.lesson_12_clinic.which_inputs.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

SMALL = 2.0**-8
"""The size of a dependence that is easily taken for rounding."""


def which_inputs_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def exact(*shape: int) -> Tensor:
        """Draw numbers, none of them 0, whose products and sums are not rounded, so that what cancels is 0."""
        numbers = 0.25 + (4 * normal(rng, *shape).abs()).round() / 4
        return torch.where(torch.rand(shape, generator=rng) < 0.5, -numbers, numbers)

    def case(
        n_out: int,
        n_in: int,
        d: int,
        d_out: int,
        shows: str,
        *,
        depends: Tensor | None = None,
        size: float = 1.0,
        zeros: tuple[int, ...] = (),
        centred: bool = False,
        cancels: bool = False,
        unused: int | None = None,
        silent: int | None = None,
        alike: bool = False,
    ) -> Case:
        """Describe a model by which outputs depend on which inputs.

        Args:
            n_out: The number of outputs.
            n_in: The number of inputs.
            d: The width of an input.
            d_out: The width of an output.
            shows: What the case shows.
            depends: Which outputs depend on which inputs; None means any.
            size: How much.
            zeros: Inputs that are 0.
            centred: Whether it changes nothing to add the same to all of an input, as before a norm.
            cancels: Whether the numbers of an output add up to 0, as after a norm.
            unused: A number of an input that is not used.
            silent: A number of an output that is always 0.
            alike: Whether the numbers of an input are all the same.
        """
        if depends is None:
            depends = torch.rand(n_out, n_in, generator=rng) < 0.5
            depends[int(torch.randint(n_out, (), generator=rng))] = True
        projection = exact(d, d_out)
        if unused is not None:
            projection[unused] = 0.0
        if silent is not None:
            projection[:, silent] = 0.0
        if centred:
            projection[-1] = -projection[:-1].sum(dim=0)
        if cancels:
            projection[:, -1] = -projection[:, :-1].sum(dim=1)
        x = exact(n_in, d)
        x[list(zeros)] = 0.0
        if alike:
            x[:] = x[:, :1].clone()
        mixing = exact(n_out, n_in)
        mixing = size * depends * (mixing + mixing.sign())
        model = describe_model("position_mixer", mixing=mixing, projection=projection)
        return Case({"model": model, "x": x}, shows)

    first = torch.tensor([[True, False]])
    return [
        case(1, 2, 2, 3, "one output that depends on the first of two inputs", depends=first),
        case(3, 3, 2, 2, "3 inputs, 3 outputs"),
        case(4, 4, 3, 5, "a causal model of 4 positions", depends=torch.ones(4, 4).tril().bool()),
        case(4, 4, 3, 2, "a model of 4 positions that only sees what follows", depends=torch.ones(4, 4).triu(1).bool()),
        case(2, 5, 3, 4, "5 inputs, 2 outputs"),
        case(6, 3, 4, 3, "3 inputs, 6 outputs"),
        case(4, 4, 3, 4, "the first number of an input is not used", unused=0),
        case(5, 4, 3, 4, "the last number of an input is not used", unused=-1),
        case(4, 5, 3, 4, "the first number of an output is always 0", silent=0),
        case(3, 5, 4, 3, "the last number of an output is always 0", silent=-1),
        case(4, 5, 4, 6, "outputs that always add up to 0", cancels=True),
        case(5, 4, 5, 4, "a shift of a whole input changes nothing", centred=True),
        case(4, 5, 4, 5, "a shift of an input changes nothing, and its numbers are alike", centred=True, alike=True),
        case(4, 6, 4, 5, "inputs of zeros", zeros=(0, 2, 5)),
        case(5, 6, 3, 4, "outputs that depend on their inputs a little", size=SMALL),
        case(7, 8, 5, 6, "8 inputs, 7 outputs, which add up to 0", cancels=True, centred=True),
    ]


WHICH_INPUTS = Exercise(
    reference=which_inputs,
    steps=STEPS,
    cases=which_inputs_cases,
    points=4,
    stretch=True,
    verified="Every dependence was found, small ones too, and those that cancel in a sum.",
    hints=[
        "As in the leak test of lesson 04: run the model once as it is. Then change the vector at one position, in a "
        "copy, and run it again. The outputs that move depend on this position.",
        "That makes one column of the table. `torch.stack(columns, dim=1)` puts them side by side.",
        "What is changed should not be lost in a norm: to add 1 to all of a vector, or to double it, may change "
        "nothing. Random numbers of `torch.randn_like` are safe.",
        "An output is a vector, too. Take its largest difference, `.abs().amax(dim=-1)`: a sum may cancel.",
    ],
    mistakes=MISTAKES,
)
