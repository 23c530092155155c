"""A plain implementation of the paper's Transformer, written for speed, as a target for the library.

It is as fast as a few hundred lines of PyTorch allow. It computes nothing for padding and shares no code with the
library.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.contestant import Contestant
from benchmarks.plain_parts import AddNorm, Attend, Embed, FeedForward, Rows, TiedLoss, dropout_mask
from benchmarks.work import BEGIN, END, LABEL_SMOOTHING, N_NEW_TOKENS, PAD, Batch, Work


def mark_ends(token: Tensor, ended: Tensor | None) -> Tensor | None:
    """Overwrite the new tokens of finished texts with the end token; return a mask of the finished texts, or None."""
    if ended is not None:
        token.masked_fill_(ended, END)
    return token == END if END in token.tolist() else None


class Sublayer(nn.Module):
    """The parameters of a sublayer: named linear layers and a norm."""

    def __init__(self, d: int, **shapes: tuple[int, int]) -> None:
        super().__init__()
        for name, shape in shapes.items():
            self.register_parameter(f"w_{name}", nn.Parameter(nn.init.xavier_uniform_(torch.empty(shape))))
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(shape[1])))
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))


class PlainPeer(Contestant):
    """The Transformer of the paper."""

    name = "plain"
    known_difference = "no logits at padding"
    tasks = ("train", "forward", "evaluate", "greedy", "beam")

    def __init__(self, work: Work) -> None:
        size = self.size = work.size
        d, ff = size.d_model, {"1": (size.d_model, size.d_ff), "2": (size.d_ff, size.d_model)}
        itself, cross = {"qkv": (d, 3 * d), "o": (d, d)}, {"q": (d, d), "kv": (d, 2 * d), "o": (d, d)}
        self.embedding = nn.Parameter(torch.randn(size.vocab_size, d) * d**-0.5)
        self.encoder = nn.ModuleList(
            nn.ModuleList([Sublayer(d, **itself), Sublayer(d, **ff)]) for _ in range(size.n_layers)
        )
        self.decoder = nn.ModuleList(
            nn.ModuleList([Sublayer(d, **itself), Sublayer(d, **cross), Sublayer(d, **ff)])
            for _ in range(size.n_layers)
        )
        self.model = nn.Module()
        self.model.embedding, self.model.encoder, self.model.decoder = self.embedding, self.encoder, self.decoder
        self.dropout = work.dropout
        angle = torch.arange(size.max_length)[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)
        self.positions = torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)

    def hidden(self, source: Tensor, target: Tensor, real: Tensor, shared: list[Tensor]) -> tuple[Tensor, Rows]:
        """Return the decoder's output at real positions of the target."""
        sources, targets = Rows(source != PAD, self.size.n_heads), Rows(real, self.size.n_heads)
        tokens = torch.cat([source.flatten()[sources.where], target.flatten()[targets.where]])
        at = torch.cat([sources.where % source.shape[1], targets.where % target.shape[1]])
        x = Embed.apply(self.embedding, tokens, math.sqrt(self.size.d_model), shared) + self.positions[at]
        if (kept := self.kept(x)) is not None:
            x = x * kept
        memory, x = x.split([len(sources.where), len(targets.where)])
        memory = self.encode(memory, sources)
        for itself, cross, feed_forward in self.decoder:
            x = self.attend(itself, x, targets, causal=True)
            inputs = torch.addmm(cross.b_q, x, cross.w_q), torch.addmm(cross.b_kv, memory, cross.w_kv)
            x = self.add_norm(cross, x, Attend.apply(*inputs, targets, sources, False))
            x = self.feed_forward(feed_forward, x)
        return x, targets

    def encode(self, x: Tensor, rows: Rows) -> Tensor:
        """Return the memory for embedded source rows."""
        for itself, feed_forward in self.encoder:
            x = self.feed_forward(feed_forward, self.attend(itself, x, rows, causal=False))
        return x

    def attend(self, part: Sublayer, x: Tensor, rows: Rows, causal: bool) -> Tensor:
        """Run self-attention and the norm after it."""
        return self.add_norm(part, x, Attend.apply(torch.addmm(part.b_qkv, x, part.w_qkv), None, rows, None, causal))

    def add_norm(self, part: Sublayer, x: Tensor, context: Tensor) -> Tensor:
        """Apply dropout, the residual connection and the norm after attention."""
        y = torch.addmm(part.b_o, context, part.w_o)
        return AddNorm.apply(x, y, self.kept(y), part.weight, part.bias)

    def feed_forward(self, part: Sublayer, x: Tensor) -> Tensor:
        """Run the feed-forward network and the norm after it."""
        y = FeedForward.apply(x, part.w_1, part.b_1, part.w_2, part.b_2)
        return AddNorm.apply(x, y, self.kept(y), part.weight, part.bias)

    def kept(self, like: Tensor) -> Tensor | None:
        """Return the dropout mask, or None without dropout."""
        return dropout_mask(like, self.dropout) if self.model.training and self.dropout else None

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits at real positions, with undefined values at padding."""
        x, rows = self.hidden(batch.source, batch.target, batch.target != PAD, [])
        return rows.logits(x, self.embedding)

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss with label smoothing."""
        shared: list[Tensor] = []
        x, rows = self.hidden(batch.source, batch.target, batch.labels != PAD, shared)
        labels = batch.labels.flatten()[rows.where]
        return TiedLoss.apply(x, self.embedding.detach(), labels, LABEL_SMOOTHING, shared)

    def greedy(self, source: Tensor) -> Tensor:
        """Generate the most probable tokens with a cache; finished texts repeat the end token."""
        step, token = self.start(source, 1), torch.full((len(source),), BEGIN)
        tokens, ended = torch.full((N_NEW_TOKENS, len(source)), END), None
        for t in range(N_NEW_TOKENS):
            token = torch.argmax(step(token, t, None), 1, out=tokens[t])
            ended = mark_ends(token, ended)
            if ended is not None and ended.all():
                break
        return tokens[: t + 1].t()

    def beam(self, source: Tensor, width: int = 4) -> Tensor:
        """Run beam search. Finished texts stay in the beam. Once a text has finished, ranks depend on lengths."""
        batch, step = len(source), self.start(source, width)
        token, first_row = torch.full((batch * width,), BEGIN), torch.arange(batch)[:, None] * width
        score, length, ended = torch.full((batch, width), -math.inf), torch.zeros(batch, width), None
        score[:, 0] = 0
        own_slot = torch.eye(width).log().expand(batch, width, width)  # 0 at a beam's own cache slot, −∞ at all others
        past, tokens = own_slot, torch.empty(batch, width, 0, dtype=torch.long)
        for t in range(N_NEW_TOKENS):
            logits = step(token, t, past)
            best, ids = logits.topk(width, 1)
            best = (best - logits.logsumexp(1, keepdim=True)).view(batch, width, width)
            if ended is None:
                score, place = (best + score[:, :, None]).view(batch, -1).topk(width, 1)
            else:
                best[ended] = torch.eye(1, width).log()  # a finished text continues with the end token, at no cost
                ids.view(batch, width, width)[ended] = END
                length, best = length + ~ended, (best + score[:, :, None]).view(batch, -1)
                place = (best / ((5 + length) / 6).repeat_interleave(width, 1)).topk(width, 1).indices
                score, length, ended = best.gather(1, place), *(x.gather(1, place // width) for x in (length, ended))
            parent = (first_row + place // width).flatten()
            token = ids.view(batch, -1).gather(1, place)
            if ended is not None:
                ended |= token == END
            elif END in token.flatten().tolist():
                length, ended = torch.full((batch, width), t + 1.0), token == END
            tokens = torch.cat([tokens.view(batch * width, t)[parent].view(batch, width, t), token[:, :, None]], 2)
            if ended is not None and ended.all():
                break
            past = torch.cat([past.reshape(batch * width, -1)[parent].view(batch, width, -1), own_slot], 2)
            token = token.flatten()
        return tokens[:, 0]

    def start(self, source: Tensor, width: int) -> Callable[[Tensor, int, Tensor | None], Tensor]:
        """Return a function that computes logits from the newest tokens, their position, and each beam's cache mask.

        The cache has a slot for each beam at each position and is never reordered: after each search step, a beam
        attends to the slots of its ancestors. All beams share the encoder's output.
        """
        h, d, batch, rows = self.size.n_heads, self.size.d_model, len(source), len(source) * width
        d_k, scale = d // h, (d // h) ** -0.5
        sources = Rows(source != PAD, h, together=True)
        x = self.embedding[source.flatten()[sources.where]] * math.sqrt(d)
        memory = self.encode(x + self.positions[sources.where % source.shape[1]], sources)
        read = [next(sources.heads(torch.addmm(cross.b_kv, memory, cross.w_kv), 2)) for _, cross, _ in self.decoder]
        cache = torch.empty(len(self.decoder), 2, batch, h, N_NEW_TOKENS * width, d_k)
        matrix = self.embedding.t().contiguous() if rows > 1 else self.embedding.t()
        none, padding, layers = torch.zeros(()), None if sources.full else sources.mask, list(self.decoder)

        def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
            q = q.view(batch, width, h, d_k).transpose(1, 2).reshape(batch * h, width, d_k)
            scores = torch.baddbmm(none if mask is None else mask, q, k.mT, beta=int(mask is not None), alpha=scale)
            y = torch.bmm(torch.softmax(scores, -1, out=scores), v)
            return y.view(batch, h, width, d_k).transpose(1, 2).reshape(rows, d)

        def step(token: Tensor, t: int, past: Tensor | None) -> Tensor:
            x = torch.add(self.positions[t], self.embedding.index_select(0, token), alpha=math.sqrt(d))
            if past is not None:
                past = past[:, None].expand(-1, h, -1, -1).reshape(batch * h, width, -1)
            now = slice(t * width, (t + 1) * width)
            for (itself, cross, ff), (k, v), saved in zip(layers, read, cache, strict=True):
                q, kv = torch.addmm(itself.b_qkv, x, itself.w_qkv).split([d, 2 * d], 1)
                saved[..., now, :] = kv.view(batch, width, 2, h, d_k).permute(2, 0, 3, 1, 4)
                own_k, own_v = saved[..., : now.stop, :].flatten(1, 2)
                x = add_norm(itself, x, torch.addmm(itself.b_o, attend(q, own_k, own_v, past), itself.w_o))
                q = torch.addmm(cross.b_q, x, cross.w_q)
                x = add_norm(cross, x, torch.addmm(cross.b_o, attend(q, k, v, padding), cross.w_o))
                x = add_norm(ff, x, torch.addmm(ff.b_2, torch.addmm(ff.b_1, x, ff.w_1).relu_(), ff.w_2))
            return torch.mm(x, matrix)

        def add_norm(part: Sublayer, x: Tensor, y: Tensor) -> Tensor:
            return torch.layer_norm(y.add_(x), (d,), part.weight, part.bias)

        return step
