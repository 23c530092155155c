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


def multiplies_and_then_cuts(x, matrix, n_devices):
    """The right numbers, in the order of the devices, with nothing spared."""
    return torch.einsum("ni,ikd->knd", x, matrix.unflatten(1, (n_devices, -1)))


def multiplies_column_by_column(x, matrix, n_devices):
    size = matrix.shape[1] // n_devices
    return torch.stack([x @ matrix[:, device * size : (device + 1) * size] for device in range(n_devices)])


def adds_up_in_a_loop(x_shards, matrix, bias):
    """The first device has the bias, as Megatron's sum starts with it."""
    total, size = bias.expand(x_shards.shape[1], -1), x_shards.shape[-1]
    for device, features in enumerate(x_shards):
        total = total + features @ matrix[device * size :][:size]
    return total


def spreads_the_bias(x_shards, matrix, bias):
    n_devices = len(x_shards)
    rows = matrix.view(n_devices, -1, matrix.shape[1])
    return (torch.bmm(x_shards, rows) + bias / n_devices).sum(0)


def fits_in_numpy(n_parameters, losses):
    a, b, _ = np.polyfit(np.log10(n_parameters), losses, 2)
    return 10 ** (-b / (2 * a))


def fits_by_normal_equations(n_parameters, losses):
    x = torch.tensor(n_parameters).double().log()
    powers = torch.vander(x - x.mean(), 3)
    a, b, _ = torch.linalg.solve(powers.T @ powers, powers.T @ torch.tensor(losses).double())
    return torch.exp(x.mean() - b / (2 * a))


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
    "column_parallel": {
        "an einsum": multiplies_and_then_cuts,
        "slices": multiplies_column_by_column,
    },
    "row_parallel": {
        "a loop that starts with the bias": adds_up_in_a_loop,
        "a part of the bias on each device": spreads_the_bias,
    },
    "compute_optimal_size": {
        "numpy, in base 10": fits_in_numpy,
        "normal equations, from the mean": fits_by_normal_equations,
    },
}
