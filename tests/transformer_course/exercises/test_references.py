"""Tests that the references match independent implementations."""

import collections
import copy
import itertools
import math
import re
import statistics

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.torch_parity import by_our_names
from tests.transformer_course.exercises import bank_references
from transformer_course.checking.tolerance import observation_distance
from transformer_course.exercises import every_exercise
from transformer_course.running.observe import observe
from transformer_lab.generation.beam_search import beam_search_from_state
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator
from transformer_lab.training.optimizer import make_optimizer


def train_epoch(model, batches, learning_rate):
    """Compute Adam's formulas and the gradients of the model by hand, in float64."""
    embedding, weight, bias = (p.detach().double().clone() for p in model.parameters())
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in (embedding, weight, bias)]
    losses = []
    for step, (names, months) in enumerate(batches, 1):
        read = embedding[names].mean(dim=1)
        logits = read @ weight.T + bias
        losses.append(float((logits.logsumexp(-1) - logits[range(len(months)), months]).mean()))
        errors = (logits.softmax(-1) - F.one_hot(months, len(bias))) / len(months)
        per_character = (errors @ weight / names.shape[1]).repeat_interleave(names.shape[1], dim=0)
        gradients = [
            torch.zeros_like(embedding).index_add(0, names.flatten(), per_character),
            errors.T @ read,
            errors.sum(dim=0),
        ]
        for p, g, (m, v) in zip((embedding, weight, bias), gradients, moments, strict=True):
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g * g)
            p -= learning_rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    return losses


def luong_step(state, states, w_c):
    context = F.scaled_dot_product_attention(state[:, None], states, states, scale=1.0)[:, 0]
    return (F.linear(context, w_c[:, : state.shape[1]]) + F.linear(state, w_c[:, state.shape[1] :])).tanh()


def similarity(query, keys):
    return torch.tensor([math.fsum(q * k for q, k in zip(query.tolist(), key, strict=True)) for key in keys.tolist()])


def attention_weights(queries, keys):
    return F.softmax(torch.einsum("...qd,...kd->...qk", queries.double(), keys.double()), dim=-1).float()


def attention(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values, scale=1.0)


def distance_attention(queries, keys, values):
    """Compute −½‖q − k‖² as a dot product of the extended vectors (q, 1) and (k, −½‖k‖²). The term −½‖q‖² cancels."""
    keys, queries, values = keys.double(), queries.double(), values.double()
    k = torch.cat([keys, -keys.square().sum(-1, keepdim=True) / 2], dim=-1)
    return F.scaled_dot_product_attention(F.pad(queries, (0, 1), value=1.0), k, values, scale=1.0).float()


def score_variance(d_k, variance):
    """Compute Var(q·k) exactly by assuming that the values of q and k are ±σ. Then each product is ±σ²."""
    return sum(math.sqrt(variance) ** 2 * math.sqrt(variance) ** 2 for _ in range(d_k))


def softmax_jacobian(probabilities):
    scores = probabilities.double().log()  # the softmax of these scores equals the probabilities
    return torch.autograd.functional.jacobian(lambda s: F.softmax(s, dim=0), scores).float()


def additive_scores(queries, keys, w_q, w_k, w):
    hidden = torch.einsum("bqi,hi->bqh", queries, w_q)[:, :, None] + torch.einsum("bkj,hj->bkh", keys, w_k)[:, None]
    return torch.einsum("bqkh,h->bqk", hidden.double().tanh(), w.double()).float()


def cosine_attention(queries, keys, values, temperature):
    cosines = F.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=-1)
    return torch.einsum("...qk,...kd->...qd", F.softmax(cosines / temperature, dim=-1), values)


