"""Independent answers to the exercises of the practice bank: PyTorch's own, plain loops, or another formula."""

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


def gae(rewards, values, last_value, done, gamma, lam):
    """Add the discounted errors of each step and all later ones of its episode."""
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


INDEPENDENT = {
    "adamw_step": adamw_step,
    "gelu": F.gelu,
    "gae": gae,
}
