"""Correct answers to the practice bank in published styles: loops, NumPy, einsum, classes and torch.nn.functional."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def adamw_in_place_on_copies(parameter, gradient, mean, mean_square, step, lr, betas, eps, weight_decay):
    b1, b2 = betas
    p, m, v = parameter.clone(), mean.clone(), mean_square.clone()
    m.mul_(b1).add_(gradient, alpha=1 - b1)
    v.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
    p.mul_(1 - lr * weight_decay)
    denominator = (v.sqrt() / math.sqrt(1 - b2**step)).add_(eps)
    p.addcdiv_(m, denominator, value=-lr / (1 - b1**step))
    return p, m, v


def adamw_with_hats(parameter, gradient, mean, mean_square, step, lr, betas, eps, weight_decay):
    beta1, beta2 = betas
    m_t = torch.lerp(gradient, mean, beta1)
    v_t = torch.lerp(gradient.pow(2), mean_square, beta2)
    m_hat = m_t / (1 - beta1**step)
    v_hat = v_t / (1 - beta2**step)
    decayed = parameter - lr * weight_decay * parameter
    return decayed - lr * m_hat / (torch.sqrt(v_hat) + eps), m_t, v_t


def adamw_number_by_number(parameter, gradient, mean, mean_square, step, lr, betas, eps, weight_decay):
    flat = [], [], []
    for p, g, m, v in zip(*(x.flatten().tolist() for x in (parameter, gradient, mean, mean_square)), strict=True):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        update = m / (1 - betas[0] ** step) / (math.sqrt(v / (1 - betas[1] ** step)) + eps)
        for column, number in zip(flat, (p - lr * (update + weight_decay * p), m, v), strict=True):
            column.append(number)
    return tuple(torch.tensor(column).view(parameter.shape) for column in flat)


class GELU(nn.Module):
    def forward(self, x):
        return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def gae_in_a_buffer(rewards, values, last_value, done, gamma, lam):
    """Write advantages into a buffer, as widely read implementations of PPO do."""
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(rewards.shape[0])):
        nonterminal = 1.0 - done[t].float()
        nextvalues = last_value if t == rewards.shape[0] - 1 else values[t + 1]
        delta = rewards[t] + gamma * nextvalues * nonterminal - values[t]
        advantages[t] = lastgaelam = delta + gamma * lam * nonterminal * lastgaelam
    return advantages, advantages + values


def gae_from_returns(rewards, values, last_value, done, gamma, lam):
    """Compute λ-returns recursively and subtract the values at the end."""
    found, following, value_after = [], last_value, last_value
    for reward, value, ended in zip(rewards.flip(0), values.flip(0), done.flip(0), strict=True):
        ahead = (1 - lam) * value_after + lam * following
        following = torch.where(ended, reward, reward + gamma * ahead)
        value_after = value
        found.append(following)
    returns = torch.stack(found).flip(0)
    return returns - values, returns


def gae_in_numpy(rewards, values, last_value, done, gamma, lam):
    r, v, d = rewards.numpy(), np.concatenate([values.numpy(), last_value.numpy()[None]]), done.numpy()
    advantages = np.zeros_like(r)
    following = np.zeros_like(r[0])
    for t in range(len(r) - 1, -1, -1):
        delta = r[t] + gamma * v[t + 1] * (1 - d[t]) - v[t]
        following = delta + gamma * lam * (1 - d[t]) * following
        advantages[t] = following
    advantages = torch.from_numpy(advantages)
    return advantages, advantages + values


def clip_with_a_float(gradients, max_norm, norm_type=2.0):
    total_norm = sum(g.norm(norm_type) ** norm_type for g in gradients) ** (1 / norm_type)
    clip_coef = max_norm / (total_norm + 1e-6)
    return [g * clip_coef if clip_coef < 1 else g.clone() for g in gradients], total_norm


def clip_one_long_vector(gradients, max_norm):
    norm = torch.linalg.vector_norm(torch.cat([g.reshape(-1) for g in gradients]))
    return [torch.where(norm > max_norm, g / norm * max_norm, g) for g in gradients], norm


def clip_in_numpy(gradients, max_norm):
    norm = np.sqrt(sum((g.numpy() ** 2).sum() for g in gradients))
    factor = min(1.0, max_norm / max(norm, 1e-12))
    return [torch.from_numpy(g.numpy() * np.float32(factor)) for g in gradients], torch.tensor(norm)


class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, noise):
        if self.training and self.p > 0:
            mask = (noise > self.p).to(x.dtype)
            x = x * mask / (1.0 - self.p)
        return x


def dropout_number_by_number(x, noise, p, training):
    output = x.clone()
    if training:
        for index in np.ndindex(*x.shape):
            output[index] = x[index] / (1 - p) if noise[index] >= p else 0.0
    return output


class Embedding(nn.Module):
    def __init__(self, table, padding_idx):
        super().__init__()
        self.weight, self.padding_idx = table, padding_idx

    def forward(self, tokens):
        vectors = F.embedding(tokens, self.weight) * math.sqrt(self.weight.size(1))
        return vectors.masked_fill((tokens == self.padding_idx).unsqueeze(-1), 0.0)


def embedding_token_by_token(tokens, table, pad_id):
    rows = [
        torch.zeros(table.shape[1]) if token == pad_id else table[token] * table.shape[1] ** 0.5
        for token in tokens.flatten().tolist()
    ]
    return torch.stack(rows).view(*tokens.shape, -1)


def batch_norm_over_a_matrix(x, weight, bias, running_mean, running_var, training, momentum, eps):
    flat = x.reshape(-1, x.shape[-1])
    if not training:
        return (x - running_mean) * torch.rsqrt(running_var + eps) * weight + bias, running_mean, running_var
    mu = flat.mean(0)
    xmu = flat - mu
    var = (xmu**2).mean(0)
    out = (weight * (xmu / torch.sqrt(var + eps)) + bias).reshape(x.shape)
    new_mean = running_mean + momentum * (mu - running_mean)
    new_var = torch.lerp(running_var, flat.var(0), momentum)
    return out, new_mean, new_var


def batch_norm_by_einsum(x, weight, bias, running_mean, running_var, training, momentum, eps):
    n = x.size(0) * x.size(1)
    mean = torch.einsum("bnd->d", x) / n if training else running_mean
    centered = x - mean
    squares = torch.einsum("bnd,bnd->d", centered, centered)
    var = squares / n if training else running_var
    if training:
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * squares / (n - 1)
    return torch.addcmul(bias, weight, centered / (var + eps) ** 0.5), running_mean, running_var


def batch_norm_feature_by_feature(x, weight, bias, running_mean, running_var, training, momentum, eps):
    columns, means, variances = [], running_mean.clone(), running_var.clone()
    for j in range(x.shape[-1]):
        column = x[..., j]
        mean, var = (column.mean(), column.var(unbiased=False)) if training else (running_mean[j], running_var[j])
        if training:
            means[j] = (1 - momentum) * running_mean[j] + momentum * mean
            variances[j] = (1 - momentum) * running_var[j] + momentum * column.var()
        columns.append(weight[j] * (column - mean) / (var + eps).sqrt() + bias[j])
    return torch.stack(columns, dim=-1), means, variances


def cross_entropy_row_by_row(logits, targets, ignore_id):
    losses = []
    for row, target in zip(logits, targets.tolist(), strict=True):
        if target != ignore_id:
            largest = row.max()
            losses.append(largest + (row - largest).exp().sum().log() - row[target])
    return sum(losses) / len(losses)


def cross_entropy_with_a_mask(logits, targets, ignore_id):
    mask = (targets != ignore_id).float()
    safe = targets.masked_fill(targets == ignore_id, 0)
    losses = torch.logsumexp(logits, dim=1) - logits[torch.arange(len(targets)), safe]
    return (losses * mask).sum() / mask.sum()


def cross_entropy_one_hot(logits, targets, ignore_id):
    kept = (targets != ignore_id).nonzero().squeeze(1)
    one_hot = F.one_hot(targets[kept], logits.shape[1]).float()
    return -torch.einsum("nc,nc->n", one_hot, F.log_softmax(logits[kept], dim=1)).mean()


def multi_token_by_cross_entropy(logits, tokens):
    total = 0
    for k in range(logits.shape[0]):
        used = logits[k, :, : tokens.shape[1] - k - 1]
        total += F.cross_entropy(used.reshape(-1, logits.shape[-1]), tokens[:, k + 1 :].reshape(-1))
    return total / logits.shape[0]


def multi_token_channels_second(logits, tokens):
    losses = [F.cross_entropy(head[:, : -(k + 1)].transpose(1, 2), tokens[:, k + 1 :]) for k, head in enumerate(logits)]
    return torch.stack(losses).mean()


def multi_token_with_ignored_ends(logits, tokens):
    targets = torch.full((len(logits), *tokens.shape), -100)
    for k in range(len(logits)):
        targets[k, :, : -(k + 1)] = tokens[:, k + 1 :]
    counted = targets != -100
    log_p = logits.log_softmax(-1).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -((log_p * counted).sum(dim=(1, 2)) / counted.sum(dim=(1, 2))).mean()


def sample_with_filtered_logits(logits, top_k, top_p, generator=None):
    """Mask logits with −∞ by thresholds and undo the sorting, as inference servers do."""
    sorted_logits, order = logits.sort(dim=-1, descending=True)
    k = top_k.clamp(max=logits.size(1))
    threshold = sorted_logits.gather(1, (k - 1).unsqueeze(1))
    sorted_logits = sorted_logits.masked_fill(sorted_logits < threshold, -float("inf"))
    cumulative = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative > top_p.unsqueeze(1)
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    filtered = torch.full_like(logits, -float("inf")).scatter(1, order, sorted_logits.masked_fill(remove, -math.inf))
    return torch.multinomial(filtered.softmax(dim=-1), num_samples=1, generator=generator).flatten()


def sample_row_by_row(logits, top_k, top_p, generator=None):
    tokens = []
    for row, k, p in zip(logits, top_k.tolist(), top_p.tolist(), strict=True):
        probs, ids = row.softmax(0).topk(min(k, len(row)))
        probs = probs / probs.sum()
        n = int((probs.cumsum(0) < p).sum()) + 1
        tokens.append(ids[torch.multinomial(probs[:n], 1, generator=generator)])
    return torch.cat(tokens)


def sample_by_gumbel(logits, top_k, top_p, generator=None):
    log_p, order = logits.log_softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    log_p = log_p.masked_fill(torch.arange(logits.shape[-1]).ge(top_k[:, None]), -torch.inf).log_softmax(dim=-1)
    before = F.pad(log_p.exp().cumsum(dim=-1)[:, :-1], (1, 0))
    log_p = log_p.masked_fill(before >= top_p[:, None], -torch.inf)
    uniform = torch.rand(log_p.shape, generator=generator)
    place = (log_p - torch.log(-torch.log(uniform))).argmax(dim=-1, keepdim=True)
    return torch.take_along_dim(order, place, dim=-1)[:, 0]


def quantize_row_by_row(weight):
    codes, scales = torch.zeros(weight.shape, dtype=torch.int8), torch.ones(weight.shape[0])
    for i, row in enumerate(weight):
        absmax = row.abs().max()
        if absmax > 0:
            scales[i] = absmax / 127.0
            codes[i] = torch.round(row / scales[i]).to(torch.int8)
    return codes, scales


def quantize_in_numpy(weight):
    w = weight.numpy()
    scale = np.abs(w).max(axis=1, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    codes = np.clip(np.rint(w / scale), -127, 127).astype(np.int8)
    return torch.from_numpy(codes), torch.from_numpy(scale[:, 0])


def quantize_with_clamp(weight):
    absmax = torch.linalg.vector_norm(weight, ord=float("inf"), dim=-1)
    scale = absmax.div(127).masked_fill(absmax == 0, 1.0)
    return torch.clamp(torch.round(weight / scale.unsqueeze(-1)), -128, 127).char(), scale


def paged_request_by_request(query, key_pages, value_pages, block_table, lengths):
    outputs = []
    for q, table, length in zip(query, block_table, lengths.tolist(), strict=True):
        k = torch.cat([key_pages[page] for page in table.tolist()])[:length]  # (length, n_heads, d_k)
        v = torch.cat([value_pages[page] for page in table.tolist()])[:length]
        weights = F.softmax(torch.einsum("hd,nhd->hn", q, k) / math.sqrt(q.shape[-1]), dim=-1)
        outputs.append(torch.einsum("hn,nhd->hd", weights, v))
    return torch.stack(outputs)


def paged_by_torch(query, key_pages, value_pages, block_table, lengths):
    batch, pages = block_table.shape
    k = key_pages.index_select(0, block_table.flatten()).view(batch, pages * key_pages.shape[1], *key_pages.shape[2:])
    v = value_pages.index_select(0, block_table.flatten()).view(batch, k.shape[1], *value_pages.shape[2:])
    mask = (torch.arange(k.shape[1])[None] < lengths[:, None])[:, None, None]
    return F.scaled_dot_product_attention(
        query.unsqueeze(2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask
    ).squeeze(2)


def paged_with_running_sums(query, key_pages, value_pages, block_table, lengths):
    """Process page after page, as the kernel does."""
    largest = torch.full(query.shape[:2], -torch.inf)
    total, mixed = torch.zeros_like(largest), torch.zeros(*query.shape[:2], value_pages.shape[-1])
    size = key_pages.shape[1]
    for page in range(block_table.shape[1]):
        k, v = key_pages[block_table[:, page]], value_pages[block_table[:, page]]
        scores = (query[:, None] * k).sum(-1) * query.shape[-1] ** -0.5  # (batch, slot, n_heads)
        slots = page * size + torch.arange(size)
        scores = scores.masked_fill((slots >= lengths[:, None])[..., None], -torch.inf)
        new = torch.maximum(largest, scores.amax(dim=1))
        exps, factor = (scores - new[:, None]).exp(), (largest - new).exp()
        total = total * factor + exps.sum(dim=1)
        mixed = mixed * factor[..., None] + (exps[..., None] * v).sum(dim=1)
        largest = new
    return mixed / total[..., None]


def ring_device_by_device(queries, keys, values):
    """Let every device attend to its own block and earlier ones, from the nearest to the farthest."""
    n, d = queries.shape[1:]
    outputs = []
    for device, q in enumerate(queries):
        m, total, o = torch.full((n, 1), -torch.inf), torch.zeros(n, 1), torch.zeros(n, values.shape[-1])
        for source in range(device, -1, -1):
            s = q @ keys[source].T / math.sqrt(d)
            if source == device:
                s = s.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, alpha = torch.exp(s - m_new), torch.exp(m - m_new)
            m, total, o = m_new, alpha * total + p.sum(-1, keepdim=True), alpha * o + p @ values[source]
        outputs.append(o / total)
    return torch.stack(outputs)


def ring_by_log_sum_exp(queries, keys, values):
    """Merge the normalized outputs of the steps by their log-sum-exps, as the published code does."""
    n_devices, n, d = queries.shape
    out, lse = None, None
    for step in range(n_devices):
        source = (torch.arange(n_devices) - step) % n_devices
        s = torch.einsum("rqd,rkd->rqk", queries, keys[source]) * d**-0.5
        if step == 0:
            s = s + torch.full((n, n), -torch.inf).triu(1)
        block_lse = s.logsumexp(dim=-1, keepdim=True)
        block_out = (s - block_lse).exp() @ values[source]
        if out is None:
            out, lse = block_out, block_lse
            continue
        visible = (source < torch.arange(n_devices))[:, None, None]
        block_lse = torch.where(visible, block_lse, -torch.inf)
        merged = torch.logaddexp(lse, block_lse)
        out = (lse - merged).exp() * out + (block_lse - merged).exp() * block_out
        lse = merged
    return out


def ring_in_two_passes(queries, keys, values):
    """Pass the maximum around the ring first and then the sums."""
    n_devices, n, d = queries.shape
    place = torch.arange(n_devices * n).reshape(n_devices, n)

    def scores(step):
        allowed = place.roll(step, 0).unsqueeze(1) <= place.unsqueeze(2)
        return torch.where(allowed, torch.bmm(queries, keys.roll(step, 0).mT) / d**0.5, -torch.inf)

    largest = torch.stack([scores(step).amax(-1) for step in range(n_devices)]).amax(0).unsqueeze(-1)
    top = sum((scores(step) - largest).exp() @ values.roll(step, 0) for step in range(n_devices))
    return top / sum((scores(step) - largest).exp().sum(-1, keepdim=True) for step in range(n_devices))


def reward_by_indexing(chosen, rejected, chosen_lengths, rejected_lengths, margin):
    rows = torch.arange(chosen.size(0))
    r_w, r_l = chosen[rows, chosen_lengths - 1], rejected[rows, rejected_lengths - 1]
    return F.binary_cross_entropy_with_logits(r_w - r_l - margin, torch.ones_like(margin))


def reward_by_log_sum_exp(chosen, rejected, chosen_lengths, rejected_lengths, margin):
    """Compute −log of the chosen reward's softmax."""
    last = F.one_hot(chosen_lengths - 1, chosen.shape[1]), F.one_hot(rejected_lengths - 1, rejected.shape[1])
    r_w, r_l = (chosen * last[0]).sum(1) - margin, (rejected * last[1]).sum(1)
    return (torch.logaddexp(r_w, r_l) - r_w).mean()


