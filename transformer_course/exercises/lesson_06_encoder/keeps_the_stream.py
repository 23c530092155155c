"""A test of whether a layer preserves the residual stream, based only on its behavior."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def keeps_the_stream(layer: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n d"]) -> bool:
    """Return whether all of x itself is in the layer's output, only added to: neither lost, scaled nor normalized."""
    output = layer(1000 * x)  # sublayers normalize their inputs, so what they add does not grow
    return torch.allclose(output / 1000, x, atol=0.1)


def larger(x):
    """multiply x by 1000 → the enlarged x: 1000 times x"""
    return 1000 * x


def output(layer, larger):
    """run the layer on the enlarged x → the output for the enlarged x"""
    return layer(larger)


def reduced(output):
    """divide the output by 1000 → the reduced output: the output for the enlarged x, divided by 1000"""
    return output / 1000


def kept(reduced, x):
    """compare the reduced output with x → whether the reduced output is close to x → the comparison with x"""
    return torch.allclose(reduced, x, atol=0.1)


STEPS = InSteps(larger, output, reduced, kept, reference=keeps_the_stream)


WHOLE, LOST, CUT, HALVED, SUBTRACTED = (1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (-1.0, 0.0)
"""The fractions of x and of the normalized x in a residual sum."""
Sums = list[tuple[float, float]]
FIRST_LAYERS: list[tuple[str, Sums, dict[str, float]]] = [
    ("both residuals are intact", [WHOLE, WHOLE], {}),
    ("neither sublayer has a residual", [LOST, LOST], {}),
]
OTHER_LAYERS: list[tuple[str, Sums, dict[str, float]]] = [
    ("the second residual is missing", [WHOLE, LOST], {}),
    ("the first residual is missing", [LOST, WHOLE], {}),
    ("both residuals are intact, and the sublayers add much", [WHOLE, WHOLE], {"adds": 4.0}),
    ("both residuals are intact, and the sublayers add nothing", [WHOLE, WHOLE], {"adds": 0.0}),
    ("both residuals are intact, and the sublayers add almost nothing", [WHOLE, WHOLE], {"adds": 0.002}),
    ("both residuals are intact, and the sublayers add little", [WHOLE, WHOLE], {"adds": 0.01}),
    ("both residuals add the normalized x, and the sublayers add little", [CUT, CUT], {"adds": 0.01, "scale": 5.0}),
    ("both residuals add the normalized x, which equals x", [CUT, CUT], {"adds": 0.01, "scale": 1.0}),
    ("the second residual adds the normalized x", [WHOLE, CUT], {}),
    ("the first residual adds the normalized x", [CUT, WHOLE], {}),
    ("the output is normalized", [WHOLE, WHOLE], {"adds": 0.01, "scale": 1.0, "ends_in_norm": True}),
    ("the first residual adds half of x", [HALVED, WHOLE], {}),
    ("the second residual subtracts x", [WHOLE, SUBTRACTED], {}),
    ("both residuals are intact, another layer", [WHOLE, WHOLE], {"adds": 2.0}),
]
"""Layers that lose x, and intact layers that are easily mistaken for such layers."""
LAST_LAYERS: list[tuple[str, Sums]] = [
    ("both residuals are intact", [WHOLE, WHOLE]),
    ("the second residual is missing", [WHOLE, LOST]),
]
N_LAST_LAYERS = 3


def keeps_the_stream_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        n: int, d: int, shows: str, sums: Sums, adds: float = 1.0, scale: float = 0.0, ends_in_norm: float = False
    ) -> Case:
        x = normal(rng, 2, n, d)
        x = (
            scale * functional.layer_norm(x, (d,)) if scale else 3 * (x + x.sign())
        )  # each vector has mean 0, or all entries are far from 0
        model = describe_model(
            "normed_layer",
            mixing=normal(rng, 2, n, n) / n**0.5,
            projections=adds * normal(rng, 2, d, d) / d**0.5,
            sums=torch.tensor(sums),
            ends_in_norm=torch.tensor(ends_in_norm),
        )
        return Case({"layer": model, "x": x}, shows)

    layers = [*FIRST_LAYERS, *(OTHER_LAYERS[i] for i in torch.randperm(len(OTHER_LAYERS), generator=rng))]
    # In the cases above, the input identifies the layer. In the last cases, an answer must call the layer.
    for number, i in enumerate(torch.randint(len(LAST_LAYERS), (N_LAST_LAYERS,), generator=rng).tolist(), 1):
        shows, sums = LAST_LAYERS[i]
        layers.append((f"{shows}, layer {number} of {N_LAST_LAYERS}", sums, {}))
    return [case(2 + i // 4, 3 + i // 2, shows, sums, **looks) for i, (shows, sums, looks) in enumerate(layers)]


def enlarged_by(factor, tolerance):
    """Return the answer with the given factor and tolerance."""
    return STEPS.but(
        larger=lambda x: factor * x,
        reduced=lambda output: output / factor,
        kept=lambda reduced, x: torch.allclose(reduced, x, atol=tolerance),
    )


MISTAKES = [
    Mistake(
        "enlarges_too_little",
        enlarged_by(2, 0.01),
        summary="you enlarge x too little",
        message=(
            "{summary}: the contribution of the sublayers is still noticeable, so you reject correct layers. How large "
            "must x be to make this contribution negligible?"
        ),
        hints=[
            "A layer adds vectors of length 5. How far is its output for 2 x from 2 x? And its output for 1,000 x from "
            "1,000 x?"
        ],
    ),
    Mistake(
        "compares_only_the_means",
        STEPS.but(kept=lambda reduced, x: bool(((reduced - x).mean(dim=-1).abs() < 0.1).all())),
        STEPS.but(kept=lambda output, larger: bool(((output - larger).mean(dim=-1).abs() < 0.1).all())),
        summary="you compare only the means of the vectors",
        message=(
            "{summary}, so you miss changes that keep the mean: a centered x and LayerNorm(x) both have mean 0. What "
            "should you compare instead?"
        ),
        hints=["What are the means of (1, −1) and (100, −100)?"],
    ),
    Mistake(
        "looks_at_the_direction",
        STEPS.but(kept=lambda layer, x: bool(torch.cosine_similarity(layer(x), x, dim=-1).min() > 0.9)),
        STEPS.but(kept=lambda reduced, x: bool(torch.cosine_similarity(reduced, x, dim=-1).min() > 0.9)),
        summary="you ignore the length of the output when you compare it with x",
        message=(
            "{summary}, so you accept layers that normalize x. A norm hardly changes the direction of a centered "
            "vector, but it changes its length. What should you compare instead?"
        ),
        hints=["If x has mean 0, what is the cosine of the angle between x and LayerNorm(x)?"],
    ),
    Mistake(
        "any_dependence_on_size",
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x), atol=1e-3)).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x))).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(1000 * x), layer(x), atol=1e-3)).attempt,
        summary="you accept any layer whose output depends on the scale of x",
        message=(
            "{summary}. A layer without its second residual connection passes too, because scaling x changes the ratio "
            "of x to the first sublayer's output. If you make x much larger, how much should the output change, and in "
            "which direction?"
        ),
        hints=[
            "If the second residual is missing, only norm(x + a) reaches the output. Does norm(x + a) change if x "
            "doubles?",
            "A layer that keeps x returns nearly 1,000 x for 1,000 x. What does a layer without residuals return?",
            "Divide the output for 1,000 x by 1,000, and compare it with x itself.",
        ],
    ),
    Mistake(
        "growth_is_enough",
        STEPS.but(kept=lambda reduced: bool(reduced.abs().mean() > 0.1)),
        STEPS.but(kept=lambda reduced, x: bool(reduced.norm() > 0.1 * x.norm())),
        summary="you accept every layer whose output grows with x",
        message=(
            "{summary}. The output also grows if the layer loses half of x or subtracts x, so you accept such layers. "
            "What should you compare the output with?"
        ),
        hints=["If a layer only adds to x, what should it return for 1,000 x?"],
    ),
]


