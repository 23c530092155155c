"""A model that predicts random tokens, which depend on the source. A small random model mostly ignores the source."""

import random

import torch
from torch import Tensor

from transformer_lab.attention.kv_cache import LayerCache, ModelCache
from transformer_lab.models.transformer import Transformer


class Scripted(Transformer):
    """A Transformer that derives the next token from a hash of the source and the prefix."""

    def encode(self, source: Tensor) -> Tensor:
        return source[..., None].float()

    def new_cache(self, memory: Tensor, max_length: int | None = None) -> ModelCache:
        return ModelCache([LayerCache(self.config.max_length if max_length is None else max_length)])

    def decode(self, target: Tensor, memory: Tensor, source: Tensor, cache: ModelCache | None = None) -> Tensor:
        assert torch.equal(memory, self.encode(source)), "the memory must have been computed from this source"
        text = target if cache is None else cache.with_new(target)
        if cache is not None:
            cache.commit(text)
        logits = torch.zeros(*target.shape, self.config.vocab_size)
        before = text.shape[1] - target.shape[1]
        for row, (read, written) in enumerate(zip(source.tolist(), text.tolist(), strict=True)):
            read = [token for token in read if token != self.config.source_pad_id]
            for n in range(target.shape[1]):
                beginning = written[: before + n + 1]
                logits[row, n, random.Random(f"{read} {beginning}").randrange(2, self.config.vocab_size)] = 1
        return logits
