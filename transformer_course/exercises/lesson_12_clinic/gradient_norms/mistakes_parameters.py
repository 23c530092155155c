"""What goes wrong when parameters and their gradients are listed."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS, gradient_norms

MESSAGES = [
    *[
        AttributeError(f"'NoneType' object has no attribute '{name}'")
        for name in ("norm", "square", "pow", "abs", "detach", "data", "flatten", "view", "float", "item")
    ],
    TypeError("unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'"),
    TypeError("linalg_vector_norm(): argument 'x' (position 1) must be Tensor, not NoneType"),
]
"""What a norm of None ends with."""


def raising(error):
    """Make the answer that computes the norm of None."""

    def fails(parameter):
        raise type(error)(*error.args)

    return STEPS.but(missing=lambda: fails)


def clears(model):
    norms = gradient_norms(model)
    model.zero_grad()
    return norms


def fills_with_zeros(model):
    norms = gradient_norms(model)
    model.zero_grad(set_to_none=False)
    return norms


def squares_in_place(model):
    return {
        name: 0.0 if p.grad is None else p.grad.square_().sum().sqrt().item() for name, p in model.named_parameters()
    }


def clips(model):
    return {name: torch.nn.utils.clip_grad_norm_(p, 1.0).item() for name, p in model.named_parameters()}


MISTAKES = [
    Mistake(
        "those_without_a_gradient_left_out",
        STEPS.but(listed=lambda gradient: lambda name, parameter: gradient(parameter) is not None),
        does="parameters that no gradient has reached are left out",
        says=(
            "Parameters that no gradient has reached are missing, and they are what an examination looks for. Look at "
            "what becomes of a `grad` that is None."
        ),
        hints=["How many names are in the dict, and how many has the model?"],
    ),
    Mistake(
        "fails_without_a_gradient",
        *[raising(error) for error in MESSAGES],
        does="the norm of None is asked for where no gradient has arrived",
        says="It crashes where no gradient has arrived: `grad` is None there. Look at what is called of it.",
        hints=["What is the `grad` of a parameter that the loss does not depend on?"],
    ),
    Mistake(
        "shared_ones_twice",
        STEPS.but(parameters=lambda model: list(model.named_parameters(remove_duplicate=False))),
        does="a parameter that two modules share is listed under both names",
        says=(
            "A parameter that two modules share is listed twice. It is one tensor, with one gradient. Look at how the "
            "parameters are listed."
        ),
        hints=["How many names are in the dict, and how many does `model.named_parameters()` give?"],
    ),
    Mistake(
        "the_models_own_only",
        STEPS.but(parameters=lambda model: list(model.named_parameters(recurse=False))),
        does="only the model's own parameters are listed, not those of its layers",
        says="Only the model's own parameters are listed, not those of the modules inside it: its layers.",
        hints=["How many names are in the dict, and how many does `model.named_parameters()` give?"],
    ),
    Mistake(
        "one_norm_for_all",
        STEPS.but(norms=lambda norms: sum(norm**2 for norm in norms.values()) ** 0.5).attempt,
        says="One norm of all gradients together comes out. One for each parameter is asked for, by its name.",
        hints=[
            "What does the annotation after `->` promise?",
            "Which layer is it that learns nothing? One number cannot tell.",
            "A dict with one entry for each of `model.named_parameters()`.",
        ],
    ),
    Mistake(
        "changes_the_gradients",
        clears,
        fills_with_zeros,
        squares_in_place,
        clips,
        says=(
            "The norms are asked for, and the gradients change: the optimizer's next step would be another one. An "
            "examination should leave the model as it was. Look for what writes into `grad`."
        ),
        hints=[
            "Print the gradient of a parameter before the call and after it.",
            "What ends in `_`, as `square_` does, writes into its tensor, and `zero_grad` does, too.",
            "Only read `parameter.grad`: `parameter.grad.norm().item()`.",
        ],
    ),
]
