"""How large the gradient of each parameter is, which shows where learning does not arrive."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS, gradient_norms
from transformer_course.exercises.lesson_12_clinic.gradient_norms.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model


def gradient_norms_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def with_gradient(name: str, *shape: int, size: float = 1.0) -> dict[str, Tensor]:
        return {name: torch.randn(shape, generator=rng), f"{name}.grad": size * torch.randn(shape, generator=rng)}

    def case(shows: str, **tables: Tensor) -> Case:
        return Case({"model": describe_model("after_backward", **tables)}, shows)

    def layers(n_layers: int, d: int, d_ff: int) -> dict[str, Tensor]:
        tables: dict[str, Tensor] = {}
        for layer in range(n_layers):
            tables |= with_gradient(f"layers.{layer}.w_1.weight", d_ff, d, size=1000.0**-layer)
            tables |= with_gradient(f"layers.{layer}.w_1.bias", d_ff)
            tables |= with_gradient(f"layers.{layer}.norm.weight", d, size=3.0)
        return tables

    return [
        case("a matrix", **with_gradient("weight", 2, 3)),
        case("a matrix and a bias", **with_gradient("linear.weight", 4, 3), **with_gradient("linear.bias", 4)),
        case(
            "a matrix that no gradient reaches",
            **with_gradient("linear.weight", 3, 2),
            **{"unused.weight": normal(rng, 5, 2)},
        ),
        case("a gradient of zeros", **with_gradient("w.weight", 3, 4), **with_gradient("w.bias", 3, size=0.0)),
        case(
            "a gradient whose numbers add up to 0",
            **with_gradient("w.weight", 3, 4),
            **{"w.bias": normal(rng, 3), "w.bias.grad": torch.tensor([3.0, -1.0, -2.0])},
        ),
        case("a gradient of size 1e-8", **with_gradient("w.weight", 3, 4), **with_gradient("w.bias", 3, size=1e-8)),
        case(
            "a parameter that is frozen, and one that belongs to no layer",
            **with_gradient("scale"),
            **with_gradient("gates.weight", 2, 2, 3),
            frozen=normal(rng, 5),
        ),
        case(
            "an embedding that the output layer shares",
            **with_gradient("embedding.weight", 7, 3),
            **with_gradient("norm.weight", 3),
            tied=torch.tensor(True),
        ),
        case(
            "3 layers, an embedding that the output layer shares, a matrix that no gradient reaches",
            **with_gradient("embedding.weight", 11, 5),
            **layers(3, 5, 8),
            **{"adapter.weight": normal(rng, 5, 2)},
            tied=torch.tensor(True),
        ),
    ]


GRADIENT_NORMS = Exercise(
    reference=gradient_norms,
    steps=STEPS,
    cases=gradient_norms_cases,
    points=2,
    verified="Every parameter has its norm, under its own name, and one that no gradient reaches shows as 0.",
    hints=[
        "After `loss.backward()`, the gradient of a parameter is its `grad`: a tensor of the same shape, or None where "
        "no gradient has arrived.",
        "`model.named_parameters()` gives each parameter once, with its name. The norm of a tensor is the root of the "
        "sum of its squares: `.norm()`.",
        "Fill a dict in a loop: `norms[name] = parameter.grad.norm().item()`, and 0.0 where `parameter.grad is None`.",
    ],
    mistakes=MISTAKES,
)
