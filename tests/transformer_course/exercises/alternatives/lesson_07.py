"""Correct but unusual answers to the exercises of lesson 07."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.exercises import every_exercise
from transformer_lab.layers import decoder_layer
from transformer_lab.models import decoder

DecoderLayer, Decoder = (every_exercise()[name].reference for name in ("DecoderLayer", "Decoder"))


def norm_by_hand(norm, x):
    centered = x - x.mean(-1, keepdim=True)
    return centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + norm.eps) * norm.weight + norm.bias


class NamesForEverything(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        looked_back = self.self_attention(query=x, key=x, value=x, mask=mask)
        after_looking_back = self.norm_1(looked_back + x)
        read = self.cross_attention(query=after_looking_back, key=memory, value=memory, mask=memory_mask)
        after_reading = self.norm_2(read + after_looking_back)
        return self.norm_3(self.feed_forward(after_reading) + after_reading)


class InALoop(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        steps = [
            (lambda x: self.self_attention(x, x, x, mask), self.norm_1),
            (lambda x: self.cross_attention(x, memory, memory, memory_mask), self.norm_2),
            (self.feed_forward, self.norm_3),
        ]
        for sublayer, norm in steps:
            x = norm_by_hand(norm, x + sublayer(x))
        return x


class InPlaceWhereNobodySees(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.norm_1(self.self_attention(x, x, x, mask) + x)
        z = self.cross_attention(y, memory, memory, memory_mask)
        z += y
        z = self.norm_2(z)
        return F.layer_norm(z + self.feed_forward(z), (z.size(-1),), self.norm_3.weight, self.norm_3.bias)


class SentenceBySentence(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        def of(given, i):
            return given if given is None or given.dim() < 3 or len(given) == 1 else given[i : i + 1]

        rows = [
            super(SentenceBySentence, self).forward(x[i : i + 1], memory[i : i + 1], of(mask, i), of(memory_mask, i))
            for i in range(len(x))
        ]
        return torch.cat(rows)


class ByTheNumberOfTheLayer(Decoder):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        batch, n = tokens.size()
        d_model = self.embedding.weight.size(1)
        x = self.embedding.weight[tokens] * d_model**0.5
        x += self.positions[None, :n].expand(batch, -1, -1)
        for i in range(len(self.layers)):
            x = self.layers[i](x=x, memory=memory, memory_mask=memory_mask, mask=mask)
        return x


class ByOneHotVectors(Decoder):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        one_hot = F.one_hot(tokens, self.embedding.num_embeddings).float()
        places = torch.arange(tokens.shape[-1])
        x = math.sqrt(self.positions.shape[1]) * (one_hot @ self.embedding.weight) + self.positions[places]
        first, *others = self.layers
        x = first(x, memory, mask, memory_mask)
        for layer in others:
            x = layer(x, memory, mask, memory_mask)
        return x


def shift_by_index(tokens, bos_id):
    shifted = torch.empty_like(tokens)
    shifted[:, 0], shifted[:, 1:] = bos_id, tokens[:, :-1]
    return shifted


def shift_by_rolling(tokens, bos_id):
    """Roll the rows and overwrite the tokens that wrap around."""
    shifted = torch.roll(tokens, 1)
    shifted[:, 0] = bos_id
    return shifted


def generates_into_a_full_table(model, source, bos_id, n_tokens, choose):
    target = torch.full((source.shape[0], n_tokens + 1), bos_id)
    for position in range(n_tokens):
        target[:, position + 1] = choose(model(source, target[:, : position + 1])[:, position])
    return target[:, 1:]


def generates_source_by_source(model, source, bos_id, n_tokens, choose):
    rows = []
    for one in source:
        tokens = [bos_id]
        while len(tokens) <= n_tokens:
            tokens.append(choose(model(one[None], torch.tensor([tokens]))[:, -1]).item())
        rows.append(tokens[1:])
    return torch.tensor(rows, dtype=torch.int64)


def generates_a_list_of_columns(model, source, bos_id, n_tokens, choose):
    columns = [source.new_full((len(source), 1), bos_id)]
    for _ in range(n_tokens):
        logits = model(source, torch.cat(columns, dim=1))
        columns.append(choose(logits[:, -1, :]).unsqueeze(1))
    return torch.cat(columns, dim=1)[:, 1:]


def prefix_by_loops(prefix_lengths, length):
    rows = [[[[k <= q or k < p for k in range(length)] for q in range(length)]] for p in prefix_lengths.tolist()]
    return torch.tensor(rows)


def prefix_by_maximum(prefix_lengths, length):
    """Let a query attend up to its own position or the end of the prefix, whichever is later."""
    sees = torch.maximum(torch.arange(length) + 1, prefix_lengths[:, None])
    return (torch.arange(length) < sees[..., None])[:, None]


UNUSUAL = {
    "DecoderLayer": {
        "names": NamesForEverything,
        "a loop": InALoop,
        "in place inside": InPlaceWhereNobodySees,
        "sentence by sentence": SentenceBySentence,
        "the library's": decoder_layer.DecoderLayer,
    },
    "Decoder": {
        "by number": ByTheNumberOfTheLayer,
        "one-hot": ByOneHotVectors,
        "the library's": decoder.Decoder,
    },
    "shift_right": {
        "by index": shift_by_index,
        "rolled": shift_by_rolling,
        "padded": lambda tokens, bos_id: F.pad(tokens, (1, -1), value=bos_id),
        "padded and cut": lambda tokens, bos_id: nn.ConstantPad1d((1, 0), bos_id)(tokens)[:, :-1],
        "lists": lambda tokens, bos_id: torch.tensor([[bos_id, *row[:-1]] for row in tokens.tolist()]),
        "new_full": lambda tokens, bos_id: torch.hstack([tokens.new_full((len(tokens), 1), bos_id), tokens[:, :-1]]),
    },
    "generate_target": {
        "a full table": generates_into_a_full_table,
        "source by source": generates_source_by_source,
        "a list of columns": generates_a_list_of_columns,
    },
    "prefix_mask": {
        "loops": prefix_by_loops,
        "the further of two": prefix_by_maximum,
        "row by row": lambda prefix_lengths, length: torch.stack(
            [(torch.ones(length, length).tril() + (torch.arange(length) < p) > 0)[None] for p in prefix_lengths]
        ),
    },
}
