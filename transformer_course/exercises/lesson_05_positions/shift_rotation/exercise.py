"""The matrix that moves an encoding by a number of positions."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import TOLD, frequency_mistakes
from transformer_course.exercises.lesson_05_positions.shift_rotation import mistakes
from transformer_course.exercises.lesson_05_positions.shift_rotation.answer import STEPS, shift_rotation
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case


def shift_rotation_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 3.0)]
    return [
        Case({"offset": 1, "d_model": 2}, "one step, a single pair of features"),
        Case({"offset": 2, "d_model": 4}, "two steps, 2 pairs"),
        Case({"offset": 0, "d_model": 4}, "no step, 2 pairs"),
        Case({"offset": -3, "d_model": 4, "base": bases[0]}, f"three steps back, 2 pairs, base {bases[0]:.1f}"),
        Case({"offset": 12, "d_model": 8}, "12 steps, 4 pairs"),
        Case({"offset": 5, "d_model": 16, "base": bases[1]}, f"5 steps, 8 pairs, base {bases[1]:.1f}"),
    ]


SHIFT_ROTATION = Exercise(
    reference=shift_rotation,
    steps=STEPS,
    cases=shift_rotation_cases,
    points=3,
    verified="One matrix moves every position by the same number of steps.",
    hints=[
        "Take one pair, with frequency θ. At p it holds (sin pθ, cos pθ), and should become (sin (p+k)θ, cos (p+k)θ). "
        "What are the sine and cosine of a sum?",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b − sin a sin b, with a = pθ and b = kθ. "
        "Read off the 2 × 2 matrix that stands before (sin a, cos a).",
        "Each pair i has the block [[cos b, sin b], [−sin b, cos b]] with b = offset · base^(−2i/d_model), in rows and "
        "columns 2i and 2i + 1. All else is 0: begin with `torch.zeros(d_model, d_model)` and fill in pair by pair.",
    ],
    told={
        **TOLD,
        "operator_angles: (offset) + (frequencies)": (
            "The offset is added to the frequencies, so that all pairs turn by nearly the same. Look at how "
            "the two meet."
        ),
    },
    mistakes=[*frequency_mistakes(STEPS, "d_model"), *mistakes.MISTAKES],
)
