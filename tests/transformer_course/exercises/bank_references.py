"""Independent implementations of the practice bank's exercises: PyTorch functions, plain loops or other formulas."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def adamw_step(parameter, gradient, mean, mean_square, step, lr, betas, eps, weight_decay):
    trained = nn.Parameter(parameter.clone())
    optimizer = torch.optim.AdamW([trained], lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
    state = {"step": torch.tensor(step - 1.0), "exp_avg": mean.clone(), "exp_avg_sq": mean_square.clone()}
    optimizer.state[trained] = state
    trained.grad = gradient.clone()
    optimizer.step()
    return trained.detach(), state["exp_avg"], state["exp_avg_sq"]


def clip_by_global_norm(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    norm = nn.utils.clip_grad_norm_(parameters, max_norm)
    return [parameter.grad for parameter in parameters], norm


def inverted_dropout(x, noise, p, training):
    """Apply dropout to one element at a time."""
    if not training:
        return x
    numbers = []
    for number, drawn in zip(x.flatten().tolist(), noise.flatten().tolist(), strict=True):
        numbers.append(0.0 if drawn < p else number / (1 - p))
    return torch.tensor(numbers).view(x.shape)


def embedding_lookup(tokens, table, pad_id):
    one_hot = F.one_hot(tokens, len(table)).float()
    one_hot[..., pad_id] = 0.0
    return one_hot @ (math.sqrt(table.shape[1]) * table)


def batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    mean, var = running_mean.clone(), running_var.clone()  # F.batch_norm modifies the statistics in place
    output = F.batch_norm(x.transpose(1, 2), mean, var, weight, bias, training, momentum, eps)
    return output.transpose(1, 2), mean, var


def cross_entropy_from_logits(logits, targets, ignore_id):
    return F.cross_entropy(logits, targets, ignore_index=ignore_id)


def multi_token_loss(logits, tokens):
    """Loop over heads, texts and positions."""
    head_losses = []
    for k, head in enumerate(logits):
        losses = []
        for text in range(len(tokens)):
            for t in range(tokens.shape[1] - k - 1):
                losses.append(-head[text, t].log_softmax(dim=0)[tokens[text, t + k + 1]])
        head_losses.append(sum(losses) / len(losses))
    return sum(head_losses) / len(head_losses)


def sample_per_request(logits, top_k, top_p, generator=None):
    """Grow each row's nucleus token by token, and draw from its tokens in vocabulary order."""
    rows = []
    for row, k, p in zip(logits.double().softmax(dim=-1).tolist(), top_k.tolist(), top_p.tolist(), strict=True):
        likeliest = sorted(range(len(row)), key=lambda token: -row[token])[:k]
        mass, nucleus = 0.0, [0.0] * len(row)
        for token in likeliest:
            if mass >= p * sum(row[other] for other in likeliest):
                break
            nucleus[token] = row[token]
            mass += row[token]
        rows.append(nucleus)
    return torch.multinomial(torch.tensor(rows), 1, generator=generator)[:, 0]


def quantize_per_channel(weight):
    scales = [max(map(abs, row)) / 127 or 1.0 for row in weight.tolist()]
    numbers = [torch.quantize_per_tensor(row, scale, 0, torch.qint8) for row, scale in zip(weight, scales, strict=True)]
    return torch.stack([row.int_repr() for row in numbers]), torch.tensor(scales)


def paged_attention(query, key_pages, value_pages, block_table, lengths):
    """Read one token at a time, located by its page and slot."""
    size, rows = key_pages.shape[1], []
    for row, (table, length) in enumerate(zip(block_table.tolist(), lengths.tolist(), strict=True)):
        slots = [(table[t // size], t % size) for t in range(length)]
        keys, values = (torch.stack([pages[slot] for slot in slots]) for pages in (key_pages, value_pages))
        heads = (x.transpose(0, 1) for x in (query[row][None], keys, values))  # shapes (n_heads, 1 or length, width)
        rows.append(F.scaled_dot_product_attention(*heads)[:, 0])
    return torch.stack(rows)


def ring_attention(queries, keys, values):
    n_devices, n, _ = queries.shape
    whole = (x.flatten(0, 1)[None] for x in (queries, keys, values))
    return F.scaled_dot_product_attention(*whole, is_causal=True)[0].view(n_devices, n, -1)


def reward_model_loss(chosen, rejected, chosen_lengths, rejected_lengths, margin):
    losses = []
    for i in range(len(chosen)):
        difference = chosen[i, chosen_lengths[i] - 1] - rejected[i, rejected_lengths[i] - 1]
        losses.append(F.softplus(margin[i] - difference))
    return torch.stack(losses).mean()


def gae(rewards, values, last_value, done, gamma, lam):
    """Sum the discounted errors from each step to the end of its episode."""
    n = len(rewards)
    advantages = torch.zeros_like(values)
    for t in range(n):
        alive = torch.ones_like(last_value)
        for s in range(t, n):
            next_value = values[s + 1] if s + 1 < n else last_value
            error = rewards[s] + gamma * next_value * ~done[s] - values[s]
            advantages[t] += (gamma * lam) ** (s - t) * alive * error
            alive = alive * ~done[s]
    return advantages, advantages + values


def ppo_loss(log_p, old_log_p, advantages, values, old_values, returns, clip, value_weight):
    """Treat steps beyond the clipping limit as a separate case."""
    total = 0.0
    for new, old, advantage, value, old_value, target in zip(
        log_p, old_log_p, advantages, values, old_values, returns, strict=True
    ):
        ratio = torch.exp(new - old)
        limit = 1 + clip if advantage > 0 else 1 - clip
        is_beyond = ratio > limit if advantage > 0 else ratio < limit
        total = total - (limit if is_beyond else ratio) * advantage
        clipped = min(max(value, old_value - clip), old_value + clip)
        total = total + value_weight / 2 * max((value - target) ** 2, (clipped - target) ** 2)
    return total / len(log_p)


INDEPENDENT = {
    "soft_lookup": lambda query, keys, values: F.scaled_dot_product_attention(query[None], keys, values, scale=1.0)[0],
    "adamw_step": adamw_step,
    "clip_by_global_norm": clip_by_global_norm,
    "inverted_dropout": inverted_dropout,
    "embedding_lookup": embedding_lookup,
    "gelu": F.gelu,
    "batch_norm": batch_norm,
    "cross_entropy_from_logits": cross_entropy_from_logits,
    "multi_token_loss": multi_token_loss,
    "sample_per_request": sample_per_request,
    "quantize_per_channel": quantize_per_channel,
    "paged_attention": paged_attention,
    "ring_attention": ring_attention,
    "reward_model_loss": reward_model_loss,
    "gae": gae,
    "ppo_loss": ppo_loss,
}