class MultiHeadAttention(nn.Module):
    """Multi-head attention that calls ``nn.MultiheadAttention`` but uses our parameter names."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        batch, n_query, d_model = query.shape
        if mask is not None:  # in PyTorch, True means masked out
            mask = ~mask.expand(batch, self.n_heads, n_query, key.shape[1]).flatten(0, 1)
        layers = self.w_q, self.w_k, self.w_v
        output, _ = F.multi_head_attention_forward(
            *(x.transpose(0, 1) for x in (query, key, value)),
            embed_dim_to_check=d_model,
            num_heads=self.n_heads,
            in_proj_weight=torch.cat([layer.weight for layer in layers]),
            in_proj_bias=torch.cat([layer.bias for layer in layers]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.w_o.weight,
            out_proj_bias=self.w_o.bias,
            attn_mask=mask,
        )
        return output.transpose(0, 1)


def attention_parameters(d_model, n_heads, bias=True):
    return sum(p.numel() for p in nn.MultiheadAttention(d_model, n_heads, bias=bias).parameters())


def head_contributions(heads, w_o):
    """Compute the output of the layer with all other heads set to zero."""
    alone = torch.eye(heads.shape[1])[:, :, None, None] * heads[:, None]  # (batch, remaining head, n_heads, n, d_k)
    return torch.stack([torch.cat(h.unbind(1), dim=-1) @ w_o.T for h in alone.unbind(1)], dim=1)


def padding_mask(tokens, pad_id):
    return torch.tensor([[[[token != pad_id for token in sentence]]] for sentence in tokens.tolist()])


def causal_mask(n_query, n_key=None):
    """Return the last rows of torch's causal mask, which contains −∞ where a query may not attend."""
    square = torch.nn.Transformer.generate_square_subsequent_mask(n_query if n_key is None else n_key)
    return square[-n_query:] == 0


def decoder_mask(tokens, pad_id):
    rows = [
        [[j <= i and row[j] != pad_id for j in range(len(row))] for i in range(len(row))] for row in tokens.tolist()
    ]
    return torch.tensor(rows).unsqueeze(1)


def document_mask(documents):
    rows = [
        [[j <= i and row[j] == row[i] for j in range(len(row))] for i in range(len(row))] for row in documents.tolist()
    ]
    return torch.tensor(rows).unsqueeze(1)


def masked_attention(queries, keys, values, mask):
    """Evaluate the lesson's formula in float64, with sums over the allowed keys."""
    scores = torch.einsum("...qd,...kd->...qk", queries.double(), keys.double()) / math.sqrt(queries.shape[-1])
    allowed = mask.expand(scores.shape)
    exponentials = torch.where(allowed, torch.exp(scores - scores.where(allowed, -1e300).amax(-1, keepdim=True)), 0)
    weights = exponentials / exponentials.sum(-1, keepdim=True).clamp_min(1e-300)
    return torch.einsum("...qk,...kd->...qd", weights, values.double()).float()


def leaks_future(model, tokens):
    """Find the leaks in the model's tables. Values up to 1e-6 count as rounding errors."""
    return bool(model.mixing.triu(1).max() > 1e-6)


def sliding_window_mask(length, window):
    table = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        table[i, max(0, i - window + 1) : i + 1] = True
    return table


