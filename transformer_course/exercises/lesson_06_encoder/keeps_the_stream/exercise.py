"""Whether a layer has lost the residual stream, judged by its behaviour alone."""

import torch
from torch.nn import functional

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_06_encoder.keeps_the_stream.answer import STEPS, keeps_the_stream
from transformer_course.exercises.lesson_06_encoder.keeps_the_stream.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

WHOLE, LOST, CUT, HALVED, SUBTRACTED = (1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (-1.0, 0.0)
"""What a sum has of x itself, and of x after the norm."""
Sums = list[tuple[float, float]]
FIRST: list[tuple[str, Sums, dict[str, float]]] = [
    ("both sums are whole", [WHOLE, WHOLE], {}),
    ("neither sublayer has a sum", [LOST, LOST], {}),
]
OTHERS: list[tuple[str, Sums, dict[str, float]]] = [
    ("the second sum is missing", [WHOLE, LOST], {}),
    ("the first sum is missing", [LOST, WHOLE], {}),
    ("both sums are whole, and what is added is large", [WHOLE, WHOLE], {"adds": 4.0}),
    ("both sums are whole, and nothing is added", [WHOLE, WHOLE], {"adds": 0.0}),
    ("both sums are whole, and next to nothing is added", [WHOLE, WHOLE], {"adds": 0.002}),
    ("both sums are whole, and little is added", [WHOLE, WHOLE], {"adds": 0.01}),
    ("both sums have the normalised x, and little is added", [CUT, CUT], {"adds": 0.01, "scale": 5.0}),
    ("both sums have the normalised x, which is no other than x", [CUT, CUT], {"adds": 0.01, "scale": 1.0}),
    ("the second sum has the normalised x", [WHOLE, CUT], {}),
    ("the first sum has the normalised x", [CUT, WHOLE], {}),
    ("the output is normalised", [WHOLE, WHOLE], {"adds": 0.01, "scale": 1.0, "ends_in_norm": True}),
    ("the first sum has half of x", [HALVED, WHOLE], {}),
    ("the second sum subtracts x", [WHOLE, SUBTRACTED], {}),
    ("both sums are whole, another layer", [WHOLE, WHOLE], {"adds": 2.0}),
]
"""The sick layers, and whole ones that are easily taken for sick."""
ALL_SICK = "It answers False for all layers here but those that add nothing, if for these."


def keeps_the_stream_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        n: int, d: int, shows: str, sums: Sums, adds: float = 1.0, scale: float = 0.0, ends_in_norm: float = False
    ) -> Case:
        x = normal(rng, 2, n, d)
        x = scale * functional.layer_norm(x, (d,)) if scale else 3 * (x + x.sign())  # centred, or far from 0
        model = describe_model(
            "normed_layer",
            mixing=normal(rng, 2, n, n) / n**0.5,
            projections=adds * normal(rng, 2, d, d) / d**0.5,
            sums=torch.tensor(sums),
            ends_in_norm=torch.tensor(ends_in_norm),
        )
        return Case({"layer": model, "x": x}, shows)

    layers = [*FIRST, *(OTHERS[i] for i in torch.randperm(len(OTHERS), generator=rng))]
    return [case(2 + i // 4, 3 + i // 2, shows, sums, **looks) for i, (shows, sums, looks) in enumerate(layers)]


KEEPS_THE_STREAM = Exercise(
    reference=keeps_the_stream,
    steps=STEPS,
    cases=keeps_the_stream_cases,
    points=3,
    verified="Layers that hand x on were told from those that lose it, halve it or normalise it, by their answers.",
    hints=[
        "What could you do to x that a norm undoes, and a sum hands on?",
        "A norm takes the size out. Call the layer on 1,000 x: what its sublayers add is no larger than before, since "
        "they read normalised vectors. If the sums are whole, what should the output look like?",
        "Nearly 1,000 x. So divide the output by 1,000, and compare it with x, but not to the last digit: "
        "`torch.allclose(a, b, atol=0.1)`.",
    ],
    told={
        "moved_output": (
            "It answers as one would who asks the layer at the ordinary size of x: a layer that adds more than a "
            "little passes for a sick one, and one that normalises what is normalised already passes for whole."
        ),
        "done_again_output": (
            "It finds the whole layers that add little, but not those that add more. The larger x is, the less weighs "
            "what is added: is x large enough, and is the rest allowed for?"
        ),
        "call_left_out_output": "It answers True for all layers here, the sick ones, too.",
        "left_out_larger": ALL_SICK,
        "part_left_out_reduced": ALL_SICK,
        "option_left_out_kept": (
            "Of the whole layers, it finds those that add nothing, or next to nothing. What others add should not "
            "count: is x large enough beside it, and is the rest allowed for?"
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
