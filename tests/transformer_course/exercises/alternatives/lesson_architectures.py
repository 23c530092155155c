"""Unusual right answers to the exercises on architectures."""

import math

import torch
from torch.nn import functional as F

from transformer_course.exercises.shared.library_parts import parts


def attends_by_torch(q, latent, w_k, w_v):
    keys, values = (torch.einsum("bkr,hrd->bhkd", latent, matrices) for matrices in (w_k, w_v))
    return F.scaled_dot_product_attention(q, keys, values)


def attends_in_the_latent_space(q, latent, w_k, w_v):
    """Absorb the matrices, so that keys and values are never computed."""
    scores = q @ w_k.transpose(1, 2) @ latent.unsqueeze(1).mT / math.sqrt(q.shape[-1])
    return scores.softmax(dim=-1) @ latent.unsqueeze(1) @ w_v


def route_by_probability(logits, k):
    """Divide the probabilities by the sum of the chosen ones, which equals the softmax over them."""
    weights, experts = torch.softmax(logits, -1).topk(k)
    return weights / weights.sum(-1, keepdim=True), experts


def route_worst_of_the_best_first(logits, k):
    experts = logits.argsort(-1)[:, -k:]
    return torch.take_along_dim(logits, experts, -1).softmax(-1), experts


def route_in_order_of_the_experts(logits, k):
    is_chosen = logits.argsort(-1, descending=True).argsort(-1) < k
    experts = is_chosen.nonzero()[:, 1].view(len(logits), k)
    return logits.masked_fill(~is_chosen, -torch.inf).softmax(-1).gather(1, experts), experts


def route_row_by_row(logits, k):
    weights, experts = [], []
    for row in logits:
        best = sorted(range(len(row)), key=lambda expert: -row[expert].item())[:k]
        loud = torch.stack([torch.exp(row[expert] - row.max()) for expert in best])
        weights.append(loud / loud.sum())
        experts.append(torch.tensor(best))
    return [torch.stack(weights), torch.stack(experts)]


def delta_in_one_expression(q, k, v, decay, beta):
    """Remove what the key returns, then write the value: the state is multiplied by I − β k kᵀ."""
    state, outputs = k.new_zeros(k.shape[1], v.shape[1]), []
    for query, key, value, kept, rate in zip(q, k, v, decay, beta, strict=True):
        erase = torch.eye(len(key)) - rate * key[:, None] * key
        state = kept * erase @ state + rate * key[:, None] * value
        outputs.append(query @ state)
    return torch.stack(outputs)


def delta_of_a_turned_state(q, k, v, decay, beta):
    state, outputs = torch.zeros(v.shape[1], k.shape[1]), torch.zeros(0, v.shape[1])
    for t in range(k.shape[0]):
        state = state * decay[t]
        state = state + torch.einsum("v,k->vk", beta[t] * (v[t] - state @ k[t]), k[t])
        outputs = torch.cat([outputs, (state @ q[t])[None]])
    return outputs


def delta_as_attention_to_errors(q, k, v, decay, beta):
    """Keep the errors instead of a state: what is left of each write is a product of decays."""
    errors, outputs = [], []
    for t in range(len(k)):
        left = [decay[s + 1 : t + 1].prod() for s in range(t + 1)]
        recalled = sum((left[s] * (k[t] @ k[s]) * errors[s] for s in range(t)), torch.zeros(v.shape[1]))
        errors.append(beta[t] * (v[t] - recalled))
        outputs.append(sum(left[s] * (q[t] @ k[s]) * errors[s] for s in range(t + 1)))
    return torch.stack(outputs)


def sparse_by_the_parts(q, k, v, index_scores, n_kept):
    mask = parts.causal_mask(len(k))
    best = index_scores.masked_fill(~mask, -torch.inf).topk(n_kept).indices
    return parts.masked_attention(q, k, v, mask & torch.zeros_like(mask).scatter(-1, best, True))


def sparse_query_by_query(q, k, v, index_scores, n_kept):
    outputs = []
    for t in range(len(q)):
        best = index_scores[t, : t + 1].topk(min(n_kept, t + 1)).indices
        outputs.append(torch.softmax(k[best] @ q[t] / k.shape[1] ** 0.5, dim=0) @ v[best])
    return torch.stack(outputs)


def sparse_by_a_threshold(q, k, v, index_scores, n_kept):
    hidden = torch.ones_like(index_scores).triu(1).bool()
    index_scores = torch.where(hidden, -torch.inf, index_scores)
    least = index_scores.sort(dim=-1, descending=True).values[:, n_kept - 1 : n_kept]
    mask = (index_scores >= least) & ~hidden
    return F.scaled_dot_product_attention(q[None], k[None], v[None], mask[None])[0]


UNUSUAL = {
    "latent_attention": {"by torch": attends_by_torch, "in the latent space": attends_in_the_latent_space},
    "route": {
        "by probability": route_by_probability,
        "the worst of the best first": route_worst_of_the_best_first,
        "in order of the experts": route_in_order_of_the_experts,
        "row by row": route_row_by_row,
    },
    "gated_delta_rule": {
        "in one expression": delta_in_one_expression,
        "of a turned state": delta_of_a_turned_state,
        "as attention to errors": delta_as_attention_to_errors,
    },
    "sparse_attention": {
        "by the parts": sparse_by_the_parts,
        "query by query": sparse_query_by_query,
        "by a threshold": sparse_by_a_threshold,
    },
}
