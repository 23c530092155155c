"""Tests that correct answers pass even if they differ greatly from the reference."""

import copy
import functools
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.transformer_course.exercises.alternatives import (
    lesson_00,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
    lesson_12,
    lesson_13,
    lesson_14,
    lesson_architectures,
    lesson_evaluation,
    lesson_tokenizers,
    practice_bank,
    primer,
)
from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook, session
from transformer_lab.attention import multi_head


def by_loops(queries, keys, values, score):
    """Compute attention with loops over queries, keys and features."""
    output = torch.zeros(*queries.shape[:-1], values.shape[-1])
    for *batch, i in itertools.product(*map(range, queries.shape[:-1])):
        at = tuple(batch)
        scores = [score(queries[(*at, i)], key) for key in keys[at]]
        largest = max(scores)
        loud = [torch.exp(s - largest) for s in scores]
        for weight, value in zip(loud, values[at], strict=True):
            output[(*at, i)] += weight / sum(loud) * value
    return output


def dot_by_lists(a, b):
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def softmax_in_place(scores):
    weights = scores.clone()
    weights -= weights.amax(-1, True)
    weights.exp_()
    weights /= weights.sum(-1, True)
    return weights


def softmax_by_loops(scores):
    rows = scores.reshape(-1, scores.shape[-1]).tolist()
    loud = [[math.exp(s - max(row)) for s in row] for row in rows]
    return torch.tensor([[e / sum(row) for e in row] for row in loud]).view(scores.shape)


def softmax_in_numpy(scores):
    x = scores.numpy()
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return torch.from_numpy(x / x.sum(axis=-1, keepdims=True))


class CallableSoftmax:
    def __call__(self, scores):
        return F.softmax(scores, -1)


def transposed_inside(queries, keys, values, scale=1.0):
    """Transpose queries and keys twice, and return a view with unusual strides."""
    weights = torch.softmax(scale * keys @ queries.mT, dim=-2)
    return (values.mT @ weights).mT


def in_double(queries, keys, values, scale=1.0):
    q, k, v = queries.double(), keys.double(), values.double()
    return (torch.softmax(scale * q @ k.mT, dim=-1) @ v).to(queries.dtype)


def in_einsum(queries, keys, values, scale=1.0):
    weights = torch.einsum("...id,...jd->...ij", scale * queries, keys).softmax(-1)
    return torch.einsum("...ij,...jv->...iv", weights, values)


def by_log_space(queries, keys, values):
    scores = queries @ keys.mT
    return (scores - scores.logsumexp(-1, keepdim=True)).exp() @ values


def in_baddbmm(queries, keys, values):
    q, k, v = (x.flatten(0, -3) if x.dim() > 2 else x[None] for x in (queries, keys, values))
    scores = torch.baddbmm(torch.zeros(()), q, k.mT, beta=0, alpha=q.shape[-1] ** -0.5)
    return torch.bmm(F.softmax(scores, -1), v).view(*queries.shape[:-1], values.shape[-1])


def jacobian_by_loops(probabilities):
    p = probabilities.tolist()
    return torch.tensor([[p_i * ((i == j) - p_j) for j, p_j in enumerate(p)] for i, p_i in enumerate(p)])


def jacobian_entry_by_entry(probabilities):
    """Fill a table of tensors one element at a time."""
    n = len(probabilities)
    jacobian = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            if i == j:
                jacobian[i, j] = probabilities[i] * (1 - probabilities[i])
            else:
                jacobian[i, j] = -probabilities[i] * probabilities[j]
    return jacobian


def weights_row_by_row(queries, keys):
    scores = torch.cat([(keys * queries[..., [i], :]).sum(-1).unsqueeze(-2) for i in range(queries.shape[-2])], dim=-2)
    loud = (scores - scores.max(-1, keepdim=True)[0]).exp()
    return loud / loud.sum(-1, keepdim=True)


def pair_by_pair(queries, keys, values):
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (queries, keys, values))
    rows = [
        torch.stack([(torch.stack([torch.dot(q, k) for k in ks]) / len(q) ** 0.5).softmax(0) @ vs for q in qs])
        for qs, ks, vs in zip(q, k, v, strict=True)
    ]
    return torch.stack(rows).view(*queries.shape[:-1], -1)


