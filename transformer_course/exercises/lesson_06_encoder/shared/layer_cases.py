"""Draw cases for a post-norm or pre-norm layer."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import drawn_mask, layer_parameters
from transformer_course.running.case import Case


def layer_cases(seed: int) -> list[Case]:
    """Draw cases for a layer: without a mask, with masks of every shape, and with later calls to the same layer."""
    rng = generator(seed)

    def vectors(*shape: int) -> Tensor:
        return 2 * normal(rng, *shape)

    def case(
        batch: int,
        n: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        shows: str,
        mask: Tensor | None = None,
        later: tuple[Mapping[str, Any], ...] = (),
    ) -> Case:
        return Case(
            {"x": vectors(batch, n, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff},
            parameters=layer_parameters(rng, d_model, d_ff),
            keywords={} if mask is None else {"mask": mask},
            later=later,
        )

    calls = (
        {"x": vectors(2, 5, 6), "mask": drawn_mask(rng, 5, 5)},
        {"x": vectors(2, 5, 6)},
        {"x": vectors(3, 4, 6), "mask": drawn_mask(rng, 3, 1, 1, 4)},
    )
    return [
        case(1, 1, 4, 1, 6, "one position of 4 features"),
        case(1, 3, 4, 2, 6, "3 positions of 4 features, 2 heads"),
        case(2, 5, 6, 3, 11, "2 sentences of 5 positions, then other sentences, with masks and without", later=calls),
        case(3, 5, 6, 2, 11, "a mask of shape (batch, 1, 1, n)", drawn_mask(rng, 3, 1, 1, 5)),
        case(
            3,
            4,
            6,
            2,
            7,
            "a mask of shape (batch, 1, n, n)",
            drawn_mask(rng, 3, 1, 4, 4),
        ),
        case(5, 13, 24, 4, 40, "a mask of shape (n, n)", drawn_mask(rng, 13, 13)),
    ]
