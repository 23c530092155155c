"""Correct but unusual answers to the exercises of lesson 13."""

import numpy as np
import torch


def bills_layer_by_layer(n_parameters, n_layers, d_model, n_kept, n_tokens, n_workers, checkpointing):
    activations = 4 * n_kept * n_tokens
    for _ in range(n_layers if checkpointing else n_layers - 1):
        activations += 4 * n_tokens * (d_model if checkpointing else n_kept)
    states = 16 * n_parameters / n_workers
    return dict(parameters=states / 4, gradients=states / 4, optimizer=states / 2, activations=activations)


def bills_in_tensors(n_parameters, n_layers, d_model, n_kept, n_tokens, n_workers, checkpointing):
    own = torch.tensor([1.0, 1.0, 2.0]).double() * n_parameters / n_workers
    kept = n_tokens * (n_kept + (n_layers * d_model if checkpointing else (n_layers - 1) * n_kept))
    numbers = zip(("parameters", "gradients", "optimizer", "activations"), (*own, kept), strict=True)
    return {line: 4 * n for line, n in numbers}


def accumulates_in_a_loop(losses, n_tokens):
    total, count = 0.0, 0
    for loss, n in zip(losses, n_tokens.tolist(), strict=True):
        total, count = total + loss, count + n
    return total / count


def all_reduces_in_a_ring(gradients, n_tokens):
    """Pass values around the ring once, with every worker adding its neighbor's."""
    mine = gradients * (n_tokens / n_tokens.sum()).unsqueeze(1)
    passed_on, total = mine, mine
    for _ in range(len(gradients) - 1):
        passed_on = passed_on.roll(1, dims=0)
        total = total + passed_on
    return total


def multiplies_and_then_cuts(x, matrix, n_devices):
    """Compute the whole product and split it among the devices."""
    return torch.einsum("ni,ikd->knd", x, matrix.unflatten(1, (n_devices, -1)))


def multiplies_column_by_column(x, matrix, n_devices):
    size = matrix.shape[1] // n_devices
    return torch.stack([x @ matrix[:, device * size : (device + 1) * size] for device in range(n_devices)])


def adds_up_in_a_loop(x_shards, matrix, bias):
    """Let the sum start with the bias on the first device, as in Megatron."""
    total, size = bias.expand(x_shards.shape[1], -1), x_shards.shape[-1]
    for device, features in enumerate(x_shards):
        total = total + features @ matrix[device * size :][:size]
    return total


def spreads_the_bias(x_shards, matrix, bias):
    n_devices = len(x_shards)
    rows = matrix.view(n_devices, -1, matrix.shape[1])
    return (torch.bmm(x_shards, rows) + bias / n_devices).sum(0)


def steps_worker_by_worker(parameters, gradients, means, mean_squares, step, rate):
    """Update one worker at a time, with only its own state."""
    n, n_shard = len(parameters), means.shape[1]
    gradient, updated = sum(gradients) / len(gradients), []
    means, mean_squares = means.clone(), mean_squares.clone()
    for worker in range(len(gradients)):
        own = slice(worker * n_shard, min((worker + 1) * n_shard, n))
        g = gradient[own]
        means[worker, : len(g)] = means[worker, : len(g)].lerp(g, 0.1)
        mean_squares[worker, : len(g)] = mean_squares[worker, : len(g)].lerp(g * g, 0.001)
        mean, square = means[worker, : len(g)], mean_squares[worker, : len(g)]
        size = rate * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        updated.append(parameters[own] - size * mean / (square.sqrt() + 1e-8 * (1 - 0.999**step) ** 0.5))
    return torch.cat(updated), means, mean_squares


def steps_on_the_whole(parameters, gradients, means, mean_squares, step, rate):
    n, shape = len(parameters), means.shape
    m, v = means.reshape(-1)[:n], mean_squares.reshape(-1)[:n]
    g = gradients.mean(0)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.pow(2)
    new = parameters - rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
    rest = torch.zeros(means.numel() - n)
    return new, torch.cat((m, rest)).reshape(shape), torch.cat((v, rest)).reshape(shape)


def sends_messages(n_stages, n_microbatches):
    """Give each stage two queues that its neighbors fill at the end of a tick."""
    to_do, back = [[] for _ in range(n_stages)], [[] for _ in range(n_stages)]
    to_do[0] = list(range(1, n_microbatches + 1))
    held, rows = [0] * n_stages, [[] for _ in range(n_stages)]
    while any(to_do) or any(held):
        sent = []
        for stage in range(n_stages):
            if back[stage]:
                m = back[stage].pop(0)
                held[stage] -= 1
                rows[stage].append(-m)
                sent += [(back[stage - 1], m)] if stage else []
            elif to_do[stage] and held[stage] < n_stages - stage:
                m = to_do[stage].pop(0)
                held[stage] += 1
                rows[stage].append(m)
                sent.append((back[stage] if stage == n_stages - 1 else to_do[stage + 1], m))
            else:
                rows[stage].append(0)
        for queue, m in sent:
            queue.append(m)
    return torch.tensor(rows)


def warms_up_and_alternates(n_stages, n_microbatches):
    """Give each stage a fixed order of passes and wait where necessary, as in Megatron."""
    orders = []
    for stage in range(n_stages):
        n_warm = min(n_stages - stage - 1, n_microbatches)
        order = list(range(1, n_warm + 1))
        for m in range(1, n_microbatches - n_warm + 1):
            order += [n_warm + m, -m]
        orders.append(order + [-m for m in range(n_microbatches - n_warm + 1, n_microbatches + 1)])
    done, columns = set(), []
    while any(orders):
        column = []
        for stage, order in enumerate(orders):
            work = order[0] if order else 0
            if work > 0:
                ready = stage == 0 or (stage - 1, work) in done
            else:
                ready = (stage, -work) in done if stage == n_stages - 1 else (stage + 1, work) in done
            column.append(order.pop(0) if work and ready else 0)
        done |= set(enumerate(column))
        columns.append(column)
    return torch.tensor(columns).T.contiguous()


def fits_in_numpy(n_parameters, losses):
    a, b, _ = np.polyfit(np.log10(n_parameters), losses, 2)
    return 10 ** (-b / (2 * a))


def fits_by_normal_equations(n_parameters, losses):
    x = torch.tensor(n_parameters).double().log()
    powers = torch.vander(x - x.mean(), 3)
    a, b, _ = torch.linalg.solve(powers.T @ powers, powers.T @ torch.tensor(losses).double())
    return torch.exp(x.mean() - b / (2 * a))


UNUSUAL = {
    "memory_bill": {
        "layer by layer": bills_layer_by_layer,
        "numbers in tensors": bills_in_tensors,
    },
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
    "zero_step": {
        "worker by worker": steps_worker_by_worker,
        "on the whole": steps_on_the_whole,
    },
    "pipeline_schedule": {
        "messages": sends_messages,
        "an order for each stage": warms_up_and_alternates,
    },
    "compute_optimal_size": {
        "numpy, in base 10": fits_in_numpy,
        "normal equations, from the mean": fits_by_normal_equations,
    },
}
