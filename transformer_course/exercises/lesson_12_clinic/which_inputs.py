"""The receptive field: which outputs depend on which inputs."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def which_inputs(model: Callable[[Tensor], Tensor], x: Float[Tensor, "n_in d"]) -> Bool[Tensor, "n_out n_in"]:
    """Return on which inputs each output depends: entry i, j is True where output i changes with input j."""
    before = model(x)
    columns = []
    for position in range(len(x)):
        changed = x.clone()
        changed[position] = torch.randn_like(x[position])  # anything else: a shift alone, a norm may take out again
        columns.append((model(changed) - before).abs().amax(dim=-1) > 1e-5)
    return torch.stack(columns, dim=1)


def before(model, x):
    """run it on x as it is → the outputs for x as it is"""
    return model(x)


def positions(x):
    """go through all positions of x → the positions of x"""
    return range(len(x))


def copy(x):
    """copy x, for each position anew → what makes a fresh copy of x"""
    return x.clone


def place():
    """choose what to change: the vector at one position → the place that is changed: one position"""
    return lambda position: position


def another():
    """draw another vector → what makes another vector of a vector: random numbers"""
    return functools.partial(_draw, torch.Generator().manual_seed(0))  # the same for each mistake that is tried


def _draw(generator, vector):
    return torch.randn(vector.shape, generator=generator)


def change(copy, place, another):
    """write the other vector into the copy → x with one position changed"""

    def changed(position):
        x, where = copy(), place(position)
        x[where] = another(x[where])
        return x

    return changed


def differences():
    """subtract the outputs before from those after → the differences, (n_out, d_out)"""
    return lambda after, before: after - before


def size():
    """take the largest difference at each output → the size of the change at each output: its largest difference"""
    return lambda differences: differences.abs().amax(dim=-1)


def moved():
    """tell a change from rounding → whether a change is larger than rounding"""
    return lambda sizes: sizes > 1e-5


def columns(model, before, positions, change, differences, size, moved):
    """run it after each change, and note which outputs moved → for each input, which outputs change with it"""
    return [moved(size(differences(model(change(position)), before))) for position in positions]


def table(columns):
    """make a column of each input → the table: outputs down, inputs across"""
    return torch.stack(columns, dim=1)


STEPS = InSteps(
    before, positions, copy, place, another, change, differences, size, moved, columns, table, reference=which_inputs
)


SMALL_DEPENDENCE = 2.0**-8


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
        centered: bool = False,
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
            centered: Whether it changes nothing to add the same to all of an input, as before a norm.
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
        if centered:
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
        case(5, 4, 5, 4, "a shift of a whole input changes nothing", centered=True),
        case(4, 5, 4, 5, "a shift of an input changes nothing, and its numbers are alike", centered=True, alike=True),
        case(4, 6, 4, 5, "inputs of zeros", zeros=(0, 2, 5)),
        case(5, 6, 3, 4, "outputs that depend on their inputs a little", size=SMALL_DEPENDENCE),
        case(7, 8, 5, 6, "8 inputs, 7 outputs, which add up to 0", cancels=True, centered=True),
    ]


def one_copy_for_all(x):
    return functools.partial(torch.Tensor.view_as, once := x.clone(), once)  # which has a state of its own


MISTAKES = [
    Mistake(
        "adds_the_same_to_all",
        STEPS.but(another=lambda: lambda vector: vector + 1),
        summary="the same number is added to all numbers of an input",
        message=(
            "{summary}. A norm takes that out again, and so the dependence stays unseen. Look at how the input is "
            "changed."
        ),
        hints=["What does a layer norm make of x + 1?"],
    ),
    Mistake(
        "made_of_what_was_there",
        STEPS.but(another=lambda: lambda vector: 0 * vector),
        STEPS.but(another=lambda: lambda vector: 2 * vector),
        summary="the new input is the old one times a number, such as 0",
        message=(
            "{summary}, 2 or −1. Where it is zero already, nothing has been changed. Look at how the input is changed."
        ),
        hints=["What if the input is zero, as that of padding often is?"],
    ),
    Mistake(
        "the_other_axis_changed",
        STEPS.but(place=lambda: lambda position: (slice(None), position), positions=lambda x: range(x.shape[1])),
        summary="the same number of all inputs is changed, not one input",
        message=(
            "In each round one number of *all* inputs is changed: `x` has the shape (n_in, d), and its second axis is "
            "the width. Look at the index."
        ),
        hints=["What is `x[:, 0]`?"],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        summary="all earlier inputs are changed, too, by earlier rounds",
        message=(
            "Together with an input, all those before it are changed: what one round changes stays changed. An output "
            "that moves may depend on any of them."
        ),
        hints=["Print the changed x for every position, beside the old one. At how many positions do they differ?"],
    ),
    Mistake(
        "writes_into_x",
        STEPS.but(copy=lambda x: lambda: x),
        summary="`x` itself is changed, not a copy",
        message=(
            "x itself is changed, for every later round and for whoever called. `b = a` gives a tensor a second name "
            "and copies nothing."
        ),
        hints=["Print `x` before and after a call."],
    ),
    Mistake(
        "sums_of_the_outputs",
        STEPS.but(size=lambda: lambda differences: differences.sum(dim=-1).abs()),
        STEPS.but(size=lambda: lambda differences: differences.mean(dim=-1).abs()),
        summary="the numbers of an output are added up with their signs, so that changes may cancel",
        message=(
            "The numbers of an output are added up with their signs, before changes or gradients are looked at. Where "
            "they always add up to the same, as those after a norm do, no dependence shows."
        ),
        hints=["An output changes by +1 and −1. What is the sum?"],
    ),
    Mistake(
        "one_answer_for_all_outputs",
        STEPS.but(size=lambda: lambda differences: differences.abs().max(), table=lambda columns: torch.stack(columns)),
        summary="there is one answer for all outputs together",
        message=(
            "For each input there is one answer for all outputs together: whether any of them moves. Look at how many "
            "numbers become one."
        ),
        hints=["What shape is asked for, and what shape comes out?"],
    ),
]


EXERCISE = Exercise(
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
