"""What goes wrong when inputs are changed, outputs are compared, and what moved becomes a table."""

import functools

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.which_inputs.answer import STEPS


def one_copy_for_all(x):
    return functools.partial(torch.Tensor.view_as, once := x.clone(), once)  # which has a state of its own


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
        does="all earlier inputs are changed, too, by earlier rounds",
        says=(
            "Together with an input, all those before it are changed: what one round changes stays changed. An output "
            "that moves may depend on any of them."
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
        "sums_of_the_outputs",
        STEPS.but(size=lambda: lambda differences: differences.sum(dim=-1).abs()),
        STEPS.but(size=lambda: lambda differences: differences.mean(dim=-1).abs()),
        does="the numbers of an output are added up with their signs, so that changes may cancel",
        says=(
            "The numbers of an output are added up with their signs, before changes or gradients are looked at. Where "
            "they always add up to the same, as those after a norm do, no dependence shows."
        ),
        hints=["An output changes by +1 and −1. What is the sum?"],
    ),
    Mistake(
        "one_answer_for_all_outputs",
        STEPS.but(size=lambda: lambda differences: differences.abs().max(), table=lambda columns: torch.stack(columns)),
        does="there is one answer for all outputs together",
        says=(
            "For each input there is one answer for all outputs together: whether any of them moves. Look at how many "
            "numbers become one."
        ),
        hints=["What shape is asked for, and what shape comes out?"],
    ),
]
