"""How large the gradient of each parameter is, which shows where learning does not arrive."""

import torch
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """Return the norm of each parameter's gradient by the parameter's name: 0 where no gradient has arrived."""
    return {
        name: 0.0 if parameter.grad is None else parameter.grad.norm().item()
        for name, parameter in model.named_parameters()
    }


def parameters(model):
    """list the parameters with their names → the parameters with their names, each once"""
    return list(model.named_parameters())


def listed():
    """list them all, trained or not → whether a parameter is listed: always"""
    return lambda name, parameter: True


def gradient():
    """take the gradient of a parameter → the gradient of a parameter, or None: its `grad`"""
    return lambda parameter: parameter.grad


def missing():
    """take 0 where no gradient has arrived → the number for a missing gradient: 0"""
    return lambda parameter: 0.0


def squares():
    """square the numbers of a gradient → the squares of the numbers of a gradient"""
    return lambda gradient: gradient.square()


def total():
    """add the squares up → the sum of the squares"""
    return lambda squares: squares.sum()


def root():
    """take the root of the sum → the root of the sum of the squares"""
    return lambda total: total.sqrt()


def number():
    """make a plain number of it → the norm as a plain number"""
    return lambda norm: norm.item()


def norm(gradient, missing, squares, total, root, number):
    """find the norm of the gradient of each parameter → the norm of the gradient of a parameter"""

    def of(parameter):
        arrived = gradient(parameter)
        return missing(parameter) if arrived is None else number(root(total(squares(arrived))))

    return of


def key():
    """call each by its name → the key of a norm: the name of its parameter"""
    return lambda name, index: name


def norms(parameters, listed, norm, key):
    """make a dict of names and norms → the norms by name"""
    of_all = [(name, parameter) for name, parameter in parameters if listed(name, parameter)]
    return {key(name, index): norm(parameter) for index, (name, parameter) in enumerate(of_all)}


STEPS = InSteps(
    parameters, listed, gradient, missing, squares, total, root, number, norm, key, norms, reference=gradient_norms
)


def gradient_norms_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def with_gradient(name: str, *shape: int, size: float = 1.0) -> dict[str, Tensor]:
        return {name: torch.randn(shape, generator=rng), f"{name}.grad": size * torch.randn(shape, generator=rng)}

    def case(shows: str, **tables: Tensor) -> Case:
        return Case({"model": describe_model("after_backward", **tables)}, shows)

    def layers(n_layers: int, d: int, d_ff: int) -> dict[str, Tensor]:
        tables: dict[str, Tensor] = {}
        for layer in range(n_layers):
            tables |= with_gradient(f"layers.{layer}.w_1.weight", d_ff, d, size=1000.0**-layer)
            tables |= with_gradient(f"layers.{layer}.w_1.bias", d_ff)
            tables |= with_gradient(f"layers.{layer}.norm.weight", d, size=3.0)
        return tables

    return [
        case("a matrix", **with_gradient("weight", 2, 3)),
        case("a matrix and a bias", **with_gradient("linear.weight", 4, 3), **with_gradient("linear.bias", 4)),
        case(
            "a matrix that no gradient reaches",
            **with_gradient("linear.weight", 3, 2),
            **{"unused.weight": normal(rng, 5, 2)},
        ),
        case("a gradient of zeros", **with_gradient("w.weight", 3, 4), **with_gradient("w.bias", 3, size=0.0)),
        case(
            "a gradient whose numbers add up to 0",
            **with_gradient("w.weight", 3, 4),
            **{"w.bias": normal(rng, 3), "w.bias.grad": torch.tensor([3.0, -1.0, -2.0])},
        ),
        case("a gradient of size 1e-8", **with_gradient("w.weight", 3, 4), **with_gradient("w.bias", 3, size=1e-8)),
        case(
            "a parameter that is frozen, and one that belongs to no layer",
            **with_gradient("scale"),
            **with_gradient("gates.weight", 2, 2, 3),
            frozen=normal(rng, 5),
        ),
        case(
            "an embedding that the output layer shares",
            **with_gradient("embedding.weight", 7, 3),
            **with_gradient("norm.weight", 3),
            tied=torch.tensor(True),
        ),
        case(
            "3 layers, an embedding that the output layer shares, a matrix that no gradient reaches",
            **with_gradient("embedding.weight", 11, 5),
            **layers(3, 5, 8),
            **{"adapter.weight": normal(rng, 5, 2)},
            tied=torch.tensor(True),
        ),
    ]


def of_each_child(model):
    """Put all the parameters of a layer of the model together."""

    def total(child):
        return sum((p.grad**2).sum() for p in child.parameters() if p.grad is not None)

    return {name: float(total(child)) ** 0.5 for name, child in model.named_children()}


def as_it_is():
    return lambda value: value


def of_absolute_numbers(total):
    return STEPS.but(squares=lambda: lambda gradient: gradient.abs(), total=lambda: total, root=as_it_is)


def of_signed_numbers(total):
    return STEPS.but(squares=as_it_is, total=lambda: total, root=as_it_is)


MISTAKES = [
    Mistake(
        "those_without_a_gradient_left_out",
        STEPS.but(listed=lambda gradient: lambda name, parameter: gradient(parameter) is not None),
        summary="parameters that no gradient has reached are left out",
        message=(
            "Parameters that no gradient has reached are missing, and they are what an examination looks for. Look at "
            "what becomes of a `grad` that is None."
        ),
        hints=["How many names are in the dict, and how many has the model?"],
    ),
    Mistake(
        "mean_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.mean()),
        summary="the mean of the absolute numbers is taken",
        message="{summary}. The norm of a vector is its length.",
    ),
    Mistake(
        "numbers_that_cancel",
        of_signed_numbers(lambda numbers: numbers.sum()),
        of_signed_numbers(lambda numbers: numbers.mean()),
        summary="the numbers are added up with their signs",
        message=(
            "The numbers of a gradient are added up with their signs, so that they cancel: a large gradient may show "
            "as 0. Look at what is done before the sum."
        ),
        hints=["What comes out for a gradient of 3 and −3?"],
    ),
    Mistake(
        "norms_of_the_parameters",
        STEPS.but(gradient=lambda: lambda parameter: parameter.detach()),
        STEPS.but(gradient=lambda: lambda parameter: None if parameter.grad is None else parameter.detach()),
        summary="the norm is that of the parameter itself, not of its gradient",
        message="The norms are those of the parameters themselves. Look at which tensor the norm is taken of.",
    ),
    Mistake(
        "one_norm_for_each_module",
        of_each_child,
        message="The parameters of each module are put together. One norm for each *parameter* is asked for.",
        hints=[
            "How many names are in the dict, and how many has the model?",
            "A bias may learn where the weight beside it does not.",
            "`for name, parameter in model.named_parameters()`, and one entry for each.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=gradient_norms,
    steps=STEPS,
    cases=gradient_norms_cases,
    points=2,
    verified="Every parameter has its norm, under its own name, and one that no gradient reaches shows as 0.",
    hints=[
        "After `loss.backward()`, the gradient of a parameter is its `grad`: a tensor of the same shape, or None where "
        "no gradient has arrived.",
        "`model.named_parameters()` gives each parameter once, with its name. The norm of a tensor is the root of the "
        "sum of its squares: `.norm()`.",
        "Fill a dict in a loop: `norms[name] = parameter.grad.norm().item()`, and 0.0 where `parameter.grad is None`.",
    ],
    mistakes=MISTAKES,
)
