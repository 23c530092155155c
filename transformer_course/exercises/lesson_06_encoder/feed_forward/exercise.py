"""A small network at every position."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_06_encoder.feed_forward.answer import STEPS, FeedForward
from transformer_course.exercises.lesson_06_encoder.feed_forward.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def feed_forward_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        d_model: int, d_ff: int, leading: tuple[int, ...], shows: str, size: float = 1.0, later: tuple[int, ...] = ()
    ) -> Case:
        parameters = {
            "w_1.weight": normal(rng, d_ff, d_model),
            "w_1.bias": normal(rng, d_ff),
            "w_2.weight": normal(rng, d_model, d_ff),
            "w_2.bias": normal(rng, d_model),
        }
        return Case(
            {"x": size * normal(rng, *leading, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "d_ff": d_ff},
            parameters=parameters,
            later=[{"x": normal(rng, n, d_model)} for n in later],
        )

    by_hand = Case(
        {"x": torch.tensor([[2.0, -1.0]])},
        "one position: 2, 1 and −3 in the middle",
        kind="module",
        arguments={"d_model": 2, "d_ff": 3},
        parameters={
            "w_1.weight": torch.tensor([[1.0, 1.0], [1.0, 2.0], [-1.0, 0.0]]),
            "w_1.bias": torch.tensor([1.0, 1.0, -1.0]),
            "w_2.weight": torch.tensor([[1.0, 2.0, 3.0], [2.0, -1.0, -1.0]]),
            "w_2.bias": torch.tensor([1.0, -7.0]),
        },
    )
    return [
        by_hand,
        case(2, 3, (1,), "one position, 2 features, 3 in the middle"),
        case(3, 5, (), "a single vector, without an axis for positions"),
        case(4, 4, (2,), "as wide in the middle as outside", later=(2, 3)),
        case(3, 5, (7,), "7 positions, 3 features, 5 in the middle"),
        case(3, 5, (8,), "large numbers", size=20.0),
        case(5, 11, (7, 3), "7 sentences of 3 positions"),
        case(24, 96, (5, 31), "5 sentences of 31 positions, 24 features, 96 in the middle"),
    ]


FEED_FORWARD = Exercise(
    reference=FeedForward,
    steps=STEPS,
    cases=feed_forward_cases,
    points=1,
    verified="Wide in the middle, with a ReLU there.",
    hints=[
        "Three steps, from the inside of the formula outwards: the first layer, max(0, …), the second layer.",
        "A layer is called like a function: `self.w_1(x)` multiplies by the weights and adds the bias. It works on the "
        "last axis, whatever stands in front.",
        "`torch.relu(z)` is max(0, z), number by number.",
        "`self.w_2(torch.relu(self.w_1(x)))`.",
    ],
    told={
        "moved_activated": (
            "The ReLU comes after the second layer, so that the network can only add and never take away. "
            "Look at the order of the steps."
        ),
        "function_output: §.relu()": (
            "A ReLU comes after the second layer as well, so that the network can only add and never take "
            "away. Look at the number of steps."
        ),
        "moved_hidden: activated": (
            "The ReLU is applied to x itself, and nothing stands between the two layers. Look at the order of "
            "the steps."
        ),
    },
    mistakes=MISTAKES,
)
