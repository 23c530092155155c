"""The gradient norm of each parameter, which reveals layers that do not learn."""

import torch
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """Return each parameter's gradient norm, keyed by parameter name (0 if the parameter has no gradient)."""
    return {
        name: 0.0 if parameter.grad is None else parameter.grad.norm().item()
        for name, parameter in model.named_parameters()
    }


def parameters(model):
    """list the parameters with their names → the named parameters: each once"""
    return list(model.named_parameters())


def listed():
    """include every parameter, with or without a gradient → the test for including a parameter: always True"""
    return lambda name, parameter: True


def gradient():
    """take the gradient of a parameter → the gradient of a parameter: its `grad`, or None"""
    return lambda parameter: parameter.grad


def missing():
    """use 0 for a missing gradient → the value used for a missing gradient: 0"""
    return lambda parameter: 0.0


def squares():
    """square the entries of the gradient → the squared entries"""
    return lambda gradient: gradient.square()


def total():
    """sum the squares → the sum of the squares"""
    return lambda squares: squares.sum()


def root():
    """take the square root of the sum → the square root of the sum"""
    return lambda total: total.sqrt()


def number():
    """convert the norm to a Python number → the norm as a Python number"""
    return lambda norm: norm.item()


def norm(gradient, missing, squares, total, root, number):
    """compute the norm of each gradient → the norm of a parameter's gradient"""

    def of(parameter):
        arrived = gradient(parameter)
        return missing(parameter) if arrived is None else number(root(total(squares(arrived))))

    return of


def key():
    """use the parameter's name as the key → the key of a norm: the name of its parameter"""
    return lambda name, index: name


def norms(parameters, listed, norm, key):
    """collect names and norms in a dict → the norms by name"""
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
            "a gradient whose entries add up to 0",
            **with_gradient("w.weight", 3, 4),
            **{"w.bias": normal(rng, 3), "w.bias.grad": torch.tensor([3.0, -1.0, -2.0])},
        ),
        case("a gradient of size 1e-8", **with_gradient("w.weight", 3, 4), **with_gradient("w.bias", 3, size=1e-8)),
        case(
            "a frozen parameter, and one that is not in a layer",
            **with_gradient("scale"),
            **with_gradient("gates.weight", 2, 2, 3),
            frozen=normal(rng, 5),
        ),
        case(
            "an embedding tied to the output layer",
            **with_gradient("embedding.weight", 7, 3),
            **with_gradient("norm.weight", 3),
            tied=torch.tensor(True),
        ),
        case(
            "3 layers, a tied embedding, a matrix that no gradient reaches",
            **with_gradient("embedding.weight", 11, 5),
            **layers(3, 5, 8),
            **{"adapter.weight": normal(rng, 5, 2)},
            tied=torch.tensor(True),
        ),
    ]


def of_each_child(model):
    """Return one gradient norm for each layer of the model, over all its parameters."""

    def total(child):
        return sum((p.grad**2).sum() for p in child.parameters() if p.grad is not None)

    return {name: float(total(child)) ** 0.5 for name, child in model.named_children()}


def as_it_is():
    return lambda value: value


def of_absolute_numbers(total):
    return STEPS.but(squares=lambda: lambda gradient: gradient.abs(), total=lambda: total, root=as_it_is)


def of_signed_numbers(total):
    return STEPS.but(squares=as_it_is, total=lambda: total, root=as_it_is)


def rounded(digits):
    return lambda: lambda norm: round(norm.item(), digits)


