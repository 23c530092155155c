"""Independent implementations of the exercises on tokenizers and in lessons 09 and 10."""

import collections
import itertools
import math
import re

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.transformer_course.exercises.translation_references import PreNormEncoderLayer
from transformer_lab.generation.beam_search import beam_search_from_state


def count_pairs(tokens, vocab_size):
    counts, _, _ = np.histogram2d(tokens[:-1], tokens[1:], bins=vocab_size, range=[[0, vocab_size]] * 2)
    return torch.from_numpy(counts).long()


def merge(tokens, pair, new_id):
    """Write the tokens as text, and replace the pair with a regular expression."""
    text = " ".join(map(str, tokens))
    return [*map(int, re.sub(rf"(?<!\S){pair[0]} {pair[1]}(?!\S)", str(new_id), text).split())]


def encode(text, merges):
    written = " ".join(str(byte) for byte in text.encode())
    for new_id, (first, second) in enumerate(merges, start=256):
        written = re.sub(rf"(?<!\S){first} {second}(?!\S)", str(new_id), written)
    return [*map(int, written.split())]


def decode(tokens, merges):
    """Expand tokens on a stack until only bytes remain."""
    stack, found = tokens[::-1], []
    while stack:
        token = stack.pop()
        if token < 256:
            found.append(token)
        else:
            stack += [*merges[token - 256]][::-1]
    return bytes(found).decode(errors="replace")


def group_digits(text):
    """Group digits by inserting Python's thousands separators."""
    pieces = []
    for is_number, run in itertools.groupby(text, key=lambda c: c.isascii() and c.isdigit()):
        digits = "".join(run)
        cuts = [0, *itertools.accumulate(map(len, f"{int('1' * len(digits)):,}".split(",")))]
        pieces += [digits[i:j] for i, j in itertools.pairwise(cuts)] if is_number else [digits]
    return pieces


class GPT(nn.Module):
    """A GPT that computes one token and one logit at a time."""

    def __init__(self, vocab_size, d_model=64, n_heads=4, n_layers=2, context_length=64):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(vocab_size, d_model), nn.LayerNorm(d_model)
        self.positions = nn.Parameter(torch.empty(context_length, d_model))
        self.blocks = nn.Sequential(*(PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers)))

    def forward(self, tokens):
        indices, rows = range(tokens.shape[1]), tokens.tolist()
        positions = torch.stack([self.positions[i] for i in indices])
        x = torch.stack([self.embedding.weight[row] + positions for row in rows])
        for block in self.blocks:
            x = block(x, torch.tensor([[key <= query for key in indices] for query in indices]))
        return torch.stack([(self.norm(x) * row).sum(dim=-1) for row in self.embedding.weight], dim=-1)


def next_token_loss(logits, tokens, pad_id):
    predictions, targets = logits[:, :-1].double(), tokens[:, 1:]
    return F.cross_entropy(predictions.flatten(0, 1), targets.flatten(), ignore_index=pad_id).float()


def bits_per_byte(loss, n_tokens, n_bytes):
    """Compute how many times, per byte, the probability is halved."""
    return -math.log2(math.exp(-loss)) * n_tokens / n_bytes


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Find each row's possible tokens in plain Python, and draw from cumulative probabilities in float64."""
    rows, which = logits.unique(dim=0, return_inverse=True)
    edges = []
    for row in rows.double().tolist():
        ranked = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:top_k]
        kept = {token: math.exp((row[token] - max(row)) / temperature) for token in ranked}
        needed = math.inf if top_p is None else top_p * sum(kept.values())
        for rank, token in reversed([*enumerate(ranked)][1:]):
            if sum(kept[likelier] for likelier in ranked[:rank]) >= needed:
                del kept[token]
        sums = itertools.accumulate(kept.get(token, 0.0) / sum(kept.values()) for token in range(len(row)))
        edges.append([*sums])
    uniform = torch.rand(len(logits), generator=generator, dtype=torch.float64)
    return torch.searchsorted(torch.tensor(edges, dtype=torch.float64)[which], uniform[:, None], right=True)[:, 0]


