"""Token embeddings: a learned vector for each token of the vocabulary."""

from jaxtyping import Float, Int
from torch import Tensor, nn


def look_up(embedding: nn.Embedding, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch d_model"]:
    """Return the embeddings of tokens; an id outside the vocabulary is named.

    The ids are read only after a look-up has failed: reading them before would break compiled graphs and
    ``torch.func.vmap``, and make a program wait for its accelerator. On an accelerator such an id ends the program.

    Raises:
        ValueError: An id is outside the vocabulary, or the tokens are on another device than the embeddings.

    >>> import torch
    >>> look_up(nn.Embedding(11, 8), torch.tensor([[1, 11]]))
    Traceback (most recent call last):
        ...
    ValueError: token ids go from 0 to vocab_size − 1 = 10; got 11
    """
    weight = embedding._parameters.get("weight")
    if weight is not None and tokens.device != weight.device:
        raise ValueError(f"tokens must be on the device of the model, {weight.device}; got {tokens.device}")
    try:
        return embedding(tokens)
    except IndexError as error:
        low, high = (int(end) for end in tokens.aminmax())
        last = embedding.num_embeddings - 1
        raise ValueError(f"token ids go from 0 to vocab_size − 1 = {last}; got {low if low < 0 else high}") from error
