"""Decoding: from a model that says what may come next to a text."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lab.transformer import Transformer


@torch.no_grad()
def greedy_decode(
    model: Transformer, source: Int[Tensor, "batch n_source"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n"]:
    """Write the likeliest next token, again and again, until every sentence has ended.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        source: The sentences to translate.
        bos_id: The token that begins a sentence; it is not part of the output.
        eos_id: The token that ends one; nothing but this token follows it.
        max_length: How many tokens are written at most.

    Raises:
        ValueError: ``max_length`` is below 1.
    """
    if max_length < 1:
        raise ValueError(f"at least one token has to be written; got max_length={max_length}")
    written = source.new_full((len(source), max_length), eos_id)
    memory = model.encode(source)
    target = source.new_full((len(source), 1), bos_id)
    going = torch.arange(len(source), device=source.device)  # sentences that have ended are put aside
    for n in range(max_length):
        token = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        written[going, n] = token
        goes_on = token != eos_id
        if not goes_on.any():
            return written[:, : n + 1]
        going, source, memory = going[goes_on], source[goes_on], memory[goes_on]
        target = torch.cat([target, token[:, None]], dim=1)[goes_on]
    return written
