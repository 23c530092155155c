"""One layer of a decoder: back, across, and by itself."""

import torch
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_07_decoder.decoder_layer import (
    mistakes_masks,
    mistakes_norms,
    mistakes_queries_and_keys,
    mistakes_residuals,
)
from transformer_lab.course.exercises.lesson_07_decoder.shared.reference_pieces import DecoderLayer
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.exercises.shared.draw_layers import drawn_mask
from transformer_lab.course.running.case import Case


def layer_parameters(rng: torch.Generator, d_model: int, d_ff: int, name: str = "") -> dict[str, Tensor]:
    """Draw the parameters of a layer; norms that do more than what they begin with."""
    drawn = {
        f"{attention}.{layer}.weight": normal(rng, d_model, d_model) / d_model**0.5
        for attention in ("self_attention", "cross_attention")
        for layer in ("w_q", "w_k", "w_v", "w_o")
    }
    drawn |= {key.replace("weight", "bias"): normal(rng, d_model) for key in drawn}
    for i, (n_out, n_in) in enumerate([(d_ff, d_model), (d_model, d_ff)], start=1):
        drawn[f"feed_forward.w_{i}.weight"] = normal(rng, n_out, n_in) / n_in**0.5
        drawn[f"feed_forward.w_{i}.bias"] = normal(rng, n_out)
    for i in (1, 2, 3):
        drawn[f"norm_{i}.weight"], drawn[f"norm_{i}.bias"] = 1 + normal(rng, d_model) / 2, normal(rng, d_model)
    return {f"{name}{key}": value for key, value in drawn.items()}


def decoder_layer_cases(seed: int) -> list[Case]:
    """Masks come only with as many source as target positions: those that change places then do not crash."""
    rng = generator(seed)

    def case(
        batch: int, n: int, n_source: int, d_model: int, n_heads: int, shows: str, **masks: tuple[int, ...]
    ) -> Case:
        return Case(
            {"x": normal(rng, batch, n, d_model), "memory": normal(rng, batch, n_source, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads, "d_ff": 2 * d_model + 1},
            parameters=layer_parameters(rng, d_model, 2 * d_model + 1),
            keywords={name: drawn_mask(rng, *shape) for name, shape in masks.items()},
        )

    return [
        case(1, 2, 3, 4, 1, "2 positions, a memory of 3, no masks"),
        case(3, 5, 5, 8, 2, "both masks", mask=(3, 1, 5, 5), memory_mask=(3, 1, 1, 5)),
        case(5, 13, 11, 12, 4, "a batch of 5: 13 positions, a memory of 11"),
    ]


DECODER_LAYER = Exercise(
    reference=DecoderLayer,
    cases=decoder_layer_cases,
    points=4,
    verified="It looks back under its own mask and across under the memory's, whatever the two lengths, and each of "
    "the three sublayers is added and then normed. Next: a stack of such layers.",
    hints=[
        "Three sublayers, one line each, all of the same form: x becomes norm(x + sublayer(x)). In which order, and "
        "with which norms?",
        "Self-attention gets x three times, and `mask`. Cross-attention is asked by x, and both what is compared and "
        "what is handed over come from the memory.",
        "The cross-attention is `self.cross_attention(x, memory, memory, memory_mask)`.",
        "`x = self.norm_1(x + self.self_attention(x, x, x, mask))`, and then two more of the kind.",
    ],
    mistakes=[
        *mistakes_queries_and_keys.MISTAKES,
        *mistakes_masks.MISTAKES,
        *mistakes_residuals.MISTAKES,
        *mistakes_norms.MISTAKES,
    ],
)