def reward_pair_by_pair(chosen, rejected, chosen_lengths, rejected_lengths, margin):
    total = 0.0
    for i in range(len(margin)):
        z = chosen[i, : chosen_lengths[i]][-1] - rejected[i, : rejected_lengths[i]][-1] - margin[i]
        total = total + (torch.log1p(torch.exp(-z)) if z > -20 else -z)
    return total / len(margin)


def ppo_as_two_losses(log_p, old_log_p, advantages, values, old_values, returns, clip, value_weight):
    """Take the maximum of two losses, as CleanRL does."""
    ratio = torch.exp(log_p - old_log_p)
    pg_loss1 = -advantages * ratio
    pg_loss2 = -advantages * torch.clamp(ratio, 1 - clip, 1 + clip)
    pg_loss = torch.max(pg_loss1, pg_loss2).mean()
    v_loss_unclipped = (values - returns) ** 2
    v_clipped = old_values + torch.clamp(values - old_values, -clip, clip)
    v_loss = 0.5 * torch.max(v_loss_unclipped, (v_clipped - returns) ** 2).mean()
    return pg_loss + v_loss * value_weight


def ppo_by_sign(log_p, old_log_p, advantages, values, old_values, returns, clip, value_weight):
    ratio = log_p.exp() / old_log_p.exp()
    counted = torch.where(advantages >= 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip))
    held = values.clamp(old_values - clip, old_values + clip)
    worst = torch.maximum((values - returns).abs(), (held - returns).abs())
    return (value_weight * worst.square() / 2 - counted * advantages).mean()


