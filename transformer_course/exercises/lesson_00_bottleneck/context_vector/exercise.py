"""Mix the encoder's states for one step of the decoder."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS, context_vector
from transformer_course.exercises.lesson_00_bottleneck.context_vector.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def context_vector_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, d: int, shows: str) -> Case:
        weights = torch.softmax(2 * normal(rng, batch, n), dim=-1)
        return Case({"weights": weights, "states": normal(rng, batch, n, d)}, shows)

    # Can be done in the head: the context is (6, 2, 4), and then 3 and 6.
    readable = {"weights": torch.tensor([[0.75, 0.25]]), "states": torch.tensor([[[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]]])}
    two_texts = {
        "weights": torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]),
        "states": torch.tensor([[[2.0], [4.0], [1.0]], [[6.0], [8.0], [-3.0]]]),
    }
    return [
        Case(readable, "one text, 2 states of width 3, weights of 0.75 and 0.25"),
        Case(two_texts, "2 texts, 3 states of width 1, some weights of 0"),
        case(1, 3, 3, "one text, 3 states of width 3"),
        case(3, 1, 4, "3 texts with a single state each: it comes back"),
        case(3, 3, 3, "3 texts, 3 states each, width 3"),
        case(3, 5, 1, "3 texts, 5 states each, width 1"),
        case(4, 3, 4, "4 texts, 3 states each, width 4"),
        case(2, 5, 3, "2 texts, 5 states each, width 3"),
        case(7, 53, 31, "7 texts, 53 states each, width 31"),
    ]


CONTEXT_VECTOR = Exercise(
    reference=context_vector,
    steps=STEPS,
    distributions=("weights",),
    may_cut_gradients=True,
    cases=context_vector_cases,
    points=2,
    verified="Each text averages its own states with its own weights, and the result is as wide as one state, however "
    "many there were.",
    hints=[
        "Take a single text first: n weights, and n states of width d. Multiply each state by its weight and add them "
        "up. How would that look with a loop?",
        "Each weight belongs to a whole state. `weights[:, :, None]` has the shape (batch, n, 1): how does it "
        "broadcast against (batch, n, d)?",
        "The products have the shape (batch, n, d), the result has (batch, d). Along which axis must they be added?",
        "`(weights[:, :, None] * states).sum(dim=1)`.",
    ],
    told={
        "number_axis: 2": (
            "The entries of each state are added to each other, so that no vector is left. The *states* "
            "should be added. Look at the axis of the sum."
        ),
        "left_out_column": (
            "Broadcasting lines the n weights up with the *width* of the states. That crashes, or, where the "
            "numbers happen to fit, weighs entries instead of states. Look at the two shapes."
        ),
    },
    mistakes=MISTAKES,
)