MISTAKES = [
    Mistake(
        "those_without_a_gradient_left_out",
        STEPS.but(listed=lambda gradient: lambda name, parameter: gradient(parameter) is not None),
        summary="you leave out the parameters without a gradient",
        message=(
            "{summary}, but these are the parameters that you want to find. Which norm should you return when `grad` "
            "is None?"
        ),
        hints=[
            "How many names are in your dict, and how many parameters does the model have?",
            "Every name from `model.named_parameters()` should be a key of your dict, even if `grad` is None.",
            "In the loop, use `0.0` as the norm if `parameter.grad is None`.",
        ],
    ),
    Mistake(
        "mean_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.mean()),
        summary="you take the mean of the absolute values instead of the norm",
        message="{summary}. For a gradient of [3, 4], you get 3.5, but the norm is the length of the vector, 5.",
        hints=[
            "How long is the vector [3, 4]? What do you get?",
            "The Euclidean norm is the square root of the sum of the squared entries.",
            "`parameter.grad.norm()` computes it.",
        ],
    ),
    Mistake(
        "numbers_that_cancel",
        of_signed_numbers(lambda numbers: numbers.sum()),
        of_signed_numbers(lambda numbers: numbers.mean()),
        summary="you add up the entries of a gradient with their signs",
        message=(
            "{summary}, so for a gradient of [3, −3] you get 0 instead of √18 = 4.24. What should you do to each entry "
            "before the sum?"
        ),
        hints=[
            "How long is the vector [3, −3]?",
            "The norm is the square root of the sum of the *squared* entries, so no entries cancel.",
            "`parameter.grad.norm()` computes it.",
        ],
    ),
    Mistake(
        "norms_of_the_parameters",
        STEPS.but(gradient=lambda: lambda parameter: parameter.detach()),
        STEPS.but(gradient=lambda: lambda parameter: None if parameter.grad is None else parameter.detach()),
        summary="you take the norm of the parameter instead of its gradient",
        message=(
            "{summary}, so even a parameter that receives no gradient shows a norm above 0. Which tensor does "
            "`loss.backward()` fill?"
        ),
        hints=[
            "Does your result change if you run another `loss.backward()` without an optimizer step? Should it?",
            "After `loss.backward()`, the gradient of a parameter is in its `grad`.",
            "`parameter.grad.norm().item()`, or 0.0 if `parameter.grad is None`.",
        ],
    ),
    Mistake(
        "one_norm_for_each_module",
        of_each_child,
        message=(
            "You combine the parameters of each module into one norm, so a bias that learns hides a weight that "
            "doesn't. Return one norm for each *parameter*."
        ),
        hints=[
            "How many names are in your dict, and how many parameters does the model have?",
            "A bias may learn while the weight next to it doesn't, so each needs a norm of its own.",
            "Add one entry in each iteration of `for name, parameter in model.named_parameters()`.",
        ],
    ),
    Mistake(
        "frozen_ones_left_out",
        STEPS.but(listed=lambda: lambda name, parameter: parameter.requires_grad),
        summary="you leave out frozen parameters",
        message=(
            "{summary}, so a layer that you froze by accident is missing from your dict. Which norm should a "
            "parameter without a gradient have?"
        ),
        hints=[
            "How many names are in your dict, and how many parameters does the model have?",
            "A frozen parameter has no gradient, so its norm is 0, as for any other parameter without one.",
            "Remove the check of `requires_grad`.",
        ],
    ),
    Mistake(
        "rounded_norms",
        *[STEPS.but(number=rounded(digits)) for digits in (2, 3, 4, 6)],
        summary="you round the norms",
        message="{summary}, so a norm of 10⁻⁸ becomes 0, as if no gradient had arrived.",
        hints=[
            "What does your code return for a norm of 0.00000002? How does that differ from a missing gradient?",
            "Return the norm with all of its digits.",
            "`parameter.grad.norm().item()`, without `round`.",
        ],
    ),
    Mistake(
        "short_names",
        STEPS.but(key=lambda: lambda name, index: name.rpartition(".")[2]),
        STEPS.but(key=lambda: lambda name, index: name.partition(".")[0]),
        summary="you shorten the names of the parameters",
        message="{summary}, so parameters of different layers overwrite each other. Use the whole name.",
        hints=[
            "What are the names of the weights of two layers, and what are the keys of your dict?",
            "`model.named_parameters()` gives each parameter a different name.",
            "Use the `name` from `for name, parameter in model.named_parameters()` as the key, unchanged.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=gradient_norms,
    steps=STEPS,
    cases=gradient_norms_cases,
    points=2,
    verified="You return the norm of every parameter's gradient under the parameter's name, and 0 if there is no "
    "gradient.",
    hints=[
        "After `loss.backward()`, what is the `grad` of a parameter that the loss depends on? And of one that it "
        "doesn't depend on?",
        "A gradient is a tensor of its parameter's shape, or None if no gradient has arrived. Its norm is the square "
        "root of the sum of its squares: `.norm()`.",
        "`model.named_parameters()` yields each parameter once, with its name. Fill a dict in a loop.",
        "`norms[name] = parameter.grad.norm().item()`, or 0.0 if `parameter.grad is None`.",
    ],
    messages={
        "sibling_total: squares.amax()": Wording(
            "{summary}. For a gradient of [3, 4], you get 4, but the norm is 5. Which entries should count?",
            summary="you use only the entry of each gradient with the largest absolute value",
        ),
        "sibling_total: squares.mean()": Wording(
            "{summary}. For a gradient of [3, 4], you get √12.5 = 3.5, but the norm is √25 = 5.",
            summary="you average the squared entries of a gradient instead of adding them up",
        ),
        "call_left_out_root": Wording(
            "{summary}. For a gradient of [3, 4], you get 25, but the norm is 5. Which operation is missing?",
            summary="you never take the square root of the sum of the squares",
        ),
        "number_missing": Wording(
            "{summary}, so a parameter without a gradient looks as if it had one. Which norm should you return when "
            "`grad` is None?",
            summary="you use a number other than 0 for a missing gradient",
        ),
    },
    mistakes=MISTAKES,
)
