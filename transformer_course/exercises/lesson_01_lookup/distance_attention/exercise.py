"""Transfer: look up by nearness."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup.distance_attention.answer import STEPS, distance_attention
from transformer_course.exercises.lesson_01_lookup.distance_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case


def distance_attention_cases(seed: int) -> list[Case]:
    cases = attention_cases(seed, width=2, loud=16.0)
    inputs = dict(attention_cases(seed + 1, width=2)[2].inputs)
    inputs["queries"] = torch.cat([inputs["queries"][:1], inputs["keys"][1:2]])
    return [*cases[:3], Case(inputs, "a query that lies on a key"), *cases[3:]]


DISTANCE_ATTENTION = Exercise(
    reference=distance_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=distance_attention_cases,
    points=2,
    stretch=True,
    verified="Near keys count more, and the distance is squared and halved. As a statistician would say: kernel "
    "regression with a Gaussian kernel.",
    hints=[
        "Only the scores change. What is needed is a table of squared distances: one row per query, one column per "
        "key.",
        "Give the queries the shape (…, n_query, 1, d) and the keys (…, 1, n_key, d): their difference holds every "
        "pair. Or use ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖².",
        "`queries[..., :, None, :]` and `keys[..., None, :, :]` have these shapes, whatever stands in front.",
        "scores = −½ Σ (q − k)², then a softmax over the keys and the product with the values.",
    ],
    told={
        "call_left_out_squares": (
            "The differences are added up as they are, so that positive and negative ones cancel. Look at "
            "what happens before the sum."
        ),
    },
    mistakes=MISTAKES,
)
