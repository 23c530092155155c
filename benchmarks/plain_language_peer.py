"""A plain implementation of GPT-2, written for speed; see ``plain_peer``."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.contestant import LanguageContestant
from benchmarks.plain_parts import Attend, Embed, Rows, TiedLoss, dropout_mask
from benchmarks.plain_peer import Sublayer, mark_ends
from benchmarks.work import N_NEW_TOKENS, PAD, Batch, Work


class PlainLanguagePeer(LanguageContestant):
    """GPT-2, with pre-norm layers and learned positions."""

    name = "plain"
    known_difference = "no logits at padding"
    tasks = (*LanguageContestant.tasks, "greedy LM")

    def __init__(self, work: Work) -> None:
        size = self.size = work.size
        d, d_ff = size.d_model, size.d_ff
        self.model = nn.Module()
        self.embedding = self.model.embedding = nn.Parameter(torch.randn(size.vocab_size, d) * 0.02)
        self.positions = self.model.positions = nn.Parameter(torch.randn(size.max_length, d) * 0.02)
        self.blocks = self.model.blocks = nn.ModuleList(
            nn.ModuleList([Sublayer(d, qkv=(d, 3 * d), o=(d, d)), Sublayer(d, **{"1": (d, d_ff), "2": (d_ff, d)})])
            for _ in range(size.n_layers)
        )
        self.norm = self.model.norm = nn.LayerNorm(d)
        self.dropout = work.dropout

    def hidden(self, tokens: Tensor, real: Tensor, shared: list[Tensor]) -> tuple[Tensor, Rows]:
        """Return the output of the last norm at real positions."""
        rows = Rows(real, self.size.n_heads)
        x = Embed.apply(self.embedding, tokens.flatten()[rows.where], 1.0, shared)
        x = x + F.embedding(rows.where % tokens.shape[1], self.positions)
        x = self.add(torch.zeros(()), x)
        for itself, feed_forward in self.blocks:
            qkv = torch.addmm(itself.b_qkv, norm(itself, x), itself.w_qkv)
            context = Attend.apply(qkv, None, rows, None, True)
            x = self.add(x, torch.addmm(itself.b_o, context, itself.w_o))
            x = self.add(x, network(feed_forward, norm(feed_forward, x)))
        return self.norm(x), rows

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x + dropout(y)."""
        return torch.addcmul(x, y, dropout_mask(y, self.dropout)) if self.model.training and self.dropout else x + y

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits at real positions, with undefined values at padding."""
        x, rows = self.hidden(batch.target, batch.target != PAD, [])
        return rows.logits(x, self.embedding)

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss."""
        shared: list[Tensor] = []
        x, rows = self.hidden(batch.target, batch.labels != PAD, shared)
        return TiedLoss.apply(x, self.embedding.detach(), batch.labels.flatten()[rows.where], 0.0, shared)

    def greedy(self, source: Tensor) -> Tensor:
        """Generate with a cache; prompts must not contain padding."""
        (batch, n), h, d = source.shape, self.size.n_heads, self.size.d_model
        cache = torch.empty(len(self.blocks), 2, batch, h, n + N_NEW_TOKENS, d // h)
        matrix = self.embedding.t().contiguous() if batch > 1 else self.embedding.t()
        layers, out = list(self.blocks), torch.empty(N_NEW_TOKENS, batch, dtype=torch.long)
        tokens, start, ended = source, 0, None
        for t in range(N_NEW_TOKENS):
            stop = start + tokens.shape[1]
            x = self.embedding.index_select(0, tokens.flatten()) + self.positions[start:stop].repeat(batch, 1)
            for (itself, feed_forward), saved in zip(layers, cache, strict=True):
                qkv = torch.addmm(itself.b_qkv, norm(itself, x), itself.w_qkv)
                q, kv = qkv.view(batch, -1, 3, h, d // h).permute(2, 0, 3, 1, 4).split([1, 2])
                saved[..., start:stop, :] = kv
                k, v = saved[..., :stop, :].flatten(1, 2)
                if start:
                    scores = torch.bmm(q.reshape(batch * h, 1, -1), k.mT).mul_((d // h) ** -0.5)
                    y = torch.bmm(torch.softmax(scores, -1, out=scores), v).view(batch, d)
                else:
                    y = F.scaled_dot_product_attention(q[0], *kv, is_causal=True).transpose(1, 2).reshape(-1, d)
                x = torch.addmm(itself.b_o, y, itself.w_o).add_(x)
                x = network(feed_forward, norm(feed_forward, x)).add_(x)
            last = self.norm(x.view(batch, -1, d)[:, -1])
            token = torch.argmax(torch.mm(last, matrix), 1, out=out[t])
            ended = mark_ends(token, ended)
            if ended is not None and ended.all():
                break
            tokens, start = token[:, None], stop
        return out[: t + 1].t()


def norm(part: Sublayer, x: Tensor) -> Tensor:
    """Normalize the input of a sublayer."""
    return torch.layer_norm(x, x.shape[-1:], part.weight, part.bias)


def network(part: Sublayer, x: Tensor) -> Tensor:
    """Return the output of the feed-forward network."""
    return torch.addmm(part.b_2, F.gelu(torch.addmm(part.b_1, x, part.w_1), approximate="tanh"), part.w_2)
