"""What the loss, the schedule and the optimizer's groups must compute."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

PAD, SMOOTHING = 2, 0.1
MeanLoss = Callable[[Tensor, Tensor, int, float], Tensor]
"""From logits, targets, the token for padding and ε to the mean loss of a real token."""


def draw_logits_and_targets() -> tuple[Tensor, Tensor]:
    """Draw logits of three sentences with padding, 13 real tokens in all."""
    rng = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(3, 7, 5, generator=rng)
    targets = torch.tensor([[0, 1, 3, 4, 0, PAD, PAD], [4, PAD, PAD, PAD, PAD, PAD, PAD], [1, 1, 3, 0, 4, 4, 3]])
    return logits, targets


def loss_by_loops(logits: Tensor, targets: Tensor, smoothing: float) -> float:
    """Follow the paper, number by number: 1 − ε for what came, and ε / 5 for each of the five beside it."""
    total = 0.0
    for row, line in zip(logits.double().tolist(), targets.tolist(), strict=True):
        for scores, target in zip(row, line, strict=True):
            if target != PAD:
                normaliser = math.log(sum(math.exp(score) for score in scores))
                for token, score in enumerate(scores):
                    wanted = smoothing / len(scores) + (1 - smoothing) * (token == target)
                    total -= wanted * (score - normaliser)
    return total


def assert_smoothed_cross_entropy(mean_loss: MeanLoss):
    logits, targets = draw_logits_and_targets()
    for smoothing in (0.0, SMOOTHING):
        ours = mean_loss(logits, targets, PAD, smoothing)
        torchs = F.cross_entropy(logits.mT, targets, ignore_index=PAD, label_smoothing=smoothing)
        assert_close(ours, torchs, rtol=1e-6, atol=0)
        assert_close(13 * ours.item(), loss_by_loops(logits, targets, smoothing), rtol=1e-6, atol=0)


def assert_charges_all_for_what_is_sure_and_wrong(mean_loss: MeanLoss):
    logits = 500 * F.one_hot(torch.tensor([[1, 3]]), 5).float()
    assert mean_loss(logits, torch.tensor([[0, 3]]), PAD, 0.0) == 250


def assert_every_token_and_no_padding_gets_a_gradient(mean_loss: MeanLoss):
    logits, targets = draw_logits_and_targets()
    logits.requires_grad_()
    mean_loss(logits, targets, PAD, SMOOTHING).backward()
    assert torch.equal((logits.grad != 0).any(dim=-1), targets != PAD)


def assert_noam_rate(noam_rate: Callable[[int, int, int], float]):
    for step, d_model, warmup in product([1, 2, 399, 400, 401, 10**6], [1, 7, 512], [1, 400, 10**5]):
        top = 1 / math.sqrt(d_model * warmup)
        expected = top * step / warmup if step < warmup else top * math.sqrt(warmup / step)
        rate = noam_rate(step, d_model, warmup)
        assert type(rate) is float
        assert rate == pytest.approx(expected, rel=1e-9, abs=0)


class AssortedParameters(nn.Module):
    """Parameters with 0 to 3 axes, one of them shared, under names that say nothing; and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.scale = nn.Embedding(7, 3), nn.Parameter(torch.ones(()))
        self.bias_of_pairs, self.one = nn.Parameter(torch.randn(3, 3)), nn.Linear(3, 5)
        self.kernels, self.norm = nn.Parameter(torch.randn(2, 3, 5)), nn.LayerNorm(5)
        self.column = nn.Parameter(torch.randn(5, 1))  # two axes, though one is of length 1
        self.last = nn.Linear(3, 7, bias=False)
        self.last.weight = self.embedding.weight
        self.register_buffer("positions", torch.randn(11, 3))


def assert_what_has_two_axes_decays(parameter_groups: Callable[..., Any]):
    module = AssortedParameters()
    groups = parameter_groups(module, weight_decay=0.3)
    assert [(type(group["params"]), group.get("weight_decay")) for group in groups] == [(list, 0.3), (list, 0.0)]
    decaying, others = (set(map(id, group["params"])) for group in groups)
    assert len(decaying) == len(groups[0]["params"]) and len(others) == len(groups[1]["params"])
    m = module
    assert decaying == set(map(id, (m.embedding.weight, m.bias_of_pairs, m.one.weight, m.kernels, m.column)))
    assert others == set(map(id, (m.scale, m.one.bias, m.norm.weight, m.norm.bias)))
    torch.optim.AdamW(groups)
