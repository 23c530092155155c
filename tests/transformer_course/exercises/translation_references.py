"""Independent implementations of the exercises in the primer and lessons 00 to 08."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers.torch_parity import by_our_names
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
}