def ppo_stacked(log_p, old_log_p, advantages, values, old_values, returns, clip, value_weight):
    r = (log_p - old_log_p.detach()).exp()
    surrogates = torch.stack([r, torch.clip(r, 1 - clip, 1 + clip)]) * advantages
    held = old_values + F.hardtanh(values - old_values, -clip, clip)
    errors = F.mse_loss(torch.stack([values, held]), torch.stack([returns, returns]), reduction="none")
    return -surrogates.amin(dim=0).mean() + value_weight * errors.amax(dim=0).mean() / 2


UNUSUAL = {
    "soft_lookup": {
        "in log space": lambda query, keys, values: (keys @ query).log_softmax(0).exp() @ values,
        "einsum": lambda query, keys, values: torch.einsum("n,nv->v", (keys @ query).softmax(0), values),
        "values as columns": lambda query, keys, values: values.mT @ (keys @ query).softmax(0),
        "a sum of weighted rows": lambda query, keys, values: ((keys @ query).softmax(0)[:, None] * values).sum(0),
        "torch's": lambda query, keys, values: F.scaled_dot_product_attention(query[None], keys, values, scale=1)[0],
    },
    "adamw_step": {
        "in place, on copies": adamw_in_place_on_copies,
        "with hats": adamw_with_hats,
        "number by number": adamw_number_by_number,
    },
    "clip_by_global_norm": {
        "with a float": clip_with_a_float,
        "one long vector": clip_one_long_vector,
        "in NumPy": clip_in_numpy,
    },
    "inverted_dropout": {
        "a class": lambda x, noise, p, training: Dropout(p).train(training)(x, noise),
        "number by number": dropout_number_by_number,
        "where": lambda x, noise, p, training: torch.where(noise < p, 0.0, x / (1 - p)) if training else x,
        "by einsum": lambda x, noise, p, training: (
            torch.einsum("...,...->...", x, (noise >= p).float() / (1 - p)) if training else x.clone()
        ),
    },
    "embedding_lookup": {
        "a class": lambda tokens, table, pad_id: Embedding(table, pad_id)(tokens),
        "token by token": embedding_token_by_token,
        "by einsum": lambda tokens, table, pad_id: (
            torch.einsum(
                "...v,vd->...d", F.one_hot(tokens, len(table)) * (torch.arange(len(table)) != pad_id).float(), table
            )
            * table.shape[1] ** 0.5
        ),
        "where": lambda tokens, table, pad_id: (
            torch.where(
                tokens.eq(pad_id)[..., None], 0.0, table.index_select(0, tokens.flatten()).view(*tokens.shape, -1)
            )
            * np.sqrt(table.shape[1])
        ),
    },
    "gelu": {
        "torch's": lambda x: F.gelu(x),
        "ndtr": lambda x: torch.special.ndtr(x) * x,
        "a class": lambda x: GELU()(x),
        "erfc": lambda x: x * torch.erfc(-x / 2**0.5) / 2,
    },
    "batch_norm": {
        "over a matrix": batch_norm_over_a_matrix,
        "by einsum": batch_norm_by_einsum,
        "feature by feature": batch_norm_feature_by_feature,
    },
    "cross_entropy_from_logits": {
        "row by row": cross_entropy_row_by_row,
        "with a mask": cross_entropy_with_a_mask,
        "one-hot": cross_entropy_one_hot,
        "nll_loss": lambda logits, targets, ignore_id: F.nll_loss(
            F.log_softmax(logits, dim=-1), targets, ignore_index=ignore_id
        ),
    },
    "multi_token_loss": {
        "by cross_entropy": multi_token_by_cross_entropy,
        "channels second": multi_token_channels_second,
        "with ignored ends": multi_token_with_ignored_ends,
    },
    "sample_per_request": {
        "row by row": sample_row_by_row,
        "with filtered logits": sample_with_filtered_logits,
        "by Gumbel noise": sample_by_gumbel,
    },
    "quantize_per_channel": {
        "row by row": quantize_row_by_row,
        "in NumPy": quantize_in_numpy,
        "with clamp": quantize_with_clamp,
    },
    "paged_attention": {
        "request by request": paged_request_by_request,
        "by torch's attention": paged_by_torch,
        "with running sums": paged_with_running_sums,
    },
    "ring_attention": {
        "device by device": ring_device_by_device,
        "by log-sum-exp": ring_by_log_sum_exp,
        "in two passes": ring_in_two_passes,
    },
    "reward_model_loss": {
        "by indexing": reward_by_indexing,
        "by log-sum-exp": reward_by_log_sum_exp,
        "pair by pair": reward_pair_by_pair,
    },
    "gae": {
        "in a buffer": gae_in_a_buffer,
        "from the returns": gae_from_returns,
        "in NumPy": gae_in_numpy,
    },
    "ppo_loss": {
        "as two losses": ppo_as_two_losses,
        "by sign": ppo_by_sign,
        "stacked": ppo_stacked,
    },
}
