"""Unusual right answers to the exercises of lesson 13."""

import numpy as np
import torch


def accumulates_in_a_loop(losses, n_tokens):
    total, count = 0.0, 0
    for loss, n in zip(losses, n_tokens.tolist(), strict=True):
        total, count = total + loss, count + n
    return total / count


def all_reduces_in_a_ring(gradients, n_tokens):
    """Every worker adds what its neighbour hands on, once round."""
    mine = gradients * (n_tokens / n_tokens.sum()).unsqueeze(1)
    passed_on, total = mine, mine
    for _ in range(len(gradients) - 1):
        passed_on = passed_on.roll(1, dims=0)
        total = total + passed_on
    return total


def fits_in_numpy(n_parameters, losses, irreducible):
    slope, intercept = np.polyfit(np.log(n_parameters), np.log(np.array(losses) - irreducible), 1)
    return np.exp(intercept), -slope


def fits_by_sums(n_parameters, losses, irreducible):
    x, y = torch.tensor(n_parameters).log(), (torch.tensor(losses) - irreducible).log()
    n, sums = len(x), x.sum()
    slope = (n * x @ y - sums * y.sum()) / (n * x @ x - sums**2)
    return ((y.sum() - slope * sums) / n).exp(), -slope


UNUSUAL = {
    "accumulate": {
        "a loop": accumulates_in_a_loop,
        "parts of the whole": lambda losses, n_tokens: (losses / n_tokens.sum()).sum(),
    },
    "all_reduce_gradients": {
        "a ring": all_reduces_in_a_ring,
        "a matrix": lambda gradients, n_tokens: (n_tokens / n_tokens.sum()).expand(len(n_tokens), -1) @ gradients,
    },
    "training_flops": {
        "by passes": lambda n_parameters, n_tokens: sum(2 * n_parameters * n_tokens for _ in ("out", "in", "weights")),
        "a tensor": lambda n_parameters, n_tokens: 6 * torch.tensor(n_parameters) * n_tokens,
    },
    "fit_scaling_law": {
        "numpy": fits_in_numpy,
        "normal equations, in float32": fits_by_sums,
    },
}
