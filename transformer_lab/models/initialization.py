"""Initial weights of Transformers and language models."""

from torch import nn


def initialize(model: nn.Module) -> None:
    """Initialize the parameters of a Transformer; the paper does not specify a method.

    Matrices are Xavier-uniform (Glorot and Bengio, 2010), embeddings are N(0, 1/d_model), and biases are 0. Norms keep
    torch's defaults: weights are 1 and biases are 0.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)


def initialize_language_model(model: nn.Module, n_layers: int) -> None:
    """Initialize the parameters of a language model as in GPT-2: section 2.3 of Radford et al. (2019).

    Matrices and embeddings are N(0, 0.02²), and biases are 0. The last matrix of each sublayer is divided by √(2
    n_layers), because the outputs of all sublayers are added up. Norms keep torch's defaults.

    Args:
        model: The model.
        n_layers: Number of blocks, each with two sublayers.
    """
    for name, parameter in model.named_parameters():
        if name.endswith(("w_o.weight", "w_2.weight", "w_down.weight")):
            nn.init.normal_(parameter, std=0.02 / (2 * n_layers) ** 0.5)
        elif parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