def additive_by_loops(queries, keys, w_q, w_k, w):
    rows = [[[w @ torch.tanh(w_q @ q + w_k @ k) for k in ks] for q in qs] for qs, ks in zip(queries, keys, strict=True)]
    return torch.stack([torch.stack([torch.stack(row) for row in table]) for table in rows])


def scaled(attention):
    return lambda queries, keys, values: attention(queries, keys, values, scale=queries.shape[-1] ** -0.5)


def additive_by_one_matrix(queries, keys, w_q, w_k, w):
    """Concatenate the matrices and the vectors: W_q q + W_k k = [W_q W_k] [q; k]."""
    n_query, n_key = queries.shape[1], keys.shape[1]
    pairs = torch.cat(
        [queries.unsqueeze(2).expand(-1, -1, n_key, -1), keys.unsqueeze(1).expand(-1, n_query, -1, -1)], dim=-1
    )
    return (torch.cat([w_q, w_k], dim=1) @ pairs.unsqueeze(-1)).squeeze(-1).tanh().matmul(w)


def cosines_divided_afterwards(queries, keys, values, temperature):
    lengths = queries.norm(dim=-1, keepdim=True) * keys.norm(dim=-1, keepdim=True).mT
    return torch.softmax(queries @ keys.mT / (lengths * temperature), dim=-1) @ values


def nearest(queries, keys, values):
    return (
        torch.softmax(-(torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist") ** 2) / 2, -1) @ values
    )


def encoding_by_loops(length, d_model, base=10000.0):
    encoding = torch.zeros(length, d_model)
    for t in range(length):
        for i in range(0, d_model, 2):
            encoding[t, i] = math.sin(t / base ** (i / d_model))
            encoding[t, i + 1] = math.cos(t / base ** (i / d_model))
    return encoding


def encoding_by_exp(length, d_model, base=10000.0):
    """Compute powers as exponentials of logarithms, as many tutorials do."""
    angles = torch.arange(length).unsqueeze(1) * torch.exp(torch.arange(0, d_model, 2) * (-math.log(base) / d_model))
    encoding = torch.zeros(length, d_model)
    encoding[:, 0::2], encoding[:, 1::2] = torch.sin(angles), torch.cos(angles)
    return encoding


def shift_by_blocks(offset, d_model, base=10000.0):
    blocks = []
    for i in range(d_model // 2):
        b = offset / base ** (2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]]))
    return torch.block_diag(*blocks)


def shift_by_exponential(offset, d_model, base=10000.0):
    """Compute a rotation as the matrix exponential of a skew-symmetric matrix of the angles."""
    angles = offset * base ** (-torch.arange(0, d_model, 2) / d_model)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.linalg.matrix_exp(torch.kron(torch.diag(angles), turn).double()).float()


def rotary_in_complex_numbers(x, positions, base=10000.0):
    angles = torch.outer(positions, base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]))
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def rotary_with_partners(x, positions, base=10000.0):
    angles = torch.outer(positions, base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])).repeat_interleave(2, -1)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + partner * angles.sin()


def alibi_by_loops(n_heads, n_query, n_key):
    bias = torch.zeros(n_heads, n_query, n_key)
    for h in range(n_heads):
        for i in range(n_query):
            for j in range(n_key):
                bias[h, i, j] = -(2 ** (-8 * (h + 1) / n_heads)) * abs(i + n_key - n_query - j)
    return bias


def relative_by_gather(table, n_query, n_key):
    reach = table.shape[1] // 2
    offsets = (torch.arange(n_key)[None] - torch.arange(n_key)[-n_query:, None]).clip(-reach, reach)
    return table.index_select(1, (offsets + reach).flatten()).view(-1, n_query, n_key)


MultiHeadAttention = every_exercise()["MultiHeadAttention"].reference


