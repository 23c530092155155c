"""A trained Transformer as data for the browser, which runs it where there is no kernel (``translator.mjs``)."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.models.transformer import Transformer

LEVELS = 127
"""A number is stored as one byte: a fraction of the largest of its row, in so many steps each way."""


def round_parameters(model: Transformer) -> None:
    """Round the parameters of a model to what is stored of them, so that it computes what the browser will."""
    with torch.no_grad():
        for parameter in model.parameters():
            levels, scales = _rounded(parameter)
            parameter.copy_((levels * scales).reshape(parameter.shape))


def browser_model(
    model: Transformer, name: Callable[[int], str], begin: int, end: int, unknown: int, longest: int
) -> dict[str, Any]:
    """Return what the browser needs to translate with a model, a character at a time.

    Args:
        model: A pre-norm Transformer with ReLU and sinusoids, whose source and target share their vocabulary.
        name: From a token id to its text.
        begin: The token that begins a target.
        end: The token that ends source and target.
        unknown: The token of a character that the vocabulary has not.
        longest: Number of tokens of a target at most, with the one that begins it.

    Raises:
        ValueError: The model is another one.
    """
    config = model.config
    rest = config.source_vocab_size is None and not config.learned_positions and not config.output_bias
    if not (config.pre_norm and config.feed_forward == "relu" and rest):
        raise ValueError(
            f"the browser runs pre-norm Transformers with ReLU, sinusoids and one vocabulary; got {config}"
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
            key: _stored(each) for key, each in {**tensors, "embedding": model.decoder.embedding.weight}.items()
        },
    }


def _rounded(parameter: Tensor) -> tuple[Tensor, Tensor]:
    """Return whole numbers, and for each row what to multiply them by; a vector is one row."""
    rows = parameter.detach().float().reshape(-1, parameter.shape[-1])
    scales = (rows.abs().amax(dim=1, keepdim=True) / LEVELS).clamp_min(1e-12)
    return (rows / scales).round(), scales


def _stored(parameter: Tensor) -> dict[str, Any]:
    levels, scales = _rounded(parameter)
    return {
        "width": levels.shape[1],
        "levels": b64encode(levels.to(torch.int8).numpy().tobytes()).decode(),
        "scales": b64encode(scales.numpy().tobytes()).decode(),
    }
