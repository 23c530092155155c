"""How many numbers a multi-head attention learns."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_03_heads.attention_parameters.answer import STEPS, attention_parameters
from transformer_course.exercises.lesson_03_heads.attention_parameters.mistakes import MISTAKES
from transformer_course.running.case import Case


def attention_parameters_cases(seed: int) -> list[Case]:
    d_k = 5 + seed % 127  # never the same for one seed and the next
    return [
        Case({"d_model": 2, "n_heads": 1}, "width 2, one head"),
        Case({"d_model": 6, "n_heads": 2}, "width 6, 2 heads"),
        Case({"d_model": 6, "n_heads": 3, "bias": False}, "width 6, 3 heads, no biases"),
        Case({"d_model": 6, "n_heads": 3}, "width 6, 3 heads, the same with biases"),
        Case({"d_model": 8, "n_heads": 2, "bias": False}, "width 8, 2 heads, no biases"),
        Case({"d_model": 4099, "n_heads": 1, "bias": False}, "width 4099: more weights than a float32 can count"),
        Case({"d_model": 8 * d_k, "n_heads": 8}, f"width {8 * d_k}, 8 heads"),
    ]


ATTENTION_PARAMETERS = Exercise(
    reference=attention_parameters,
    steps=STEPS,
    cases=attention_parameters_cases,
    points=1,
    verified="Four layers of d_model × d_model, with or without biases, and the number of heads nowhere in it.",
    hints=[
        "Which layers does a multi-head attention have, and how many numbers come out of each?",
        "`nn.Linear(a, b)` holds a · b weights, and b biases if it has any. All four layers have a = b = d_model.",
        "Four times (d_model² + d_model), or four times d_model² without biases.",
    ],
    told={
        "ignored_bias": "The biases are counted where there are none, too: `bias` has no effect.",
        "condition_biases": (
            "The biases are counted where there are none, and left out where there are some. Look at the condition."
        ),
        "done_again_per_layer": (
            "More biases are counted than there are: one for each output of each layer. Look at what is added."
        ),
    },
    mistakes=MISTAKES,
)