def shift_rotation(offset, d_model, base=10000.0):
    """Use least squares to find the unique matrix that shifts many encodings."""
    powers = [base ** (-2 * i / d_model) for i in range(d_model // 2)]

    def encodings(first):
        rows = [[wave(p * power) for power in powers for wave in (math.sin, math.cos)] for p in range(first, 20000, 7)]
        return torch.tensor(rows[:2000], dtype=torch.float64)

    return torch.linalg.lstsq(encodings(0), encodings(offset)).solution.T.float()


def apply_rotary(x, positions, base=10000.0):
    """Rotate pairs of features by multiplying complex numbers."""
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    powers = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    return torch.view_as_real(pairs * torch.exp(1j * torch.outer(positions.double(), powers))).flatten(-2).float()


def alibi_bias(n_heads, n_query, n_key):
    n_cached = n_key - n_query
    return torch.tensor(
        [
            [[-(0.5 ** (8 * h / n_heads)) * abs(i + n_cached - j) for j in range(n_key)] for i in range(n_query)]
            for h in range(1, n_heads + 1)
        ]
    )


def sinusoidal_encoding(length, d_model, base=10000.0):
    rows = [[t / base ** (c // 2 * 2 / d_model) for c in range(d_model)] for t in range(length)]
    return torch.tensor([[math.cos(a) if c % 2 else math.sin(a) for c, a in enumerate(row)] for row in rows])


def relative_bias(table, n_query, n_key):
    max_offset = (table.shape[1] - 1) // 2
    bias = torch.empty(len(table), n_query, n_key)
    for i in range(n_query):
        for j in range(n_key):
            offset = j - (i + n_key - n_query)
            bias[:, i, j] = table[:, max(-max_offset, min(max_offset, offset)) + max_offset]
    return bias


def layer_norm(x, weight, bias, eps=1e-5):
    """Normalize with loops over vectors and features."""
    normed = torch.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        features = x[index].tolist()
        mean = math.fsum(features) / len(features)
        deviation = math.sqrt(math.fsum((feature - mean) ** 2 for feature in features) / len(features) + eps)
        normed[index] = torch.tensor([(feature - mean) / deviation for feature in features]) * weight + bias
    return normed


class FeedForward(nn.Module):
    """A feed-forward network that applies the weight matrices with einsum."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        middle = torch.einsum("...d,fd->...f", x, self.w_1.weight) + self.w_1.bias
        return torch.einsum("...f,df->...d", middle.where(middle > 0, 0), self.w_2.weight) + self.w_2.bias


class EncoderLayer(nn.Module):
    """A layer that calls ``nn.TransformerEncoderLayer`` but uses our parameter names."""

    norm_first = False

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.feed_forward = MultiHeadAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attention, d_model, d_ff = self.self_attention, x.shape[2], self.feed_forward.w_1.out_features
        theirs = nn.TransformerEncoderLayer(
            d_model, attention.n_heads, d_ff, dropout=0.0, batch_first=True, norm_first=self.norm_first
        )
        with torch.no_grad():
            for name, ours in by_our_names(theirs, lambda parameter: parameter.data).items():
                ours.copy_(self.get_parameter(name))
        if mask is not None:  # in PyTorch, True means masked out
            mask = ~mask.expand(len(x), attention.n_heads, x.shape[1], x.shape[1]).flatten(0, 1)
        return theirs(x, mask)


class PreNormEncoderLayer(EncoderLayer):
    norm_first = True


class Encoder(nn.Module):
    """An encoder that embeds one token at a time, with independently computed positions."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.Sequential(*(EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)))

    def forward(self, tokens, mask=None):
        d_model = self.embedding.embedding_dim
        table = sinusoidal_encoding(tokens.shape[1], d_model)
        rows = []
        for row in tokens.tolist():
            scaled = [self.embedding.weight[token] * math.sqrt(d_model) for token in row]
            rows.append(torch.stack(scaled) + table)
        x = torch.stack(rows)
        for layer in self.layers.children():
            x = layer(x, mask)
        return x


def keeps_the_stream(layer, x):
    """Measure the slope for very large x, where norms are constant. For x + f(x), the slope is 1 in every feature."""
    slope = (layer(3000 * x) - layer(1000 * x)) / 2000
    return bool(((slope - x).abs() <= 0.1).all())


class DecoderLayer(nn.Module):
    """A layer that calls ``nn.TransformerDecoderLayer`` but uses our parameter names."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, n_heads) for _ in range(2))
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask=None, memory_mask=None):
        n_heads, d_model, d_ff = self.self_attention.n_heads, x.shape[2], self.feed_forward.w_1.out_features
        theirs = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, dropout=0.0, batch_first=True)
        with torch.no_grad():
            for name, ours in by_our_names(theirs, lambda parameter: parameter.data).items():
                ours.copy_(self.get_parameter(name))

        def hidden(mask, n_key):  # in PyTorch, True means masked out
            return None if mask is None else ~mask.expand(len(x), n_heads, x.shape[1], n_key).flatten(0, 1)

        return theirs(x, memory, hidden(mask, x.shape[1]), hidden(memory_mask, memory.shape[1]))


class Decoder(nn.Module):
    """A decoder that computes its layers recursively, from the last layer back to the embeddings."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(self, tokens, memory, mask=None, memory_mask=None):
        def after(n_layers):
            if n_layers:
                return self.layers[n_layers - 1](after(n_layers - 1), memory, mask, memory_mask)
            d_model = self.embedding.embedding_dim
            rows = [d_model**0.5 * self.embedding(row) for row in tokens]
            return torch.stack(rows) + sinusoidal_encoding(tokens.shape[1], d_model)

        return after(len(self.layers))


def prefix_mask(prefix_lengths, length):
    table = torch.ones(len(prefix_lengths), 1, length, length, dtype=torch.bool)
    for row, prefix_length in zip(table[:, 0], prefix_lengths.tolist(), strict=True):
        for query in range(length):
            row[query, max(query + 1, prefix_length) :] = False
    return table


def make_batches(pairs, batch_size, pad_id):
    """Group pairs by length, and fill in NumPy tables."""
    by_length = {}
    for source, target in pairs:
        by_length.setdefault(len(source), []).append((source, target))
    remaining = [pair for length in sorted(by_length) for pair in by_length[length]]
    batches = []
    while remaining:
        group, remaining = remaining[:batch_size], remaining[batch_size:]
        tables = []
        for side in zip(*group, strict=True):
            table = np.full((len(group), np.max([len(ids) for ids in side])), pad_id)
            for row, ids in zip(table, side, strict=True):
                row[: len(ids)] = ids
            tables.append(torch.from_numpy(table))
        lengths = torch.tensor([len(source) for source, _ in group])
        mask = torch.arange(tables[0].shape[1]) < lengths[:, None, None, None]
        batches.append((*tables, mask))
    return batches


def noam_rate(step, d_model, warmup):
    """Compute the rate relative to the maximum, which it reaches at the end of the warm-up."""
    peak = 1 / math.sqrt(d_model * warmup)
    return peak * (step / warmup if step <= warmup else math.sqrt(warmup / step))


def smoothed_cross_entropy(logits, targets, pad_id, smoothing):
    return F.cross_entropy(logits.mT, targets, ignore_index=pad_id, label_smoothing=smoothing)


def parameter_groups(model, weight_decay):
    optimizer = make_optimizer(model, weight_decay=weight_decay)
    return [{name: group[name] for name in ("params", "weight_decay")} for group in optimizer.param_groups]


def greedy_decode(model, source, bos_id, eos_id, max_length):
    """Decode one sentence at a time from the model's tables, using lists."""
    decoded = []
    for sentence in source.tolist():
        tokens = [bos_id]
        for position in range(max_length):
            scores = model.transition[tokens[-1]] + model.places[position] + sum(model.reading[s] for s in sentence)
            tokens.append(eos_id if eos_id in tokens else scores.tolist().index(max(scores.tolist())))
        decoded.append(tokens[1:])
    return torch.tensor(decoded)


def generate_target(model, source, bos_id, n_tokens, choose):
    """Generate one target at a time from the model's tables and noise, using lists."""
    noise, generated = choose.noise, []
    for row in source.tolist():
        tokens = [bos_id]
        for position in range(n_tokens):
            scores = model.transition[tokens[-1]] + model.places[position] + sum(model.reading[s] for s in row) + noise
            tokens.append(scores.tolist().index(max(scores.tolist())))
        generated.append(tokens[1:])
    return torch.tensor(generated, dtype=torch.int64)


def sequence_log_probability(logits, targets, pad_id):
    """Sum the log-probabilities in float64."""
    rows = []
    for sentence, tokens in zip(logits.double(), targets.tolist(), strict=True):
        log_p = [row[t] - row.logsumexp(0) for row, t in zip(sentence, tokens, strict=True) if t != pad_id]
        rows.append(math.fsum(map(float, log_p)))
    return torch.tensor(rows)


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


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Compute the loss of a Bradley–Terry model whose rewards are β log(π / π_reference)."""
    losses = []
    for i in range(len(chosen)):
        chosen_reward = beta * float(chosen[i] - reference_chosen[i])
        rejected_reward = beta * float(rejected[i] - reference_rejected[i])
        losses.append(math.log1p(math.exp(rejected_reward - chosen_reward)))
    return torch.tensor(losses).mean()


def answer_labels(tokens, prompt_lengths, pad_id):
    lengths = prompt_lengths.tolist()
    return torch.tensor(
        [[pad_id] * n + row[n:] for row, n in zip(tokens.tolist(), lengths, strict=True)], dtype=torch.int64
    )


def exact_reward(answers, accepted):
    rows = zip(answers.tolist(), accepted.tolist(), strict=True)
    return torch.tensor([1.0 if answer in forms else 0.0 for answer, forms in rows])


def group_advantages(rewards, eps=1e-4):
    groups = rewards.double().tolist()
    return torch.tensor(
        [
            [(reward - statistics.fmean(group)) / (statistics.pstdev(group) + eps) for reward in group]
            for group in groups
        ]
    )


def grpo_loss(log_p, log_p_before, log_p_reference, advantages, real, clip, beta):
    """Loop over tokens, and treat positive and negative advantages as separate cases."""
    terms = []
    for row, column in real.nonzero().tolist():
        now, before, reference = (float(x[row, column]) for x in (log_p, log_p_before, log_p_reference))
        ratio, advantage = math.exp(now - before), float(advantages[row])
        clipped = min(ratio, 1 + clip) if advantage > 0 else max(ratio, 1 - clip)
        terms.append(clipped * advantage - beta * (math.expm1(reference - now) - (reference - now)))
    return torch.tensor(-statistics.fmean(terms))


def pass_at_k(n, c, k):
    """Enumerate all choices of k samples. If there are too many choices, multiply the probabilities of wrong draws."""
    if math.comb(n, k) < 5_000:
        choices = [*itertools.combinations(range(n), k)]
        return sum(min(choice) < c for choice in choices) / len(choices)
    return 1 - math.prod(max(n - c - i, 0) / (n - i) for i in range(k))


def option_scores(log_p, is_option, per_token):
    """Process one option at a time, and add up its tokens' log-probabilities in Python."""
    combine = statistics.fmean if per_token else sum
    scores = []
    for rows, masks in zip(log_p.tolist(), is_option.tolist(), strict=True):
        pairs = zip(rows, masks, strict=True)
        scores.append([combine(itertools.compress(row, mask)) for row, mask in pairs])
    return torch.tensor(scores)


def paired_error_bar(first, second):
    """Compute the error bar from both variances and the covariance, in NumPy with float64."""
    a, b = first.double().numpy(), second.double().numpy()
    variances = np.cov(a, b)  # np.cov divides by n - 1
    variance = variances[0, 0] + variances[1, 1] - 2 * variances[0, 1]
    return torch.tensor(a.mean() - b.mean()).float(), torch.tensor(np.sqrt(variance / len(a))).float()


def ngram_overlap(words, others, n):
    """Search for each n-gram as text, with words separated by newlines."""
    text = "\n" + "\n".join(others) + "\n"
    starts = range(len(words) - n + 1)
    found = ["\n" + "\n".join(words[start : start + n]) + "\n" in text for start in starts]
    return found.count(True) / max(len(found), 1)


def test_pass_at_k_is_unbiased():
    """Compare the expected estimate with the true value 1 − (1 − p)^k, where p is the probability of a right sample."""
    n, k, p = 6, 3, 0.3
    odds = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    estimate = every_exercise()["pass_at_k"].reference
    expected = 1 - (1 - p) ** k
    assert sum(weight * estimate(n, c, k) for c, weight in enumerate(odds)) == pytest.approx(expected)
    assert sum(weight * (1 - (1 - c / n) ** k) for c, weight in enumerate(odds)) < expected - 0.01


def test_grpo_drift_is_kl_divergence_on_average():
    log_p, reference = (torch.randn(2, 7, dtype=torch.float64).log_softmax(dim=-1)).unbind()
    loss = every_exercise()["grpo_loss"].reference
    real, advantages = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1)
    drifts = []
    for p, q in zip(log_p.float(), reference.float(), strict=True):
        now, then = p.view(1, 1), q.view(1, 1)
        drifts.append(loss(now, now, then, advantages, real, 0.2, 1.0))
    kl = F.kl_div(reference, log_p, log_target=True, reduction="sum")
    assert_close((log_p.exp() * torch.stack(drifts).double()).sum(), kl, rtol=1e-4, atol=1e-6)


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


class SwiGLU(nn.Module):
    """SwiGLU by the paper's formula in float64, with Swish(z) = z / (1 + e⁻ᶻ)."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate, self.w_up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate, up, down = (layer.weight.double() for layer in (self.w_gate, self.w_up, self.w_down))
        z = torch.einsum("...d,fd->...f", x.double(), gate)
        gated = z / (1 + (-z).exp()) * torch.einsum("...d,fd->...f", x.double(), up)
        return torch.einsum("...f,df->...d", gated, down).float()


class GroupedQueryAttention(nn.Module):
    """Attention that calls ``nn.MultiheadAttention`` with the rows of ``w_k`` and ``w_v`` repeated for each head."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, d_kv = n_heads, d_model // n_heads * n_kv_heads
        self.shared = [head * n_kv_heads // n_heads for head in range(n_heads)]
        self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.w_k, self.w_v = (nn.Linear(d_model, d_kv, bias=False) for _ in range(2))

    def forward(self, x, mask=None):
        batch, n, d_model = x.shape
        if mask is not None:  # in PyTorch, True means masked out
            mask = ~mask.expand(batch, self.n_heads, n, n).flatten(0, 1)
        k, v = (
            torch.cat([layer.weight.split(d_model // self.n_heads)[head] for head in self.shared])
            for layer in (self.w_k, self.w_v)
        )
        output, _ = F.multi_head_attention_forward(
            *[x.transpose(0, 1)] * 3,
            embed_dim_to_check=d_model,
            num_heads=self.n_heads,
            in_proj_weight=torch.cat([self.w_q.weight, k, v]),
            in_proj_bias=None,
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.w_o.weight,
            out_proj_bias=None,
            attn_mask=mask,
        )
        return output.transpose(0, 1).nan_to_num()  # fully masked queries give nan


def route(logits, k):
    """Sort each token's experts, and compute the softmax over the best experts in float64."""
    best = [sorted(range(len(row)), key=row.__getitem__, reverse=True)[:k] for row in logits.tolist()]
    experts = torch.tensor(best)
    exponentials = torch.tensor(
        [[math.exp(row[i] - max(row)) for i in chosen] for row, chosen in zip(logits.tolist(), best, strict=True)]
    )
    return exponentials / exponentials.sum(dim=1, keepdim=True), experts


def pairs_from_halves(weight, d_k):
    """Move the first half of each head's rows to the even rows, and the second half to the odd rows."""
    heads = weight.clone().view(-1, d_k, weight.shape[1])
    for head, sorted_head in zip(weight.split(d_k), heads, strict=True):
        sorted_head[::2], sorted_head[1::2] = head[: d_k // 2], head[d_k // 2 :]
    return heads.reshape(weight.shape)


class LoRALinear(nn.Module):
    """A single float64 linear layer with the merged weight W + (alpha / rank) B A."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear, self.factor = linear.requires_grad_(False), alpha / rank
        self.a = nn.Parameter(torch.rand(rank, linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        weight = self.linear.weight.double() + self.factor * torch.einsum("or,ri->oi", self.b.double(), self.a.double())
        bias = 0 if self.linear.bias is None else self.linear.bias.double()
        return ((weight @ x.double().unsqueeze(-1)).squeeze(-1) + bias).float()


def gradient_norms(model):
    norms = {}
    for name, p in model.named_parameters():
        gradient = np.zeros(1) if p.grad is None else p.grad.numpy()
        norms[name] = math.sqrt(math.fsum(gradient.flatten().astype(float) ** 2))
    return norms


def cached_difference(model, tokens):
    """Compute the difference from the model's tables."""
    n = tokens.shape[1]
    change = model.cached_mixing[:n, :n].numpy() - model.mixing[:n, :n].numpy()
    return float(max(np.abs(change @ model.embedding[text].numpy()).max() for text in tokens))


def padding_difference(model, tokens, pad_id, n_pads):
    """Process each text separately, one token at a time."""
    model = copy.deepcopy(model).eval()
    found = []
    for text in tokens.tolist():
        alone, padded = (model(torch.tensor([begin + text]))[0].numpy() for begin in ([], n_pads * [pad_id]))
        found += [np.abs(padded[n_pads + t] - alone[t]).max() for t, token in enumerate(text) if token != pad_id]
    return float(max(found))


def which_inputs(model, x):
    return torch.autograd.functional.jacobian(model, x).any(dim=3).any(dim=1)


def accumulate(losses, n_tokens):
    """Assign the mean loss of a micro-batch to each of its tokens, and average over all tokens."""
    return (losses / n_tokens).repeat_interleave(n_tokens).mean()


def memory_bill(n_parameters, n_layers, d_model, n_kept, n_tokens, n_workers, checkpointing):
    """Count the numbers per parameter (the value, a gradient and two means) and each layer's activations."""
    per_parameter = {"parameters": 1, "gradients": 1, "optimizer": 2}
    layers = [d_model] * n_layers + [n_kept] if checkpointing else [n_kept] * n_layers
    numbers = {line: n * n_parameters / n_workers for line, n in per_parameter.items()}
    numbers["activations"] = sum(layers) * n_tokens
    return {line: n * np.dtype(np.float32).itemsize for line, n in numbers.items()}


def all_reduce_gradients(gradients, n_tokens):
    """Average gradients over tokens. Each token contributes the gradient of its worker."""
    parameters = torch.zeros(gradients.shape[1], requires_grad=True)
    losses = (gradients @ parameters).repeat_interleave(n_tokens)
    losses.mean().backward()
    return torch.stack([parameters.grad] * len(gradients))


def training_flops(n_parameters, n_tokens):
    """Count three matrix products per parameter and token, for the output and for the gradients of both factors."""
    operations_of_a_product, products = 2, 3
    return n_tokens * n_parameters * operations_of_a_product * products


def latent_attention(q, latent, w_k, w_v):
    """Apply the matrices to the queries and the averages instead of computing keys and values."""
    into_latent = torch.einsum("bhqd,hrd->bhqr", q.double(), w_k.double())
    weights = F.softmax(torch.einsum("bhqr,bkr->bhqk", into_latent, latent.double()) / math.sqrt(q.shape[-1]), dim=-1)
    return torch.einsum("bhqk,bkr,hrd->bhqd", weights, latent.double(), w_v.double()).float()


def gated_delta_rule(q, k, v, decay, beta):
    """Compute entry by entry in float64. Each write adds β k (v − r), where r is the value recalled for the key."""
    state, outputs = [[0.0] * v.shape[1] for _ in range(k.shape[1])], []
    for t in range(len(k)):
        state = [[decay[t].double() * entry for entry in row] for row in state]
        recalled = [sum(k[t, i].double() * state[i][j] for i in range(k.shape[1])) for j in range(v.shape[1])]
        for i in range(k.shape[1]):
            for j in range(v.shape[1]):
                state[i][j] = state[i][j] + beta[t].double() * k[t, i].double() * (v[t, j].double() - recalled[j])
        read = [sum(q[t, i].double() * state[i][j] for i in range(k.shape[1])) for j in range(v.shape[1])]
        outputs.append(torch.stack(read))
    return torch.stack(outputs).float()


def sparse_attention(q, k, v, index_scores, n_kept):
    """For each query, sort the past tokens by score, and average the values of the best tokens."""
    rows = []
    for t in range(len(q)):
        kept = sorted(range(t + 1), key=lambda s: -index_scores[t, s].item())[:n_kept]
        exponentials = [torch.exp((q[t].double() @ k[s].double()) / math.sqrt(q.shape[1])) for s in kept]
        rows.append(sum(e * v[s].double() for e, s in zip(exponentials, kept, strict=True)) / sum(exponentials))
    return torch.stack(rows).float()


def column_parallel(x, matrix, n_devices):
    """Compute one output feature at a time, and assign the features to the devices in order."""
    features = [sum(x[:, i] * column[i] for i in range(len(column))) for column in matrix.T]
    size = len(features) // n_devices
    return torch.stack([torch.stack(features[i * size :][:size], dim=1) for i in range(n_devices)])


def row_parallel(x_shards, matrix, bias):
    return F.linear(torch.cat(tuple(x_shards), dim=-1), matrix.T, bias)


def zero_step(parameters, gradients, means, mean_squares, step, rate):
    """Run torch's Adam on all parameters, with the combined state of all workers."""
    full, n = torch.nn.Parameter(parameters.clone()), len(parameters)
    adam = torch.optim.Adam([full], lr=rate)
    state = {"step": torch.tensor(step - 1.0), "exp_avg": means, "exp_avg_sq": mean_squares}
    adam.state[full] = {name: value.clone().flatten()[:n] if value.dim() else value for name, value in state.items()}
    full.grad = gradients.mean(dim=0)
    adam.step()
    kept = (adam.state[full][name] for name in ("exp_avg", "exp_avg_sq"))
    shards = [torch.cat([mean, torch.zeros(means.numel() - n)]).split(means.shape[1]) for mean in kept]
    return full.detach(), torch.stack(shards[0]), torch.stack(shards[1])


def pipeline_schedule(n_stages, n_microbatches):
    """Compute the time of each pass with a formula. In the steady state, a stage takes two ticks per micro-batch."""
    schedule = torch.zeros(n_stages, 2 * (n_stages + n_microbatches - 1), dtype=torch.int64)
    for stage, i in itertools.product(range(n_stages), range(n_microbatches)):
        schedule[stage, stage + (i if i < n_stages - stage else 2 * i)] = i + 1
        schedule[stage, 2 * n_stages - 1 - stage + 2 * i] = -(i + 1)
    return schedule


def compute_optimal_size(n_parameters, losses):
    centered = np.log(n_parameters) - np.log(n_parameters).mean()
    [minimum] = np.polynomial.Polynomial.fit(centered, losses, 2).deriv().roots()
    return math.exp(minimum + np.log(n_parameters).mean())


INDEPENDENT = {
    "train_epoch": train_epoch,
    "context_vector": lambda weights, states: torch.einsum("bn,bnd->bd", weights, states),
    "luong_step": luong_step,
    "rnn_step": lambda state, token, w, u: torch._VF.rnn_tanh_cell(token, state, u, w),
    "similarity": similarity,
    "softmax": lambda scores: F.softmax(scores.double(), dim=-1).float(),
    "attention_weights": attention_weights,
    "attention": attention,
    "distance_attention": distance_attention,
    "score_variance": score_variance,
    "scaled_dot_product_attention": F.scaled_dot_product_attention,
    "softmax_jacobian": softmax_jacobian,
    "additive_scores": additive_scores,
    "cosine_attention": cosine_attention,
    "split_heads": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1), dim=1),
    "merge_heads": lambda x: torch.cat(x.unbind(1), dim=-1),
    "MultiHeadAttention": MultiHeadAttention,
    "attention_parameters": attention_parameters,
    "head_contributions": head_contributions,
    "causal_mask": causal_mask,
    "masked_attention": masked_attention,
    "padding_mask": padding_mask,
    "decoder_mask": decoder_mask,
    "document_mask": document_mask,
    "leaks_future": leaks_future,
    "sliding_window_mask": sliding_window_mask,
    "sinusoidal_encoding": sinusoidal_encoding,
    "shift_rotation": shift_rotation,
    "apply_rotary": apply_rotary,
    "alibi_bias": alibi_bias,
    "relative_bias": relative_bias,
    "layer_norm": layer_norm,
    "FeedForward": FeedForward,
    "EncoderLayer": EncoderLayer,
    "PreNormEncoderLayer": PreNormEncoderLayer,
    "Encoder": Encoder,
    "keeps_the_stream": keeps_the_stream,
    "shift_right": lambda tokens, bos_id: torch.tensor([[bos_id, *row][:-1] for row in tokens.tolist()]),
    "generate_target": generate_target,
    "DecoderLayer": DecoderLayer,
    "Decoder": Decoder,
    "prefix_mask": prefix_mask,
    "make_batches": make_batches,
    "noam_rate": noam_rate,
    "smoothed_cross_entropy": smoothed_cross_entropy,
    "parameter_groups": parameter_groups,
    "greedy_decode": greedy_decode,
    "sequence_log_probability": sequence_log_probability,
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
    "rms_norm": lambda x, weight, eps=1e-6: F.rms_norm(x.double(), x.shape[-1:], weight.double(), eps).to(x.dtype),
    "SwiGLU": SwiGLU,
    "GroupedQueryAttention": GroupedQueryAttention,
    "route": route,
    "pairs_from_halves": pairs_from_halves,
    "LoRALinear": LoRALinear,
    "gradient_norms": gradient_norms,
    "cached_difference": cached_difference,
    "padding_difference": padding_difference,
    "which_inputs": which_inputs,
    "memory_bill": memory_bill,
    "accumulate": accumulate,
    "all_reduce_gradients": all_reduce_gradients,
    "training_flops": training_flops,
    "latent_attention": latent_attention,
    "gated_delta_rule": gated_delta_rule,
    "sparse_attention": sparse_attention,
    "column_parallel": column_parallel,
    "row_parallel": row_parallel,
    "zero_step": zero_step,
    "pipeline_schedule": pipeline_schedule,
    "compute_optimal_size": compute_optimal_size,
    "answer_labels": answer_labels,
    "dpo_loss": dpo_loss,
    "exact_reward": exact_reward,
    "group_advantages": group_advantages,
    "grpo_loss": grpo_loss,
    "pass_at_k": pass_at_k,
    "option_scores": option_scores,
    "paired_error_bar": paired_error_bar,
    "ngram_overlap": ngram_overlap,
    **bank_references.INDEPENDENT,
}


TOLERANCES = {"train_epoch": {"rtol": 1e-4, "atol": 1e-5}}
"""Tolerances for outputs that are plain numbers but were computed in float32."""


def test_independent_implementations_belong_to_exercises():
    assert INDEPENDENT.keys() - every_exercise().keys() == set()


@pytest.mark.parametrize("name", every_exercise())
def test_reference_matches_independent_implementation(name, thoroughness):
    assert name in INDEPENDENT, "add an independent implementation to INDEPENDENT"
    exercise = every_exercise()[name]
    for seed in thoroughness.seeds(10):
        for case in exercise.cases(seed):
            observation, right = observe(exercise.reference, case), observe(INDEPENDENT[name], case)
            if case.kind == "sampler":
                assert observation_distance(observation, right) <= 1
                continue
            output, expected = (exercise.normalize(observed["output"], case) for observed in (observation, right))
            texts = expected if isinstance(expected, list) else [expected]
            if all(isinstance(text, str) for text in texts):
                assert output == expected
            else:
                assert_close(output, expected, **TOLERANCES.get(name, {}))


def test_context_vector_matches_library():
    model = AttentiveRecurrentTranslator(source_vocab_size=11, target_vocab_size=11, d_model=5)
    state, states, mask = torch.randn(3, 5), torch.randn(3, 7, 5), torch.arange(7) < torch.tensor([[7], [2], [5]])
    _, weights = model.attention(state[:, None], states, states, mask[:, None])
    mixed = every_exercise()["context_vector"].reference(weights[:, 0], states)
    assert_close(mixed, model.context(state, states, mask))


def test_score_variance_matches_samples():
    rng = torch.Generator().manual_seed(0)
    q, k = 1.7**0.5 * torch.randn(2, 100_000, 5, generator=rng, dtype=torch.float64)
    measured = (q * k).sum(dim=-1).var()
    assert_close(every_exercise()["score_variance"].reference(5, 1.7), float(measured), rtol=0.02, atol=0.0)