def generate(model, tokens, max_new_tokens, context_length, sample):
    """Generate one text at a time, using lists. The model receives only the context window."""
    texts = tokens.tolist()
    for text in texts:
        window = collections.deque(text, maxlen=context_length)
        for _ in range(max_new_tokens):
            [token] = sample(model(torch.tensor([[*window]]))[:, -1]).tolist()
            text.append(token)
            window.append(token)
    return torch.tensor(texts)


def induction_score(weights, period):
    """Compute the scores with loops over texts, heads and queries."""
    scores = []
    for head in range(weights.shape[1]):
        found = [text[head, i, i - period + 1].item() for text in weights for i in range(period, weights.shape[-1])]
        scores.append(sum(found) / len(found))
    return torch.tensor(scores)


def attend_with_cache(query, key, value, cache):
    """Compute causal attention over the whole text, and return the last row, which belongs to the newest token."""
    if cache is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value), strict=True))
    queries = torch.cat([torch.zeros_like(key[:, :, 1:]), query], dim=2)  # earlier queries have no effect
    output = F.scaled_dot_product_attention(queries, key, value, is_causal=True)
    return output[:, :, -1:], (key, value)


def accept(p, q, drafted, uniforms):
    """Accept or reject one token at a time."""
    for i, (token, number) in enumerate(zip(drafted.tolist(), uniforms.tolist(), strict=True)):
        if number * q[i, token] >= p[i, token]:
            residual = F.relu(p[i].double() - q[i].double())
            return i, F.normalize(residual, p=1, dim=0).float()
    return len(drafted), p[-1]


def cache_bytes(n_layers, n_kv_heads, d_head, length, batch, bytes_per_number):
    number = np.zeros((), dtype=f"V{bytes_per_number}")
    return np.broadcast_to(number, (n_layers, 2, batch, n_kv_heads, length, d_head)).nbytes


class UncachedState:
    """Decoding state for the library that keeps all tokens and runs the model on the whole text in each step."""

    def __init__(self, model, source):
        self.model, self.source, self.target = model, source, torch.empty(len(source), 0, dtype=torch.int64)

    def next_logits(self, tokens):
        self.target = torch.cat([self.target, tokens], dim=1)
        return self.model(self.source, self.target)[:, -1]

    def reorder(self, rows):
        self.source, self.target = self.source[rows], self.target[rows]


def quantize_groups(weight, group):
    """Quantize one weight at a time, in plain Python."""
    codes, scales, lows = [], [], []
    for row in weight.tolist():
        groups = [row[start : start + group] for start in range(0, len(row), group)]
        lows.append([min(weights) for weights in groups])
        scales.append([(max(weights) - min(weights)) / 15 or 1.0 for weights in groups])
        rows = zip(groups, lows[-1], scales[-1], strict=True)
        codes.append([int((w - low) / scale + 0.5) for weights, low, scale in rows for w in weights])
    return torch.tensor(codes), torch.tensor(scales), torch.tensor(lows)


def beam_search(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
    begin = torch.full((len(source), 1), bos_id)
    return beam_search_from_state(UncachedState(model, source), begin, max_length, eos_id, beam_size, length_penalty)[0]


INDEPENDENT = {
    "count_pairs": count_pairs,
    "merge": merge,
    "encode": encode,
    "decode": decode,
    "group_digits": group_digits,
    "GPT": GPT,
    "next_token_loss": next_token_loss,
    "bits_per_byte": bits_per_byte,
    "sample_next": sample_next,
    "generate": generate,
    "induction_score": induction_score,
    "attend_with_cache": attend_with_cache,
    "accept": accept,
    "cache_bytes": cache_bytes,
    "repeat_kv": lambda x, n_repeats: torch.from_numpy(np.repeat(x.numpy(), n_repeats, axis=1)),
    "quantize_groups": quantize_groups,
    "beam_search": beam_search,
    "blockwise_attention": lambda queries, keys, values, block: F.scaled_dot_product_attention(
        queries.double(), keys.double(), values.double()
    ).float(),
}
