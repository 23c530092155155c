"""Token embeddings: a learned vector for each token of the vocabulary."""

from jaxtyping import Float, Int
from torch import Tensor, nn


def look_up(embedding: nn.Embedding, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch d_model"]:
    """Return the embeddings of tokens, with a helpful error for an id outside the vocabulary.

    The ids are checked only after a lookup has failed. Checking them first would break compiled graphs and
    ``torch.func.vmap``, and would wait for the accelerator, where an id outside the vocabulary crashes the program.

    Raises:
        ValueError: An id is outside the vocabulary, or the tokens and the embeddings are on different devices.

    >>> import torch
    >>> look_up(nn.Embedding(11, 8), torch.tensor([[1, 11]]))
    Traceback (most recent call last):
        ...
    ValueError: token ids must be from 0 to vocab_size − 1 = 10; got 11
    """
    weight = embedding._parameters.get("weight")
    if weight is not None and tokens.device != weight.device:
        raise ValueError(f"tokens must be on the model's device, {weight.device}; got {tokens.device}")
    try:
        return embedding(tokens)
    except IndexError as error:
        low, high = (int(end) for end in tokens.aminmax())
        last = embedding.num_embeddings - 1
        raise ValueError(
            f"token ids must be from 0 to vocab_size − 1 = {last}; got {low if low < 0 else high}"
        ) from error
