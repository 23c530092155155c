"""Turn queries and keys by their positions."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_05_positions.apply_rotary import mistakes
from transformer_course.exercises.lesson_05_positions.apply_rotary.answer import STEPS, apply_rotary
from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import TOLD, frequency_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case


def apply_rotary_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 3.0)]

    def case(shape: tuple[int, ...], positions: list[int], shows: str, **more: float) -> Case:
        return Case({"x": normal(rng, *shape), "positions": torch.tensor(positions), **more}, shows)

    return [
        case((1, 2), [1], "one vector with a single pair, at position 1"),
        case((2, 4), [0, 1], "positions 0 and 1, 2 pairs"),
        case((2, 4), [5, 2], "positions 5 and 2, 2 pairs"),
        case((3, 8), [7, 2, 4], f"positions 7, 2 and 4, 4 pairs, base {bases[0]:.1f}", base=bases[0]),
        case((2, 3, 4), [3, 4, 5], "a batch of 2, positions 3 to 5, 2 pairs"),
        case((2, 3, 31, 16), list(range(31)), f"a batch of 2, 3 heads, base {bases[1]:.1f}", base=bases[1]),
    ]


APPLY_ROTARY = Exercise(
    reference=apply_rotary,
    steps=STEPS,
    cases=apply_rotary_cases,
    points=3,
    verified="Each pair turns by its own angle, and any batch goes through.",
    hints=[
        "Take a single pair (a, b) and an angle φ. Turned by φ it is (a cos φ − b sin φ, a sin φ + b cos φ).",
        "All the angles at once: `positions[:, None] * base ** (-torch.arange(0, d, 2) / d)`, of shape (n, d / 2). "
        "All first members of pairs are `x[..., 0::2]`, all second ones `x[..., 1::2]`.",
        "Compute the turned first and second members from these, then put them back side by side: "
        "`torch.stack([first, second], dim=-1).flatten(-2)`.",
    ],
    told={
        **TOLD,
        "axis_turned: torch.stack([turned_first, turned_second], dim=-2)": (
            "The turned pairs are right, but all first members come first and all second ones after them. The members "
            "of a pair should stand side by side again. Look at how the two are put together."
        ),
    },
    mistakes=[*mistakes.MISTAKES, *frequency_mistakes(STEPS, "d")],
)
