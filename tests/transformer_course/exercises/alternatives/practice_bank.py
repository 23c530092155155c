"""Right answers to the practice bank in the styles in which they are published: loops, NumPy, einsum, classes, F.*."""

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
    """As in widely read implementations of PPO."""
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(rewards.shape[0])):
        nonterminal = 1.0 - done[t].float()
        nextvalues = last_value if t == rewards.shape[0] - 1 else values[t + 1]
        delta = rewards[t] + gamma * nextvalues * nonterminal - values[t]
        advantages[t] = lastgaelam = delta + gamma * lam * nonterminal * lastgaelam
    return advantages, advantages + values


def gae_from_returns(rewards, values, last_value, done, gamma, lam):
    """By the recursion of λ-returns, from which the values are subtracted at the end."""
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


UNUSUAL = {
    "adamw_step": {
        "in place, on copies": adamw_in_place_on_copies,
        "with hats": adamw_with_hats,
        "number by number": adamw_number_by_number,
    },
    "gelu": {
        "torch's": lambda x: F.gelu(x),
        "ndtr": lambda x: torch.special.ndtr(x) * x,
        "a class": lambda x: GELU()(x),
        "erfc": lambda x: x * torch.erfc(-x / 2**0.5) / 2,
    },
    "gae": {
        "in a buffer": gae_in_a_buffer,
        "from the returns": gae_from_returns,
        "in NumPy": gae_in_numpy,
    },
}
