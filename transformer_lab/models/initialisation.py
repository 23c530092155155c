"""Initialisation of a Transformer's parameters."""

from torch import nn


def initialise(model: nn.Module) -> None:
    """Initialise the parameters of a Transformer; the paper does not say how.

    Matrices are Xavier-uniform (Glorot and Bengio, 2010), embeddings N(0, 1/d_model), biases 0. Norms stay as torch
    makes them: weights 1, biases 0.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
