"""What goes wrong when outputs are compared, and what moved becomes a table."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.which_inputs.answer import STEPS


def square(columns, x):
    """Make a table with as many rows as there are inputs, and copy as much as fits."""
    table = torch.zeros(len(x), len(x), dtype=torch.bool)
    n = min(len(x), len(columns[0]))
    table[:n] = torch.stack(columns, dim=1)[:n]
    return table


def changes(model, x):
    """Yield the changes of all outputs for one input after another, at random."""
    before = model(x)
    for position in range(len(x)):
        changed = x.clone()
        changed[position] = torch.randn_like(x[position])
        yield model(changed) - before


def into_a_square(model, x):
    table = torch.zeros(len(x), len(x), dtype=torch.bool)
    for position, change in enumerate(changes(model, x)):
        table[:, position] = change.abs().amax(dim=-1) > 1e-5
    return table


MISTAKES = [
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
        STEPS.but(size=lambda: lambda differences: differences.abs().max().expand(len(differences))),
        does="there is one answer for all outputs together",
        says=(
            "For each input there is one answer for all outputs together: whether any of them moves. Look at how many "
            "numbers become one."
        ),
        hints=["What shape is asked for, and what shape comes out?"],
    ),
    Mistake(
        "as_many_outputs_as_inputs",
        STEPS.but(table=square),
        into_a_square,
        does="the table has as many rows as there are inputs",
        says=(
            "The table has as many rows as there are *inputs*. A model may have another number of outputs. Look at "
            "what the table is made with."
        ),
        hints=["For 5 inputs and 2 outputs, what shape should come out?"],
    ),
]
