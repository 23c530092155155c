"""Correct but unusual answers to the exercises of lesson 14."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def labels_row_by_row(tokens, prompt_lengths, pad_id):
    labels = tokens.clone()
    for row, length in zip(labels, prompt_lengths, strict=True):
        row[:length] = pad_id
    return labels


def rewards_by_counting(answers, accepted):
    differences = (answers.unsqueeze(1) != accepted).sum(dim=2)
    return (differences.amin(dim=1) == 0).to(torch.float32)


def advantages_row_by_row(rewards, eps=1e-4):
    return torch.stack([(row - row.mean()) / (row.std(correction=0) + eps) for row in rewards])


def loss_by_sign(log_p, log_p_before, log_p_reference, advantages, real, clip, beta):
    """Clip from above for a positive advantage and from below for a negative one, as in PPO's figure."""
    advantage = advantages.unsqueeze(1).expand_as(log_p)
    ratio = torch.exp(log_p - log_p_before.detach())
    counted = torch.where(advantage > 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip))
    d = log_p_reference.detach() - log_p
    per_token = -counted * advantage + beta * (torch.expm1(d) - d)
    return (per_token * real).sum() / real.sum()


def loss_of_the_real_tokens(log_p, log_p_before, log_p_reference, advantages, real, clip, beta):
    rows, _ = real.nonzero(as_tuple=True)
    now, before, reference = log_p[real], log_p_before[real], log_p_reference[real]
    ratio = now.exp() / before.exp()
    losses = torch.max(-ratio * advantages[rows], -torch.clip(ratio, 1 - clip, 1 + clip) * advantages[rows])
    drift = reference.exp() / now.exp() - (reference - now) - 1
    return losses.mean() + beta * drift.mean()


def chance_draw_by_draw(n, c, k):
    missed = 1.0
    for i in range(k):
        missed *= max(n - c - i, 0) / (n - i)
    return 1 - missed


UNUSUAL = {
    "answer_labels": {
        "row by row": labels_row_by_row,
        "where": lambda tokens, prompt_lengths, pad_id: torch.where(
            torch.arange(tokens.size(1)).expand_as(tokens) >= prompt_lengths.view(-1, 1), tokens, pad_id
        ),
        "times a mask": lambda tokens, prompt_lengths, pad_id: (
            (tokens - pad_id) * (torch.ones_like(tokens).cumsum(dim=1) > prompt_lengths[:, None]) + pad_id
        ),
    },
    "dpo_loss": {
        "softplus": lambda chosen, rejected, reference_chosen, reference_rejected, beta: F.softplus(
            beta * ((rejected - chosen) - (reference_rejected - reference_chosen))
        ).mean(),
        "cross-entropy of two": lambda chosen, rejected, reference_chosen, reference_rejected, beta: F.cross_entropy(
            beta * torch.stack([chosen - reference_chosen, rejected - reference_rejected], dim=1),
            torch.zeros(len(chosen), dtype=torch.int64),
        ),
        "with labels": lambda chosen, rejected, reference_chosen, reference_rejected, beta: (
            F.binary_cross_entropy_with_logits(
                beta * (chosen - rejected - reference_chosen + reference_rejected), torch.ones_like(chosen)
            )
        ),
        "logaddexp": lambda chosen, rejected, reference_chosen, reference_rejected, beta: (
            torch.logaddexp(
                torch.zeros(()), -beta * (chosen - reference_chosen) + beta * (rejected - reference_rejected)
            ).sum()
            / chosen.numel()
        ),
    },
    "exact_reward": {
        "by counting": rewards_by_counting,
        "lists": lambda answers, accepted: torch.tensor(
            [float(answer in forms) for answer, forms in zip(answers.tolist(), accepted.tolist(), strict=True)]
        ),
        "product and maximum": lambda answers, accepted: (answers[:, None] == accepted).float().prod(dim=-1).amax(-1),
    },
    "group_advantages": {
        "row by row": advantages_row_by_row,
        "torch's var_mean": lambda rewards, eps=1e-4: (
            (rewards - rewards.mean(1, True))
            / (torch.var_mean(rewards, dim=1, correction=0, keepdim=True)[0].sqrt() + eps)
        ),
        "a mean of squares": lambda rewards, eps=1e-4: (
            (rewards - rewards.mean(-1)[:, None])
            / (rewards.sub(rewards.mean(-1)[:, None]).pow(2).sum(-1) / rewards.size(-1)).sqrt().add(eps)[:, None]
        ),
    },
    "grpo_loss": {"by the sign": loss_by_sign, "the real tokens": loss_of_the_real_tokens},
    "pass_at_k": {
        "draw by draw": chance_draw_by_draw,
        "as Chen et al.": lambda n, c, k: (
            1.0 if n - c < k else float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))
        ),
        "gamma functions": lambda n, c, k: (
            1.0
            if n - c < k
            else -math.expm1(
                math.lgamma(n - c + 1) + math.lgamma(n - k + 1) - math.lgamma(n - c - k + 1) - math.lgamma(n + 1)
            )
        ),
    },
}
