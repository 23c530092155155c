"""A lower bound on the time: only the matrix products of the real tokens.

Every linear layer is one product of all real tokens. Attention is two products per head, for sentences whose length is
the root mean square of the actual lengths. A causal mask halves both products. A training step computes each product
three times: once forward, and once for the gradient of each factor.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from benchmarks.clock import Run
from benchmarks.work import PAD, Batch, Work


class Products:
    """The matrix products of a workload, timed like a contestant."""

    name = "bare products"

    def __init__(self, work: Work, batch: Batch) -> None:
        self.work, self.training = work, work.task.startswith("train")
        source, target = (side != PAD for side in (batch.source, batch.labels))
        self.pairs = [(torch.randn(n, a), torch.randn(a, b)) for n, a, b in linear_layers(work, source, target)]
        self.pairs += [(torch.randn(*q), torch.randn(*k)) for q, k in attentions(work, source, target)]

    def run(self) -> Run:
        """Return the function to time."""
        gradients = [torch.randn(*x.shape[:-1], w.shape[-1]) for x, w in self.pairs]

        @torch.inference_mode()
        def products() -> None:
            for (x, w), gradient in zip(self.pairs, gradients, strict=True):
                torch.matmul(x, w)
                if self.training:
                    torch.matmul(gradient, w.mT)
                    torch.matmul(x.mT, gradient)

        return products

    @property
    def n_operations(self) -> int:
        """Number of multiplications and additions."""
        return sum(2 * x.numel() * w.shape[-1] for x, w in self.pairs) * (3 if self.training else 1)


def linear_layers(work: Work, source: Tensor, target: Tensor) -> Iterator[tuple[int, int, int]]:
    """Yield the number of tokens, the input width and the output width of each linear layer."""
    size, d = work.size, work.size.d_model
    n_source, n_target = int(source.sum()), int(target.sum())
    ff = [(d, size.d_ff), (size.d_ff, d)]
    itself = [(d, 3 * d), (d, d)]
    for _ in range(size.n_layers):
        yield from ((n_target, *layer) for layer in itself + ff)
        if work.translates:
            yield from ((n_source, *layer) for layer in itself + ff)
            yield from [(n_target, d, d), (n_source, d, 2 * d), (n_target, d, d)]  # cross-attention
    yield n_target, d, size.vocab_size


def attentions(work: Work, source: Tensor, target: Tensor) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the shapes of the two factors in each batched product in attention."""
    size = work.size
    heads, d_k = work.batch * size.n_heads, size.d_model // size.n_heads
    n_source, n_target = (float(side.sum(1).float().square().mean().sqrt()) for side in (source, target))
    lengths = [(n_target / math.sqrt(2), n_target / math.sqrt(2))]
    if work.translates:
        lengths += [(n_source, n_source), (n_target, n_source)]
    for n_query, n_key in [(round(a), round(b)) for a, b in lengths] * size.n_layers:
        yield (heads, n_query, d_k), (heads, d_k, n_key)
        yield (heads, n_query, n_key), (heads, n_key, d_k)
