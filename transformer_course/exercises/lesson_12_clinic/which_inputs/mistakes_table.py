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


def amounts(model, x):
    return torch.stack([change.abs().amax(dim=-1) for change in changes(model, x)], dim=1)


def one_after_another(model, before, positions, change, differences, size, moved):
    found = []
    for position in positions:
        after = model(change(position))
        found.append(moved(size(differences(after, before))))
        before = after
    return found


MISTAKES = [
    Mistake(
        "inputs_down_outputs_across",
        STEPS.but(table=lambda columns: torch.stack(columns, dim=0)),
        does="the inputs go down and the outputs across",
    ),
    Mistake(
        "turned_round",
        STEPS.but(table=lambda table: ~table),
        STEPS.but(moved=lambda: lambda sizes: sizes < 1e-5).attempt,
        does="the table says True for False",
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
        "only_what_grows",
        STEPS.but(size=lambda: lambda differences: differences.amax(dim=-1)),
        does="an output counts as moved only if one of its numbers grows",
    ),
    Mistake(
        "every_number_has_to_move",
        STEPS.but(size=lambda: lambda differences: differences.abs().amin(dim=-1)),
        does="an output counts as moved only if all of its numbers move",
    ),
    Mistake(
        "only_one_number_of_an_output",
        STEPS.but(size=lambda: lambda differences: differences[:, 0].abs()),
        STEPS.but(size=lambda: lambda differences: differences[:, -1].abs()),
        does="only one number of each output is compared",
        says="{does}. Another may be the one that moves. Look at the index.",
        hints=["An output is a vector. How much of it is compared?"],
    ),
    Mistake(
        "the_width_left_in",
        STEPS.but(size=lambda: lambda differences: differences.abs()),
        does="there is an answer for every number of an output",
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
        "a_small_dependence_does_not_count",
        STEPS.but(moved=lambda: lambda sizes: sizes > 0.1),
        does="a small change of an output does not count",
    ),
    Mistake(
        "amounts_in_place_of_answers",
        STEPS.but(moved=lambda: lambda sizes: sizes),
        amounts,
        lambda model, x: torch.autograd.functional.jacobian(model, x).abs().amax(dim=(1, 3)),
        STEPS.but(table=lambda table: table.float()),
        STEPS.but(table=lambda table: table.long()),
        does="numbers come out, not True and False",
        says="Numbers come out. A table of True and False is asked for.",
        hints=["What does `.dtype` say of the result?"],
    ),
    Mistake(
        "skips_the_first_input",
        STEPS.but(positions=lambda x: range(1, len(x))),
        STEPS.but(table=lambda table: table & (torch.arange(table.shape[1]) > 0)),
        does="the first input is never changed",
        hints=["For two inputs, how many columns are there?"],
    ),
    Mistake(
        "skips_the_last_input",
        STEPS.but(positions=lambda x: range(len(x) - 1)),
        STEPS.but(table=lambda table: table & (torch.arange(table.shape[1]) < table.shape[1] - 1)),
        does="the last input is never changed",
        hints=["For two inputs, how many columns are there?"],
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
    Mistake(
        "takes_the_model_for_causal",
        STEPS.but(table=lambda table: table.tril()),
        STEPS.but(table=lambda table: table.triu(1)),
        does="only one side of the diagonal is looked at",
        says=(
            "{does}: what comes before, or what follows. A model may look at any input, and a fault is where nobody "
            "expects it."
        ),
        hints=["Take a model that only sees what follows. What comes out?"],
    ),
    Mistake(
        "compared_with_the_round_before",
        STEPS.but(columns=one_after_another),
        does="outputs are compared with those of the round before",
        says=(
            "The outputs of each round are compared with those of the round before it, in which another input was "
            "changed: the inputs of two rounds are mixed up."
        ),
        hints=["Which two inputs differ between two rounds?"],
    ),
]
