"""Encode a trained Transformer for the browser, where ``translator.mjs`` runs it without a kernel."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.models.transformer import Transformer

LEVELS = 127
"""Quantization levels per sign. A number is stored in one byte, as a fraction of the largest number in its row."""


def round_parameters(model: Transformer) -> None:
    """Round a model's parameters to their stored values, so that it computes the same results as the browser."""
    with torch.no_grad():
        for parameter in model.parameters():
            levels, scales = _quantize(parameter)
            parameter.copy_((levels * scales).reshape(parameter.shape))


def browser_model(
    model: Transformer, name: Callable[[int], str], begin: int, end: int, unknown: int, longest: int
) -> dict[str, Any]:
    """Return a model as data for the browser, which translates one character at a time.

    Args:
        model: A pre-norm Transformer with ReLU, sinusoidal positions and a shared vocabulary.
        name: Function that maps a token id to its text.
        begin: The id of the token that starts a target.
        end: The id of the token that ends source and target.
        unknown: The id of the token for characters that are not in the vocabulary.
        longest: Maximum number of tokens in a target, including the start token.

    Raises:
        ValueError: The browser cannot run this architecture.
    """
    config = model.config
    is_plain = config.source_vocab_size is None and not config.learned_positions and not config.output_bias
    if not (config.pre_norm and config.feed_forward == "relu" and is_plain):
        raise ValueError(
            "the model must be a pre-norm Transformer with ReLU, sinusoidal positions and a shared vocabulary; "
            f"got {config}"
        )
    tensors = {key: value for key, value in model.state_dict().items() if not key.endswith("embedding.weight")}
    return {
        "layers": config.n_layers,
        "heads": config.n_heads,
        "begin": begin,
        "end": end,
        "unknown": unknown,
        "longest": longest,
        "vocabulary": {name(i): i for i in range(config.vocab_size)},
        "parameters": {
            key: _encode(tensor) for key, tensor in {**tensors, "embedding": model.decoder.embedding.weight}.items()
        },
    }


def _quantize(parameter: Tensor) -> tuple[Tensor, Tensor]:
    """Return a parameter as integers, with a scale for each row. A vector counts as one row."""
    rows = parameter.detach().float().reshape(-1, parameter.shape[-1])
    scales = (rows.abs().amax(dim=1, keepdim=True) / LEVELS).clamp_min(1e-12)
    return (rows / scales).round(), scales


def _encode(parameter: Tensor) -> dict[str, Any]:
    levels, scales = _quantize(parameter)
    return {
        "width": levels.shape[1],
        "levels": b64encode(levels.to(torch.int8).numpy().tobytes()).decode(),
        "scales": b64encode(scales.numpy().tobytes()).decode(),
    }
