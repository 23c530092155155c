"""Whether a layer has lost the residual stream, judged by its behavior alone."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def keeps_the_stream(layer: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n d"]) -> bool:
    """Return whether all of x itself is in the layer's output, only added to: neither lost, scaled nor normalized."""
    output = layer(1000 * x)  # what sublayers add stays as it was, for their norms take the size out
    return torch.allclose(output / 1000, x, atol=0.1)


def larger(x):
    """multiply x by a large number → the larger x: 1,000 times x"""
    return 1000 * x


def output(layer, larger):
    """run the layer on that → the output for the larger x"""
    return layer(larger)


def reduced(output):
    """divide its output by that number again → the output over 1,000"""
    return output / 1000


def kept(reduced, x):
    """compare that with x, roughly → whether the output over 1,000 is x, but for a little"""
    return torch.allclose(reduced, x, atol=0.1)


STEPS = InSteps(larger, output, reduced, kept, reference=keeps_the_stream)


WHOLE, LOST, CUT, HALVED, SUBTRACTED = (1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (-1.0, 0.0)
"""What a sum has of x itself, and of x after the norm."""
Sums = list[tuple[float, float]]
FIRST_LAYERS: list[tuple[str, Sums, dict[str, float]]] = [
    ("both sums are whole", [WHOLE, WHOLE], {}),
    ("neither sublayer has a sum", [LOST, LOST], {}),
]
OTHER_LAYERS: list[tuple[str, Sums, dict[str, float]]] = [
    ("the second sum is missing", [WHOLE, LOST], {}),
    ("the first sum is missing", [LOST, WHOLE], {}),
    ("both sums are whole, and what is added is large", [WHOLE, WHOLE], {"adds": 4.0}),
    ("both sums are whole, and nothing is added", [WHOLE, WHOLE], {"adds": 0.0}),
    ("both sums are whole, and next to nothing is added", [WHOLE, WHOLE], {"adds": 0.002}),
    ("both sums are whole, and little is added", [WHOLE, WHOLE], {"adds": 0.01}),
    ("both sums have the normalized x, and little is added", [CUT, CUT], {"adds": 0.01, "scale": 5.0}),
    ("both sums have the normalized x, which is no other than x", [CUT, CUT], {"adds": 0.01, "scale": 1.0}),
    ("the second sum has the normalized x", [WHOLE, CUT], {}),
    ("the first sum has the normalized x", [CUT, WHOLE], {}),
    ("the output is normalized", [WHOLE, WHOLE], {"adds": 0.01, "scale": 1.0, "ends_in_norm": True}),
    ("the first sum has half of x", [HALVED, WHOLE], {}),
    ("the second sum subtracts x", [WHOLE, SUBTRACTED], {}),
    ("both sums are whole, another layer", [WHOLE, WHOLE], {"adds": 2.0}),
]
"""The sick layers, and whole ones that are easily taken for sick."""
LAST_LAYERS: list[tuple[str, Sums]] = [
    ("both sums are whole", [WHOLE, WHOLE]),
    ("the second sum is missing", [WHOLE, LOST]),
]
N_LAST_LAYERS = 3
ALL_SICK = "It answers False for all layers here but those that add nothing, if for these."


def keeps_the_stream_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        n: int, d: int, shows: str, sums: Sums, adds: float = 1.0, scale: float = 0.0, ends_in_norm: float = False
    ) -> Case:
        x = normal(rng, 2, n, d)
        x = scale * functional.layer_norm(x, (d,)) if scale else 3 * (x + x.sign())  # centered, or far from 0
        model = describe_model(
            "normed_layer",
            mixing=normal(rng, 2, n, n) / n**0.5,
            projections=adds * normal(rng, 2, d, d) / d**0.5,
            sums=torch.tensor(sums),
            ends_in_norm=torch.tensor(ends_in_norm),
        )
        return Case({"layer": model, "x": x}, shows)

    layers = [*FIRST_LAYERS, *(OTHER_LAYERS[i] for i in torch.randperm(len(OTHER_LAYERS), generator=rng))]
    # x shows which of these layers were made for it. Whether the last ones keep it, only a call shows.
    for number, i in enumerate(torch.randint(len(LAST_LAYERS), (N_LAST_LAYERS,), generator=rng).tolist(), 1):
        shows, sums = LAST_LAYERS[i]
        layers.append((f"{shows}, layer {number} of {N_LAST_LAYERS}", sums, {}))
    return [case(2 + i // 4, 3 + i // 2, shows, sums, **looks) for i, (shows, sums, looks) in enumerate(layers)]


MISTAKES = [
    Mistake(
        "looks_at_the_direction",
        STEPS.but(kept=lambda layer, x: bool(torch.cosine_similarity(layer(x), x, dim=-1).min() > 0.9)),
        STEPS.but(kept=lambda reduced, x: bool(torch.cosine_similarity(reduced, x, dim=-1).min() > 0.9)),
        summary="only the direction of the output is compared with that of x",
        message="{summary}. A norm hardly turns a vector; what it takes out is the size. Compare the sizes, too.",
        hints=["What is the cosine of x and its norm, where the mean of x is 0?"],
    ),
    Mistake(
        "any_dependence_on_size",
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x), atol=1e-3)).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x))).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(1000 * x), layer(x), atol=1e-3)).attempt,
        summary="any change of the output with the size of x counts",
        message=(
            "{summary}. But where the second sum is missing, size still decides how x and the first sublayer's output "
            "mix. Ask how much the output grows, and in which direction."
        ),
        hints=[
            "With the second sum missing, norm(x + a) is passed on. Does it change when x doubles?",
            "A layer that hands x on whole gives nearly 1,000 x for 1,000 x. What does one without a sum give?",
            "So divide the output for the larger x by that number again, and compare it with x itself.",
        ],
    ),
    Mistake(
        "growth_is_enough",
        STEPS.but(kept=lambda reduced: bool(reduced.abs().mean() > 0.1)),
        STEPS.but(kept=lambda reduced, x: bool(reduced.norm() > 0.1 * x.norm())),
        summary="it is enough that the output grows with x",
        message="{summary}. It does, too, where half of x is lost, or where x is subtracted. Compare it with x.",
        hints=["Which output should a layer have for 1,000 x, if x is only added to?"],
    ),
]


EXERCISE = Exercise(
    reference=keeps_the_stream,
    steps=STEPS,
    cases=keeps_the_stream_cases,
    points=3,
    verified="Layers that hand x on were told from those that lose it, halve it or normalize it, by their answers.",
    hints=[
        "What could you do to x that a norm undoes, and a sum hands on?",
        "A norm takes the size out. Call the layer on 1,000 x: what its sublayers add is no larger than before, since "
        "they read normalized vectors. If the sums are whole, what should the output look like?",
        "Nearly 1,000 x. So divide the output by 1,000, and compare it with x, but not to the last digit: "
        "`torch.allclose(a, b, atol=0.1)`.",
    ],
    messages={
        "moved_output": (
            "It answers as one would who asks the layer at the ordinary size of x: a layer that adds more than a "
            "little passes for a sick one, and one that normalizes what is normalized already passes for whole."
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
