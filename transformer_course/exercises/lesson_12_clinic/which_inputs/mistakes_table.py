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
        says="The table lies on its side: inputs go down and outputs across. Look at how the columns are joined.",
        hints=[
            "For 5 inputs and 2 outputs, what shape should come out?",
            "The change of one input gives one *column*.",
            "`torch.stack(columns, dim=1)`.",
        ],
    ),
    Mistake(
        "turned_round",
        STEPS.but(table=lambda table: ~table),
        STEPS.but(moved=lambda: lambda sizes: sizes < 1e-5).attempt,
        does="the table says True for False",
        says="True and False are exchanged: the table tells on which inputs an output does *not* depend.",
        hints=[
            "For a causal model, on which side of the diagonal is it True?",
            "An output that moves depends on what was changed.",
            "`> 1e-5`, or one `not` fewer.",
        ],
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
        hints=[
            "An output changes by +1 and −1. What is the sum?",
            "A single number that moves is enough, and each of them has a gradient of its own.",
            "`.abs().amax(dim=-1)`.",
        ],
    ),
    Mistake(
        "only_what_grows",
        STEPS.but(size=lambda: lambda differences: differences.amax(dim=-1)),
        does="an output counts as moved only if one of its numbers grows",
        says=(
            "An output counts only if one of its numbers becomes *larger*. Those that become smaller move as well. "
            "Look at the sign."
        ),
        hints=[
            "An output moves from 5 to 2. Is the difference above the tolerance?",
            "First leave out the sign, then compare.",
            "`.abs().amax(dim=-1)`.",
        ],
    ),
    Mistake(
        "every_number_has_to_move",
        STEPS.but(size=lambda: lambda differences: differences.abs().amin(dim=-1)),
        does="an output counts as moved only if all of its numbers move",
        says=(
            "An output counts only if *every* one of its numbers moves. Some of them may stay as they were. Look at "
            "how the numbers of a vector become one."
        ),
        hints=[
            "Of three numbers of an output, two move. Does it depend on the input?",
            "A single number that moves is enough.",
            "`.amax(dim=-1)` in place of `.amin`, or `.any(dim=-1)` in place of `.all`.",
        ],
    ),
    Mistake(
        "only_one_number_of_an_output",
        STEPS.but(size=lambda: lambda differences: differences[:, 0].abs()),
        STEPS.but(size=lambda: lambda differences: differences[:, -1].abs()),
        does="only one number of each output is compared",
        says="{does}. Another may be the one that moves. Look at the index.",
        hints=[
            "An output is a vector. How much of it is compared?",
            "A single number that moves is enough, and it may be any of them.",
            "`.abs().amax(dim=-1)`.",
        ],
    ),
    Mistake(
        "the_width_left_in",
        STEPS.but(size=lambda: lambda differences: differences.abs()),
        does="there is an answer for every number of an output",
        says="There is an answer for each number of an output. One for each *output* is asked for.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Which axis of the differences is the width of an output?",
            "`.amax(dim=-1)`, or `.any(dim=-1)`.",
        ],
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
        hints=[
            "What shape is asked for, and what shape comes out?",
            "The maximum should be taken over the width alone.",
            "`.amax(dim=-1)`, not `.max()`.",
        ],
    ),
    Mistake(
        "a_small_dependence_does_not_count",
        STEPS.but(moved=lambda: lambda sizes: sizes > 0.1),
        does="a small change of an output does not count",
        says=(
            "A small dependence is missed: the tolerance is wide. Training may make it larger. Look at the number that "
            "differences are compared with."
        ),
        hints=[
            "How large is a difference that comes from rounding?",
            "Where no dependence is, nothing moves at all.",
            "`> 1e-5`.",
        ],
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
        hints=[
            "What does `.dtype` say of the result?",
            "What makes a bool of a size?",
            "`> 1e-5`.",
        ],
    ),
    Mistake(
        "skips_the_first_input",
        STEPS.but(positions=lambda x: range(1, len(x))),
        STEPS.but(table=lambda table: table & (torch.arange(table.shape[1]) > 0)),
        does="the first input is never changed",
        says="{does}. Look at where the positions begin.",
        hints=[
            "For two inputs, how many columns are there?",
            "In the leak test, nothing comes before position 0. Here it is an input as any other.",
            "`range(len(x))`.",
        ],
    ),
    Mistake(
        "skips_the_last_input",
        STEPS.but(positions=lambda x: range(len(x) - 1)),
        STEPS.but(table=lambda table: table & (torch.arange(table.shape[1]) < table.shape[1] - 1)),
        does="the last input is never changed",
        says="{does}. Look at where the positions end.",
        hints=[
            "For two inputs, how many columns are there?",
            "`range(n)` leaves its end out by itself.",
            "`range(len(x))`.",
        ],
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
        hints=[
            "For 5 inputs and 2 outputs, what shape should come out?",
            "The number of outputs is known once the model has been called.",
            "`len(model(x))` rows and `len(x)` columns.",
        ],
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
        hints=[
            "Take a model that only sees what follows. What comes out?",
            "All outputs should be compared after each change.",
            "All of `model(changed)` and of the outputs before, without a slice.",
        ],
    ),
    Mistake(
        "compared_with_the_round_before",
        STEPS.but(columns=one_after_another),
        does="outputs are compared with those of the round before",
        says=(
            "The outputs of each round are compared with those of the round before it, in which another input was "
            "changed: the inputs of two rounds are mixed up."
        ),
        hints=[
            "Which two inputs differ between two rounds?",
            "Every round has to be compared with x as it is.",
            "`before = model(x)` once, before the loop, and nothing else under that name.",
        ],
    ),
]