class HeadByHead(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        d_k, mixed = q.shape[-1] // self.n_heads, []
        if mask is not None:
            mask = mask.expand(len(query), self.n_heads, query.shape[1], key.shape[1])
        for head in range(self.n_heads):
            at = slice(head * d_k, (head + 1) * d_k)
            observed = None if mask is None else mask[:, head]
            mixed.append(F.scaled_dot_product_attention(q[..., at], k[..., at], v[..., at], attn_mask=observed))
        return self.w_o(torch.cat(mixed, dim=-1))


class WithTheLessonsParts(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        parts = notebook.parts
        q, k, v = (
            parts.split_heads(layer(x), self.n_heads)
            for layer, x in [(self.w_q, query), (self.w_k, key), (self.w_v, value)]
        )
        if mask is None:
            return self.w_o(parts.merge_heads(parts.scaled_dot_product_attention(q, k, v)))
        scores = torch.where(mask, q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -torch.inf)
        return self.w_o(parts.merge_heads(parts.softmax(scores) @ v))


class MaskedInPlaceByBillions(MultiHeadAttention):
    """Attention that scales the queries first and masks with a large negative number.

    The number suffices if every query may attend to some key.
    """

    def forward(self, query, key, value, mask=None):
        b, d_k = query.size(0), query.size(2) // self.n_heads
        q = self.w_q(query).view(b, -1, self.n_heads, d_k).transpose(1, 2) / d_k**0.5
        k = self.w_k(key).view(b, -1, self.n_heads, d_k).permute(0, 2, 3, 1)
        v = self.w_v(value).view(b, -1, self.n_heads, d_k).transpose(1, 2)
        scores = torch.matmul(q, k)
        if mask is not None:
            scores.masked_fill_(mask.logical_not(), -1e9)
        mixed = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.w_o(mixed.transpose(1, 2).contiguous().view(b, -1, self.n_heads * d_k))


class InEinsum(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        layers = [(self.w_q, query), (self.w_k, key), (self.w_v, value)]
        q, k, v = (layer(x).unflatten(-1, (self.n_heads, -1)) for layer, x in layers)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores + torch.zeros(()).where(mask, -torch.inf)
        return self.w_o(torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).flatten(2))


class TorchsKernel(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        q, k, v = (
            torch.stack(x.chunk(self.n_heads, -1), dim=1) for x in (self.w_q(query), self.w_k(key), self.w_v(value))
        )
        return self.w_o(torch.cat(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).unbind(1), dim=-1))


def contributions_by_loop(heads, w_o):
    d_k = heads.shape[3]
    return torch.stack([head @ w_o[:, i * d_k : (i + 1) * d_k].T for i, head in enumerate(heads.unbind(1))], dim=1)


def leaks_by_cutting(model, tokens):
    """Compare the outputs for successively longer prefixes with the whole text's output. A causal model gives equal
    outputs.
    """
    was_training = model.training
    model.eval()
    whole = model(tokens)
    ends = range(1, tokens.shape[1])
    leaks = any(not torch.allclose(model(tokens[:, :n]), whole[:, :n], atol=1e-5) for n in ends)
    model.train(was_training)
    return leaks


@torch.no_grad()
def leaks_by_trying_every_token(model, tokens):
    model = copy.deepcopy(model).eval()
    before = model(tokens).numpy()
    for position, token in itertools.product(range(1, tokens.shape[1]), range(int(tokens.max()) + 1)):
        changed = tokens.clone()
        changed[:, position] = token
        if not np.allclose(model(changed).numpy()[:, :position], before[:, :position], atol=1e-3):
            return np.True_
    return np.False_


def leaks_from_all_that_follows(model, tokens):
    """Change all later tokens at the same time, and return the leaks as a tensor."""
    mode = model.training
    model.train(False)
    other = tokens.roll(1, 0) if len(tokens) > 1 and (tokens != tokens.roll(1, 0)).all() else tokens - 1
    other = other.where(other >= 0, tokens.max())
    places = torch.arange(tokens.shape[1])
    moved = [
        (model(torch.where(places < t, tokens, other)) - model(tokens))[:, :t].abs().amax() for t in places[1:].tolist()
    ]
    model.train(mode)
    return torch.stack(moved).max() > 1e-5


def masked_by_loops(queries, keys, values, mask):
    output = torch.zeros(*queries.shape[:-1], values.shape[-1])
    mask = mask.expand(*queries.shape[:-1], keys.shape[-2])
    for *batch, i in itertools.product(*map(range, queries.shape[:-1])):
        at = tuple(batch)
        observed = mask[(*at, i)]
        if observed.any():
            scores = keys[at][observed] @ queries[(*at, i)] / queries.shape[-1] ** 0.5
            output[(*at, i)] = scores.softmax(0) @ values[at][observed]
    return output


def masked_in_log_space(queries, keys, values, mask):
    scores = torch.where(mask, queries @ keys.mT / queries.shape[-1] ** 0.5, -1e30)
    return ((scores - scores.logsumexp(-1, keepdim=True)).exp() * mask) @ values


UNUSUAL = {
    "similarity": {
        "a matrix product": lambda query, keys: keys @ query,
        "a product with a column": lambda query, keys: (keys @ query.unsqueeze(1)).squeeze(1),
        "a cosine with its lengths": lambda query, keys: (
            torch.cosine_similarity(keys, query[None], dim=-1) * keys.norm(dim=-1) * query.norm()
        ),
        "einsum": lambda query, keys: torch.einsum("d,nd->n", query, keys),
        "a linear layer": lambda query, keys: F.linear(query, keys),
        "in float64": lambda query, keys: (keys.double() @ query.double()).float(),
        "a view of a wider tensor": lambda query, keys: torch.stack([keys @ query, keys @ query], dim=1)[:, 0],
        "vmap": lambda query, keys: torch.vmap(torch.dot, in_dims=(None, 0))(query, keys),
    },
    "softmax": {
        "loops": softmax_by_loops,
        "torch's": lambda scores: torch.softmax(scores, -1),
        "in place on a copy": softmax_in_place,
        "the one-norm of each row": lambda scores: F.normalize(torch.exp(scores - scores.amax(-1, True)), p=1, dim=-1),
        "one part in a sum": lambda scores: 1 / torch.exp(scores.unsqueeze(-2) - scores.unsqueeze(-1)).sum(-1),
        "in log space": lambda scores: torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)),
        "in float64": lambda scores: scores.double().softmax(-1).to(scores.dtype),
        "a partial": functools.partial(F.softmax, dim=-1),
        "a callable object": CallableSoftmax(),
        "a module": nn.Softmax(dim=-1),
        "non-contiguous": lambda scores: torch.softmax(scores.transpose(0, -1).contiguous().transpose(0, -1), -1),
    },
    "attention_weights": {
        "einsum": lambda queries, keys: torch.einsum("...qd,...kd->...qk", queries, keys).softmax(-1),
        "keys first": lambda queries, keys: torch.softmax(keys @ queries.mT, -2).mT,
        "row by row": weights_row_by_row,
        "in float64": lambda queries, keys: torch.softmax(queries.double() @ keys.double().mT, -1).float(),
        "parts": lambda queries, keys: notebook.parts.softmax(torch.matmul(queries, keys.transpose(-1, -2))),
    },
    "attention": {
        "torch's": functools.partial(F.scaled_dot_product_attention, scale=1.0),
        "einsum": in_einsum,
        "keys first": transposed_inside,
        "in float64": in_double,
        "in log space": by_log_space,
    },
    "distance_attention": {
        "cdist": nearest,
        "squared cdist": lambda queries, keys, values: (
            torch.softmax(-(torch.cdist(queries, keys) ** 2) / 2, -1) @ values
        ),
        "all three terms of the square": lambda queries, keys, values: (
            torch.softmax(
                queries @ keys.mT
                - queries.square().sum(-1, keepdim=True) / 2
                - keys.square().sum(-1, keepdim=True).mT / 2,
                -1,
            )
            @ values
        ),
        "the square expanded": lambda queries, keys, values: (
            torch.softmax(queries @ keys.mT - keys.square().sum(-1).unsqueeze(-2) / 2, -1) @ values
        ),
    },
    "score_variance": {
        "two factors": lambda d_k, variance: d_k * variance * variance,
        "a tensor": lambda d_k, variance: torch.tensor(d_k * variance**2),
        "numpy": lambda d_k, variance: np.float64(d_k) * np.square(variance),
        "numpy's float32": lambda d_k, variance: np.float32(d_k * variance**2),
    },
    "scaled_dot_product_attention": {
        "torch's": F.scaled_dot_product_attention,
        "a root of a tensor": lambda queries, keys, values: (
            torch.softmax(queries @ keys.mT / torch.sqrt(torch.tensor(queries.shape[-1])), -1) @ values
        ),
        "both scaled by the fourth root": lambda queries, keys, values: (
            torch.softmax((queries / keys.shape[-1] ** 0.25) @ (keys / keys.shape[-1] ** 0.25).mT, -1) @ values
        ),
        "queries scaled first": lambda queries, keys, values: (
            torch.softmax(queries * queries.shape[-1] ** -0.5 @ keys.mT, -1) @ values
        ),
        "einsum": scaled(in_einsum),
        "keys first": scaled(transposed_inside),
        "in float64": scaled(in_double),
        "baddbmm": in_baddbmm,
    },
    "softmax_jacobian": {
        "p (1 − p)": lambda probabilities: (
            probabilities[:, None] * (torch.eye(len(probabilities)) - probabilities[None, :])
        ),
        "autograd": lambda probabilities: torch.autograd.functional.jacobian(
            lambda s: torch.softmax(s, 0), probabilities.log(), create_graph=True
        ),
        "diag_embed": lambda probabilities: (
            torch.diag_embed(probabilities) - torch.einsum("i,j->ij", probabilities, probabilities)
        ),
        "its transpose": lambda probabilities: (torch.diag(probabilities) - torch.outer(*[probabilities] * 2)).mT,
    },
    "additive_scores": {
        "einsum": lambda queries, keys, w_q, w_k, w: torch.einsum(
            "bqkh,h->bqk", torch.tanh((queries @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, None]), w
        ),
        "one matrix for both": additive_by_one_matrix,
        "tanh by exponentials": lambda queries, keys, w_q, w_k, w: (
            (2 * torch.sigmoid(2 * (F.linear(queries, w_q)[:, :, None] + F.linear(keys, w_k)[:, None])) - 1) @ w
        ),
    },
    "cosine_attention": {
        "divided afterwards": cosines_divided_afterwards,
        "normalize": lambda queries, keys, values, temperature: F.scaled_dot_product_attention(
            F.normalize(queries, dim=-1), F.normalize(keys, dim=-1), values, scale=1 / temperature
        ),
        "cosine_similarity": lambda queries, keys, values, temperature: (
            torch.softmax(F.cosine_similarity(queries[..., None, :], keys[..., None, :, :], -1) / temperature, -1)
            @ values
        ),
    },
    "split_heads": {
        "view": lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1).transpose(1, 2),
        "chunks": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1), dim=1),
        "slices": lambda x, n_heads: torch.stack(
            [x[:, :, i * (d_k := x.shape[2] // n_heads) : (i + 1) * d_k] for i in range(n_heads)], 1
        ),
        "permute": lambda x, n_heads: x.unflatten(2, (n_heads, -1)).permute(0, 2, 1, 3).contiguous(),
        "positions counted by -1": lambda x, n_heads: x.reshape(
            x.shape[0], -1, n_heads, int(x.shape[2] / n_heads)
        ).swapaxes(1, 2),
    },
    "merge_heads": {
        "contiguous": lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1),
        "cat": lambda x: torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1),
        "einsum": lambda x: torch.einsum("bhnk->bnhk", x).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3]),
        "transposed twice": lambda x: x.mT.flatten(1, 2).mT,
    },
    "MultiHeadAttention": {
        "head by head": HeadByHead,
        "parts": WithTheLessonsParts,
        "-1e9 in place": MaskedInPlaceByBillions,
        "einsum": InEinsum,
        "torch's": TorchsKernel,
        "the library's": multi_head.MultiHeadAttention,
    },
    "attention_parameters": {
        "head by head": lambda d_model, n_heads, bias=True: (
            n_heads * 3 * (d_model + bias) * (d_model // n_heads) + (d_model + bias) * d_model
        ),
        "counted": lambda d_model, n_heads, bias=True: sum(
            p.numel() for _ in range(4) for p in nn.Linear(d_model, d_model, bias=bias).parameters()
        ),
    },
    "head_contributions": {
        "loop": contributions_by_loop,
        "einsum": lambda heads, w_o: torch.einsum("bhnk,ohk->bhno", heads, w_o.unflatten(1, (heads.shape[1], -1))),
    },
    "sinusoidal_encoding": {
        "loops": encoding_by_loops,
        "exp of log": encoding_by_exp,
        "in float64": lambda length, d_model, base=10000.0: encoding_by_exp(length, d_model, base).double().float(),
    },
    "shift_rotation": {"block_diag": shift_by_blocks, "matrix_exp": shift_by_exponential},
    "apply_rotary": {"complex numbers": rotary_in_complex_numbers, "partners": rotary_with_partners},
    "alibi_bias": {"a cube of loops": alibi_by_loops},
    "relative_bias": {"index_select": relative_by_gather},
    "leaks_future": {
        "prefixes": leaks_by_cutting,
        "every token": leaks_by_trying_every_token,
        "all later tokens": leaks_from_all_that_follows,
    },
    "padding_mask": {
        "unsqueeze": lambda tokens, pad_id: (~tokens.eq(pad_id)).unsqueeze(1).unsqueeze(1),
        "view": lambda tokens, pad_id: (tokens != pad_id).view(len(tokens), 1, 1, -1),
        "a loop": lambda tokens, pad_id: torch.stack([(row != pad_id)[None, None] for row in tokens]),
    },
    "causal_mask": {
        "a comparison": lambda n_query, n_key=None: (
            torch.arange(n_key or n_query) <= torch.arange((n_key or n_query) - n_query, n_key or n_query)[:, None]
        ),
        "the last rows": lambda n_query, n_key=None: torch.ones(2 * [n_key or n_query]).tril().bool()[-n_query:],
        "inverted upper triangle": lambda n_query, n_key=None: (
            ~torch.ones(n_query, n_key or n_query).triu(1 + (n_key or n_query) - n_query).bool()
        ),
        "from a list": lambda n_query, n_key=None: torch.tensor(
            [[j <= i for j in range(n_key or n_query)] for i in range((n_key or n_query) - n_query, n_key or n_query)]
        ),
        "numpy": lambda n_query, n_key=None: torch.from_numpy(
            np.tri(n_query, n_key or n_query, (n_key or n_query) - n_query, dtype=bool)
        ),
    },
    "decoder_mask": {
        "parts": lambda tokens, pad_id: (
            notebook.parts.padding_mask(tokens, pad_id) & notebook.parts.causal_mask(tokens.shape[1])
        ),
        "a product": lambda tokens, pad_id: (
            (tokens != pad_id)[:, None, None] * torch.ones(2 * tokens.shape[1:]).tril().bool()
        ),
        "inverted": lambda tokens, pad_id: (
            ~((tokens == pad_id)[:, None, None] | torch.ones(2 * tokens.shape[1:]).triu(1).bool())
        ),
        "triangle of the padding mask": lambda tokens, pad_id: (
            (tokens != pad_id)[:, None, None].repeat(1, 1, tokens.shape[1], 1).tril()
        ),
    },
    "document_mask": {
        "parts": lambda documents: (
            (documents[:, None, :, None] == documents[:, None, None, :])
            & notebook.parts.causal_mask(documents.shape[1])
        ),
        "triangle of a comparison": lambda documents: (
            documents.unsqueeze(2).eq(documents.unsqueeze(1)).tril().unsqueeze(1)
        ),
        "a product of one-hot vectors": lambda documents: (
            (F.one_hot(documents).float() @ F.one_hot(documents).float().mT).bool().tril()[:, None]
        ),
        "inverted": lambda documents: (
            ~((documents[:, :, None] != documents[:, None]) | torch.ones(2 * documents.shape[1:]).triu(1).bool())[
                :, None
            ]
        ),
    },
    "masked_attention": {
        "torch's": F.scaled_dot_product_attention,
        "one query at a time": masked_by_loops,
        "in log space": masked_in_log_space,
        "weights fixed": lambda queries, keys, values, mask: (
            torch.softmax((queries @ keys.mT / queries.shape[-1] ** 0.5).masked_fill(mask == 0, -torch.inf), -1)
            .nan_to_num()
            .matmul(values)
        ),
        "minus a billion, then the mask": lambda queries, keys, values, mask: (
            torch.softmax((queries @ keys.mT / queries.shape[-1] ** 0.5).masked_fill(~mask, -1e9), -1) * mask @ values
        ),
    },
    "sliding_window_mask": {
        "two triangles": lambda length, window: torch.ones(length, length).tril().triu(1 - window).bool(),
        "a difference of triangles": lambda length, window: (
            torch.ones(length, length).tril() - torch.ones(length, length).tril(-window) == 1
        ),
    },
    **lesson_08.UNUSUAL,
    **lesson_tokenizers.UNUSUAL,
    **lesson_09.UNUSUAL,
    **lesson_13.UNUSUAL,
    **lesson_14.UNUSUAL,
    **lesson_evaluation.UNUSUAL,
    **lesson_06.UNUSUAL,
    **lesson_07.UNUSUAL,
    **lesson_00.UNUSUAL,
    **lesson_10.UNUSUAL,
    **lesson_11.UNUSUAL,
    **lesson_architectures.UNUSUAL,
    **lesson_12.UNUSUAL,
    **practice_bank.UNUSUAL,
    **primer.UNUSUAL,
}

