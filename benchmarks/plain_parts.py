"""Operations for the plain peers on rows of real tokens, with hand-written gradients.

A batch is a matrix with one row per real token, so nothing is computed for padding. The matrices of linear layers are
stored as ``(in, out)``, so they need no transpose.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

ROWS_PER_CHUNK = 256
MAX_PADDED_LENGTH = 48
"""Attention for longer sentences runs sentence by sentence; shorter sentences are padded and run together."""


class Rows:
    """The positions of the real tokens in a batch of sentences padded at the end."""

    def __init__(self, real: Tensor, n_heads: int, together: bool = False) -> None:
        self.real, self.n_heads = real, n_heads
        self.where = real.flatten().nonzero().flatten()
        self.lengths = real.sum(1).tolist()
        self.together = together or real.shape[1] <= MAX_PADDED_LENGTH
        self.full = min(self.lengths) == real.shape[1]
        self.slices = []
        for start, n in zip((real.sum(1).cumsum(0) - real.sum(1)).tolist(), self.lengths, strict=True):
            self.slices.append(slice(start, start + n))
        if self.together:
            batch, n = real.shape
            row_of = real.flatten().cumsum(0).sub(1).clamp(min=0).view(batch, 1, n)
            heads = torch.arange(n_heads)
            self.split_index = row_of * n_heads + heads[:, None]  # (batch, h, n), indices into rows (n_real, h)
            sentence, at = self.where // n, self.where % n
            self.merge_index = ((sentence * n_heads)[:, None] + heads) * n + at[:, None]  # (n_real, h)
            self.weights = real.float().view(batch, 1, n, 1).expand(-1, n_heads, -1, -1).reshape(-1, n, 1)
            self.mask = torch.zeros(batch, 1, 1, n).masked_fill(~real[:, None, None], -math.inf)
            self.mask = self.mask.expand(-1, n_heads, -1, -1).reshape(-1, 1, n)  # (batch·h, 1, n)
        self.indices: dict[int, tuple[Tensor, Tensor]] = {}

    def heads(self, x: Tensor, parts: int) -> Iterator[Tensor]:
        """Convert rows ``(n_real, parts·h·d_k)`` to ``(parts, batch·h, n, d_k)``.

        Yields all sentences together, or one sentence at a time.
        """
        h, d_k = self.n_heads, x.shape[1] // parts // self.n_heads
        if not self.together:
            for rows in self.slices:
                yield x[rows].view(-1, parts, h, d_k).permute(1, 2, 0, 3)
        else:
            index, _ = self.index(parts)
            yield x.view(-1, d_k).index_select(0, index).view(parts, -1, self.real.shape[1], d_k)

    def merge(self, pieces: list[Tensor] | list[tuple[Tensor, ...]], parts: int) -> Tensor:
        """Convert the heads of each part back to rows. This is the inverse of ``heads``."""
        if self.together:
            _, index = self.index(parts)
            x = pieces[0] if parts == 1 else torch.stack(pieces[0])
            return x.view(-1, x.shape[-1]).index_select(0, index).view(len(self.where), -1)
        h, d_k = pieces[0][0].shape[-3] if parts > 1 else pieces[0].shape[-3], pieces[0][0].shape[-1]
        merged = torch.empty(len(self.where), parts, h, d_k)
        for rows, piece in zip(self.slices, pieces, strict=True):
            for part, x in enumerate(piece if parts > 1 else [piece]):
                merged[rows, part] = x.transpose(0, 1)
        return merged.view(len(self.where), -1)

    def logits(self, x: Tensor, embedding: Tensor) -> Tensor:
        """Return logits ``(batch, n, vocab)`` from rows, with undefined values at padding."""
        logits, matrix = torch.empty(*self.real.shape, len(embedding)), embedding.t()
        for sentence, n, part in zip(logits, self.lengths, self.slices, strict=True):
            torch.mm(x[part], matrix, out=sentence[:n])
        return logits

    def index(self, parts: int) -> tuple[Tensor, Tensor]:
        """Return the row indices for ``heads`` and ``merge`` with this number of parts side by side."""
        if parts not in self.indices:
            h, size = self.n_heads, self.split_index.numel()
            row, head = self.split_index // h, self.split_index % h
            split = torch.stack([(row * parts + part) * h + head for part in range(parts)])
            merge = torch.stack([self.merge_index + part * size for part in range(parts)], dim=1)
            self.indices[parts] = split.flatten(), merge.flatten()
        return self.indices[parts]


class Attend(Function):
    """Attention on rows with queries, keys and values side by side, or with separate queries."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, memory: Tensor | None, rows: Rows, memory_rows: Rows | None, causal: bool
    ) -> Tensor:
        """Return softmax(q kᵀ / √d_k) v, optionally with a causal mask."""
        ctx.rows, ctx.memory_rows = rows, memory_rows
        keys_of = rows if memory_rows is None else memory_rows
        no_mask, ctx.kept, contexts = torch.zeros(()), [], []
        for q, k, v in qkv(x, memory, rows, memory_rows):
            mask = (
                causal_bias(q.shape[1]) if causal else keys_of.mask if keys_of.together and not keys_of.full else None
            )
            weights = torch.baddbmm(
                no_mask if mask is None else mask, q, k.mT, beta=0 if mask is None else 1, alpha=q.shape[-1] ** -0.5
            )
            torch.softmax(weights, -1, out=weights)
            contexts.append(torch.bmm(weights, v))
            ctx.kept.append((q, k, v, weights))
        return rows.merge(contexts, 1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of both inputs."""
        rows, memory_rows, pieces = ctx.rows, ctx.memory_rows, []
        for (q, k, v, weights), (g,) in zip(ctx.kept, rows.heads(gradient, 1), strict=True):
            if rows.together and not rows.full:
                g = g.mul_(rows.weights)
            scores = torch._softmax_backward_data(torch.bmm(g, v.mT), weights, -1, torch.float32)
            scores.mul_(q.shape[-1] ** -0.5)
            pieces.append((torch.bmm(scores, k), torch.bmm(scores.mT, q), torch.bmm(weights.mT, g)))
        ctx.kept = None
        if memory_rows is None:
            return rows.merge(pieces, 3), None, None, None, None
        of_x, of_memory = [p[0] for p in pieces], [p[1:] for p in pieces]
        return rows.merge(of_x, 1), memory_rows.merge(of_memory, 2), None, None, None


def qkv(x: Tensor, memory: Tensor | None, rows: Rows, memory_rows: Rows | None) -> Iterator[tuple[Tensor, ...]]:
    """Yield queries, keys and values of all heads."""
    if memory is None or memory_rows is None:
        for piece in rows.heads(x, 3):
            yield piece.unbind()
    else:
        for (q,), (k, v) in zip(rows.heads(x, 1), memory_rows.heads(memory, 2), strict=True):
            yield q, k, v


FUTURE_BIAS = torch.full((136, 136), -math.inf).triu(1)


def causal_bias(n: int) -> Tensor:
    """Return the causal mask as a bias to add to the scores."""
    return FUTURE_BIAS[:n, :n]


class FeedForward(Function):
    """Two linear layers with ReLU between them."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
        """Return max(0, x W₁ + b₁) W₂ + b₂."""
        hidden = torch.addmm(b_1, x, w_1).relu_()
        ctx.save_for_backward(x, w_1, w_2, hidden)
        return torch.addmm(b_2, hidden, w_2)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients."""
        x, w_1, w_2, hidden = ctx.saved_tensors
        inner = g @ w_2.t()
        of_w_2 = hidden.t() @ g
        torch.ops.aten.threshold_backward.grad_input(inner, hidden, 0, grad_input=inner)
        return inner @ w_1.t(), x.t() @ inner, inner.sum(0), of_w_2, g.sum(0)


class AddNorm(Function):
    """The residual connection with dropout, followed by layer normalization."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, kept: Tensor | None, weight: Tensor, bias: Tensor) -> Tensor:
        """Return LayerNorm(x + dropout(y))."""
        z = x + y if kept is None else torch.addcmul(x, y, kept)
        out, mean, scale = torch.native_layer_norm(z, z.shape[-1:], weight, bias, 1e-5)
        ctx.save_for_backward(z, mean, scale, weight, bias, kept)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients."""
        z, mean, scale, weight, bias, kept = ctx.saved_tensors
        of_z, of_weight, of_bias = torch.ops.aten.native_layer_norm_backward(
            g, z, z.shape[-1:], mean, scale, weight, bias, (True, True, True)
        )
        return of_z, of_z if kept is None else of_z * kept, None, of_weight, of_bias


def dropout_mask(like: Tensor, p: float) -> Tensor:
    """Return 1 / (1 − p) where a value is kept and 0 where it is dropped; each value uses 16 random bits."""
    bits = torch.empty((like.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    kept = torch.empty(like.shape)
    torch.lt(bits.view(torch.int16)[: like.numel()].view(like.shape), round((1 - p) * 2**16) - 2**15, out=kept)
    return kept.mul_(1 / (1 - p))


class TiedLoss(Function):
    """The last layer fused with the mean cross-entropy, in chunks of rows.

    The forward pass also computes the gradients. It stores the gradient of the matrix in ``shared``, and the backward
    pass of ``Embed`` adds the gradient of the embedding.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor, labels: Tensor, smoothing: float, shared: list[Tensor]) -> Tensor:
        """Return the mean of lse(z) − (1 − ε) z_label − ε mean(z), for logits z = x Eᵀ."""
        n, vocab_size = len(labels), len(matrix)
        mean_row, of_label = matrix.mean(0), matrix.index_select(0, labels)
        total = -(1 - smoothing) * torch.dot(x.flatten(), of_label.flatten()) - smoothing * (x @ mean_row).sum()
        logits, with_gradient = torch.empty(min(ROWS_PER_CHUNK, n), vocab_size), ctx.needs_input_grad[0]
        if with_gradient:
            of_x, of_matrix, scaled = torch.empty_like(x), torch.empty_like(matrix), x / n
        for start in range(0, n, ROWS_PER_CHUNK):
            part = slice(start, start + ROWS_PER_CHUNK)
            z = logits[: len(x[part])]
            torch.mm(x[part], matrix.t(), out=z)
            if not with_gradient:
                total += z.logsumexp(1).sum()
                continue
            largest = z.amax(1)
            torch.softmax(z, 1, out=z)
            total += (largest - z.amax(1).log()).sum()
            torch.mm(z, matrix, out=of_x[part])
            of_matrix = torch.addmm(of_matrix, z.t(), scaled[part], beta=int(start > 0), out=of_matrix)
        if with_gradient:
            of_x.sub_(of_label, alpha=1 - smoothing).sub_(mean_row, alpha=smoothing).div_(n)
            of_matrix.index_add_(0, labels, scaled, alpha=smoothing - 1)
            if smoothing:
                of_matrix.sub_(scaled.sum(0), alpha=smoothing / vocab_size)
            shared.append(of_matrix)
            ctx.save_for_backward(of_x)
        return total / n

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients from the forward pass. The loss is the last operation, so ``g`` is 1."""
        return ctx.saved_tensors[0], None, None, None, None


class Embed(Function):
    """Scaled rows of the embedding; the backward pass adds their gradient to the last layer's gradient."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, tokens: Tensor, scale: float, shared: list[Tensor]) -> Tensor:
        """Return the rows."""
        ctx.tokens, ctx.scale, ctx.shared = tokens, scale, shared
        return matrix.index_select(0, tokens).mul_(scale)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of the tied matrix."""
        return ctx.shared.pop().index_add_(0, ctx.tokens, g, alpha=ctx.scale), None, None, None
