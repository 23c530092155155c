"""Draw the parameters of layers, and inputs for them."""

import torch
from torch import Tensor

from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def layer_parameters(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Draw every parameter of a layer: norms far from what they start as, so that one sees which was used."""

    def linear(name: str, n_in: int, n_out: int) -> dict[str, Tensor]:
        weight = 1.5 * normal(rng, n_out, n_in) / n_in**0.5
        return {f"{name}.weight": weight, f"{name}.bias": normal(rng, n_out) / 2}

    parameters: dict[str, Tensor] = {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        parameters |= linear(f"self_attention.{name}", d_model, d_model)
    parameters |= linear("feed_forward.w_1", d_model, d_ff) | linear("feed_forward.w_2", d_ff, d_model)
    for norm in ("norm_1", "norm_2"):
        parameters[f"{norm}.weight"] = 0.5 + torch.rand(d_model, generator=rng)
        parameters[f"{norm}.bias"] = normal(rng, d_model) / 2
    return parameters


def decoder_layer_parameters(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Draw every parameter of a decoder layer, its norms as those of ``layer_parameters``."""
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
    return drawn


def drawn_mask(rng: torch.Generator, *shape: int) -> Tensor:
    """Leave every position the first one at least, and none the last."""
    mask = torch.rand(*shape, generator=rng) < 0.6
    mask[..., 0], mask[..., -1] = True, False
    return mask


def layer_cases(seed: int) -> list[Case]:
    """Draw cases for a layer, post-norm or pre-norm."""
    rng = generator(seed)

    def case(batch: int, n: int, d_model: int, n_heads: int, d_ff: int, shows: str, *mask: int) -> Case:
        return Case(
            {"x": 2 * normal(rng, batch, n, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff},
            parameters=layer_parameters(rng, d_model, d_ff),
            keywords={"mask": drawn_mask(rng, *mask)} if mask else {},
        )

    return [
        case(1, 1, 4, 1, 6, "one position of 4 features"),
        case(1, 3, 4, 2, 6, "3 positions of 4 features, 2 heads"),
        case(2, 5, 6, 3, 11, "2 sentences of 5 positions"),
        case(3, 5, 6, 2, 11, "a mask of shape (batch, 1, 1, n)", 3, 1, 1, 5),
        case(5, 13, 24, 4, 40, "a mask of shape (n, n)", 13, 13),
    ]