SLOW = {
    "similarity": lambda query, keys: torch.stack(
        [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    ),
    "scaled_dot_product_attention": pair_by_pair,
    "distance_attention": lambda queries, keys, values: by_loops(
        queries, keys, values, lambda q, k: -(q - k).square().sum() / 2
    ),
    "cosine_attention": lambda queries, keys, values, temperature: by_loops(
        queries, keys, values, lambda q, k: F.cosine_similarity(q, k, dim=0) / temperature
    ),
    "additive_scores": additive_by_loops,
    "softmax_jacobian": jacobian_entry_by_entry,
}

WITHOUT_GRADIENTS = {
    "similarity": lambda query, keys: torch.tensor([dot_by_lists(query, key) for key in keys]),
    "softmax": softmax_in_numpy,
    "softmax_jacobian": jacobian_by_loops,
    "soft_lookup": torch.no_grad()(every_exercise()["soft_lookup"].reference),
    "attention": torch.inference_mode()(every_exercise()["attention"].reference),
    "attention_weights": lambda queries, keys: torch.softmax((queries @ keys.mT).detach(), -1),
}

ANSWERS = []
"""Parameters with the exercise's name and the answer's key. By default, only one answer per exercise is tested."""
for name, answers in UNUSUAL.items():
    for number, key in enumerate(answers):
        ANSWERS.append(pytest.param(name, key, marks=pytest.mark.thorough if number else ()))


def test_every_unusual_answer_belongs_to_an_exercise():
    assert UNUSUAL.keys() - every_exercise().keys() == set()


def test_every_exercise_has_an_unusual_answer():
    missing = [name for name in every_exercise() if not UNUSUAL.get(name)]
    assert missing == [], "add a correct answer in an unusual style to UNUSUAL"


@pytest.mark.parametrize(("name", "key"), ANSWERS, ids=lambda word: word.replace(" ", "_"))
def test_unusual_answer_passes(name, key, monkeypatch):
    monkeypatch.setattr(session, "slowdown", lambda *_: 1.0)  # skips the timing, which takes as long as the check
    verdict = notebook.check(UNUSUAL[name][key], name)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "name", ["similarity", *(pytest.param(name, marks=pytest.mark.thorough) for name in [*SLOW][1:])]
)
def test_slow_answer_passes_but_is_not_used(name):
    notebook.current_session().seconds = 100  # enough for a busy machine
    verdict = notebook.check(SLOW[name], name)
    assert verdict.passed, verdict
    assert "times as long as the reference" in verdict.message
    assert "The lessons continue with the library's version." in verdict.message
    assert notebook.parts.whose(name) == "the library's"


@pytest.mark.parametrize("name", WITHOUT_GRADIENTS)
def test_answer_without_gradients_passes_but_stays_unused(name):
    verdict = notebook.check(WITHOUT_GRADIENTS[name], name)
    assert verdict.passed, verdict
    assert "no gradient passes through your version" in verdict.message
    assert notebook.parts.whose(name) == "the library's"
