"""What goes wrong when dependences are looked for."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_12_clinic.which_inputs.answer import STEPS

MISTAKES = [
    Mistake(
        "inputs_down_outputs_across",
        [STEPS.but(table=lambda columns: torch.stack(columns, dim=0))],
        does="the inputs go down and the outputs across",
        says="The table lies on its side: inputs go down and outputs across. Look at how the columns are joined.",
        hints=[
            "For 5 inputs and 2 outputs, what shape should come out?",
            "The change of one input gives one *column*.",
            "`torch.stack(columns, dim=1)`.",
        ],
    ),
    Mistake(
        "adds_the_same_to_all",
        [STEPS.but(another=lambda: lambda vector: vector + 1)],
        does="the same number is added to all numbers of a vector",
        says=(
            "The same number is added to all numbers of a vector. A norm takes that out again, and so the dependence "
            "stays unseen. Look at how the vector is changed."
        ),
        hints=[
            "What does a layer norm make of x + 1?",
            "The numbers of a vector should change by different amounts.",
            "`torch.randn_like(x[position])`.",
        ],
    ),
    Mistake(
        "zeros_in_place_of_the_vector",
        [STEPS.but(another=lambda: lambda vector: 0 * vector)],
        does="the vector is replaced by zeros",
        says=(
            "The vector is replaced by zeros. Where it is zero already, nothing has been changed. Look at how the "
            "vector is changed."
        ),
        hints=[
            "What if the vector at this position is zero, as that of padding often is?",
            "What is put there should differ from what was there.",
            "`torch.randn_like(x[position])`.",
        ],
    ),
    Mistake(
        "sums_of_the_outputs",
        [STEPS.but(size=lambda: lambda differences: differences.sum(dim=-1).abs())],
        does="differences are added up with their signs, so that they may cancel",
        says=(
            "The differences of an output are added up with their signs, and they cancel where its numbers always add "
            "up to the same, as those after a norm do. Look at how the numbers of a vector become one."
        ),
        hints=[
            "An output changes by +1 and −1. What is the sum?",
            "A single number that moves is enough.",
            "`.abs().amax(dim=-1)`.",
        ],
    ),
]
