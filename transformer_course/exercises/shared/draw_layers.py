"""Draw parameters and masks for layers."""

import torch
from torch import Tensor

from transformer_course.exercises.shared.draw_cases import normal


def layer_parameters(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Draw every parameter of a layer.

    The norms' parameters are far from their initial values, so that swapped norms are detected.
    """

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


def stack_parameters(rng: torch.Generator, d_model: int, d_ff: int, n_layers: int, stack: str) -> dict[str, Tensor]:
    """Draw every parameter in a list of layers called ``stack``."""
    drawn = [layer_parameters(rng, d_model, d_ff) for _ in range(n_layers)]
    return {f"{stack}.{number}.{name}": value for number, layer in enumerate(drawn) for name, value in layer.items()}


def decoder_layer_parameters(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Draw every parameter of a decoder layer. The norms are drawn as in ``layer_parameters``."""
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


def drawn_tokens(rng: torch.Generator, vocab_size: int, batch: int, n: int) -> Tensor:
    """Draw tokens that contain every id. With fewer positions than ids, draw 0 and other distinct ids."""
    ids = torch.cat([torch.zeros(1, dtype=torch.int64), 1 + torch.randperm(vocab_size - 1, generator=rng)])
    ids = ids.repeat(-(-batch * n // vocab_size))[: batch * n]
    return ids[torch.randperm(batch * n, generator=rng)].view(batch, n)


def drawn_mask(rng: torch.Generator, *shape: int) -> Tensor:
    """Draw a mask that lets every query attend to the first key and hides the last key from every query."""
    mask = torch.rand(*shape, generator=rng) < 0.6
    mask[..., 0], mask[..., -1] = True, False
    return mask