EXERCISE = Exercise(
    reference=keeps_the_stream,
    steps=STEPS,
    cases=keeps_the_stream_cases,
    points=3,
    verified=("You can tell layers that keep x from those that lose, halve or normalize it, by their outputs alone."),
    hints=[
        "How can you change x so that a norm undoes the change, and a residual connection keeps it?",
        "A norm removes the scale. Call the layer on 1,000 x: its sublayers read normalized vectors, so they add no "
        "more than before. If both residuals are intact, what is the output?",
        "Nearly 1,000 x. So divide the output by 1,000 and compare it with x, up to a tolerance: "
        "`torch.allclose(a, b, atol=0.1)`.",
    ],
    messages={
        "moved_output": (
            Wording(
                "You answer as if you called the layer on x at its ordinary scale: you reject a correct layer whose "
                "sublayers add a lot, and accept a layer that normalizes an already normalized x. How can you make the "
                "contribution of the sublayers negligible?",
                summary="you call the layer on x at its ordinary scale",
                hints=["How large is x next to what a sublayer adds? How large is 1,000 x next to it?"],
            )
        ),
        "done_again_output: larger": (
            Wording(
                "You accept a layer that subtracts x: given 1,000 x, it returns about −1,000 x. Where does your code "
                "lose the minus sign?",
                summary="you accept a layer that subtracts x",
                hints=["A layer returns −1,000 x for 1,000 x. What does your function return?"],
            )
        ),
        "done_again_output: reduced": (
            Wording(
                "You reject a correct layer unless its sublayers add little to x. The larger x is, the less their "
                "contribution matters. How large is x when you call the layer?",
                summary="your answer depends on how much a layer adds",
                hints=[
                    "A layer adds vectors of length 5 to x. How long must x be so that these vectors hardly matter?"
                ],
            )
        ),
        "call_left_out_output": (
            Wording(
                "You return True for every layer, even for layers that lose x. Your comparison doesn't use the layer's "
                "output. Which tensor should you compare with x?",
                summary="your result doesn't depend on the layer's output",
                hints=["Does any tensor in your comparison depend on the layer?"],
            )
        ),
        "left_out_larger": (
            Wording(
                "You return False for every layer, even for layers that preserve x, because you compare x with a "
                "tensor of a different scale. What should you do to both the input and the output of the layer?",
                summary="you compare two tensors of very different scales",
                hints=["A layer returns x for x. Which two tensors does your function compare?"],
            )
        ),
        "part_left_out_reduced: output": (
            Wording(
                "You return False for every layer that keeps x. Given 1,000 x, such a layer returns about 1,000 x, but "
                "you compare its output with x. What should you do to the output first?",
                summary="you compare the output for the enlarged x with x itself",
                hints=["A layer returns 1,000 x for 1,000 x. Which two tensors does your function compare?"],
            )
        ),
        "option_left_out_kept: torch.allclose(reduced, x)": (
            Wording(
                "You reject a correct layer unless its sublayers add almost nothing to x. Their contribution is "
                "negligible only next to a much larger input. For such an input, what should the output be close to, "
                "and how large a difference do you allow?",
                summary="you reject layers that add more than a tiny amount",
                hints=[
                    "A layer adds vectors of length 5 to x. By how much may the two tensors that you compare differ?"
                ],
            )
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
