"""What goes wrong when inputs are changed, or gradients are asked in place of changes."""

import functools

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.which_inputs.answer import STEPS


def one_copy_for_all(x):
    return functools.partial(torch.Tensor.view_as, once := x.clone(), once)  # which has a state of its own


def with_gradients(rows):
    """Make an answer of what is done with x, to which gradients arrive, and the outputs."""

    def which_inputs(model, x):
        x = x.detach().clone().requires_grad_()
        return torch.stack(list(rows(x, model(x))))

    return which_inputs


def accumulated_sums(x, outputs):
    for output in outputs:
        output.sum().backward(retain_graph=True)
        yield x.grad.ne(0).any(dim=-1)


def accumulated(x, outputs):
    for output in outputs:
        (output * torch.randn_like(output)).sum().backward(retain_graph=True)
        yield x.grad.ne(0).any(dim=-1)


MISTAKES = [
    Mistake(
        "adds_the_same_to_all",
        STEPS.but(another=lambda: lambda vector: vector + 1),
        does="the same number is added to all numbers of an input",
        says=(
            "{does}. A norm takes that out again, and so the dependence stays unseen. Look at how the input is changed."
        ),
        hints=["What does a layer norm make of x + 1?"],
    ),
    Mistake(
        "made_of_what_was_there",
        STEPS.but(another=lambda: lambda vector: 0 * vector),
        STEPS.but(another=lambda: lambda vector: 2 * vector),
        STEPS.but(another=lambda: lambda vector: -vector),
        does="the new input is the old one times a number, such as 0",
        says="{does}, 2 or −1. Where it is zero already, nothing has been changed. Look at how the input is changed.",
        hints=["What if the input is zero, as that of padding often is?"],
    ),
    Mistake(
        "the_other_axis_changed",
        STEPS.but(place=lambda: lambda position: (slice(None), position), positions=lambda x: range(x.shape[1])),
        does="the same number of all inputs is changed, not one input",
        says=(
            "In each round one number of *all* inputs is changed: `x` has the shape (n_in, d), and its second axis is "
            "the width. Look at the index."
        ),
        hints=["What is `x[:, 0]`?"],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        STEPS.but(place=lambda: lambda position: slice(None, position + 1)),
        does="all earlier inputs are changed, too, at once or by earlier rounds",
        says=(
            "Together with an input, all those before it are changed, at once or because what one round changes stays "
            "changed in the next. An output that moves may depend on any of them."
        ),
        hints=["Print the changed x for every position, beside the old one. At how many positions do they differ?"],
    ),
    Mistake(
        "writes_into_x",
        STEPS.but(copy=lambda x: lambda: x),
        does="`x` itself is changed, not a copy",
        says=(
            "x itself is changed, for every later round and for whoever called. `b = a` gives a tensor a second name "
            "and copies nothing."
        ),
        hints=["Print `x` before and after a call."],
    ),
    Mistake(
        "gradients_pile_up",
        with_gradients(accumulated),
        with_gradients(accumulated_sums),
        says=(
            "Each row has the inputs of the rows before it as well: `backward` *adds* to the gradient that is there. "
            "Look at what is done between two outputs."
        ),
        hints=[
            "What is in `x.grad` after the second `backward`?",
            "The gradient has to be cleared for each output.",
            "`x.grad = None` before each `backward`, or `torch.autograd.grad`.",
        ],
    ),
]
