"""Multi-head attention in pieces, of which the known mistakes each replace one."""

import torch
from torch import nn


class InPieces(nn.Module):
    """A right version, to be made wrong in one place."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        mixed = self.weights(self.scores(q, k), mask) @ v
        return self.w_o(self.merge(mixed))

    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), self.w_v(value)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def scores(self, q, k):
        return q @ k.mT / q.shape[-1] ** 0.5

    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)
