"""Tests that the optimizer applies weight decay only to matrices, and that a step matches AdamW."""

import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.training.optimizer import make_optimizer, parameter_groups


def model():
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocab_size=11, d_model=6, n_heads=2, d_ff=10, n_layers=1, pre_norm=True))


class AssortedParameters(nn.Module):
    """A module with a buffer and with parameters of 0 to 3 dimensions. One parameter is shared; names are arbitrary."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.scale = nn.Embedding(7, 3), nn.Parameter(torch.ones(()))
        self.pair_bias, self.linear = nn.Parameter(torch.randn(3, 3)), nn.Linear(3, 5)
        self.kernels, self.norm = nn.Parameter(torch.randn(2, 3, 5)), nn.LayerNorm(5)
        self.column = nn.Parameter(torch.randn(5, 1))  # a matrix with a single column
        self.last = nn.Linear(3, 7, bias=False)
        self.last.weight = self.embedding.weight
        self.register_buffer("positions", torch.randn(11, 3))


def test_only_matrices_get_weight_decay():
    m = AssortedParameters()
    groups = parameter_groups(m, weight_decay=0.3)
    assert [(type(group["params"]), group.get("weight_decay")) for group in groups] == [(list, 0.3), (list, 0.0)]
    decaying, others = (set(map(id, group["params"])) for group in groups)
    assert len(decaying) == len(groups[0]["params"]) and len(others) == len(groups[1]["params"])
    assert decaying == set(map(id, (m.embedding.weight, m.pair_bias, m.linear.weight, m.kernels, m.column)))
    assert others == set(map(id, (m.scale, m.linear.bias, m.norm.weight, m.norm.bias)))
    torch.optim.AdamW(groups)


def test_excludes_frozen_parameters():
    transformer = model()
    transformer.decoder.embedding.weight.requires_grad_(False)
    grouped = [p for group in parameter_groups(transformer, 0.1) for p in group["params"]]
    assert len(grouped) == len(list(transformer.parameters())) - 1


def adamw(parameter, gradients, rate, decay, betas=(0.9, 0.98), eps=1e-9):
    """Run AdamW as in algorithm 2 of the paper, with weight decay decoupled from the gradient."""
    m = v = torch.zeros_like(parameter)
    for t, g in enumerate(gradients, start=1):
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
        step = (m / (1 - betas[0] ** t)) / ((v / (1 - betas[1] ** t)).sqrt() + eps)
        parameter = parameter - rate * (step + decay * parameter)
    return parameter


def test_step_matches_adamw_with_the_paper_betas():
    torch.manual_seed(0)
    linear = nn.Linear(3, 2).double()
    start = {name: p.detach().clone() for name, p in linear.named_parameters()}
    gradients = {name: [torch.randn_like(p) for _ in range(5)] for name, p in linear.named_parameters()}
    optimizer = make_optimizer(linear, weight_decay=0.1)
    for group in optimizer.param_groups:
        group["lr"] = 0.02
    for step in range(5):
        for name, p in linear.named_parameters():
            p.grad = gradients[name][step]
        optimizer.step()
    assert_close(linear.weight.detach(), adamw(start["weight"], gradients["weight"], 0.02, 0.1))
    assert_close(linear.bias.detach(), adamw(start["bias"], gradients["bias"], 0.02, 0.0))


def test_uses_the_fused_step_if_available():
    assert all(group["fused"] for group in make_optimizer(nn.Linear(2, 3)).param_groups)
    assert not any(group["fused"] for group in make_optimizer(nn.Linear(2, 3, device="meta")).param_groups)
