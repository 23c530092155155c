"""Test Muon against a singular value decomposition and torch's implementation, and train a small model with it."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.language_models import SMALL, drawn
from tests.helpers.strategies import generators, normal, sizes
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.training.muon import Muon, layer_matrices, make_muon, orthogonalize


@given(sizes=sizes(2), rng=generators())
def test_polynomial_changes_only_the_singular_values(sizes, rng):
    matrix = normal(rng, *sizes)
    u, s, vh = torch.linalg.svd(matrix, full_matrices=False)
    s = s / s.square().sum().sqrt()
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    assert_close(orthogonalize(matrix), u * s @ vh, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("shape", [(30, 50), (50, 30), (40, 40)])
def test_orthogonalized_singular_values_are_near_1(shape):
    torch.manual_seed(0)
    matrix = torch.randn(shape) @ torch.diag(torch.logspace(-1, 1, shape[1]))
    before = torch.linalg.svdvals(matrix)
    after = torch.linalg.svdvals(orthogonalize(matrix))
    assert before[0] > 50 * before[-1]
    assert after.max() < 1.25
    assert after.median() > 0.65


def test_zero_matrix_stays_zero():
    assert torch.equal(orthogonalize(torch.zeros(3, 5)), torch.zeros(3, 5))


@pytest.mark.parametrize("shape", [(3, 7), (7, 3)])
@pytest.mark.parametrize(("adjust", "by_torch"), [("original", "original"), ("match_adamw", "match_rms_adamw")])
def test_steps_match_torch(shape, adjust, by_torch):
    torch.manual_seed(0)
    ours = nn.Parameter(torch.randn(shape))
    theirs = deepcopy(ours)
    settings = {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.3}
    muon = Muon([ours], **settings, adjust=adjust)
    peer = torch.optim.Muon([theirs], **settings, adjust_lr_fn=by_torch)
    for _ in range(4):
        ours.grad = torch.randn(shape)
        theirs.grad = ours.grad.clone()
        muon.step()
        peer.step()
    # The tolerance is large, because torch orthogonalizes in bfloat16. A step changes entries by 0.05.
    assert_close(ours, theirs, rtol=0, atol=0.02)


def test_first_step_matches_the_formula():
    torch.manual_seed(0)
    parameter = nn.Parameter(torch.randn(7, 3).double())
    start, parameter.grad = parameter.detach().clone(), torch.randn(7, 3).double()
    Muon([parameter], lr=0.1, momentum=0.8, weight_decay=0.3).step()
    expected = start * (1 - 0.03) - 0.1 * (7 / 3) ** 0.5 * orthogonalize(parameter.grad)
    assert_close(parameter.detach(), expected)


def test_match_adamw_gives_equal_rms_for_every_shape():
    torch.manual_seed(0)
    for shape in ((30, 50), (50, 30), (80, 80)):
        parameter = nn.Parameter(torch.zeros(shape))
        parameter.grad = torch.randn(shape)
        Muon([parameter], lr=0.1, adjust="match_adamw").step()
        assert parameter.detach().square().mean().sqrt().item() == pytest.approx(0.1 * 0.2, rel=0.2)


def test_splits_parameters_between_muon_and_adamw():
    model = LanguageModel(SMALL)
    muon, adamw = make_muon(model, lr=0.02, adamw_lr=0.003, weight_decay=0.1)
    names = {id(p): name for name, p in model.named_parameters()}
    of_muon, decaying, others = (
        [names[id(p)] for p in group["params"]] for group in (*muon.param_groups, *adamw.param_groups)
    )
    assert len(of_muon) == 2 * (4 + 2)
    assert all(name.startswith("blocks.") and name.endswith(".weight") and ".w_" in name for name in of_muon)
    assert set(decaying) == {"embedding.weight", "positions"}
    assert all("norm" in name or name.endswith("bias") for name in others)
    assert len(of_muon) + len(decaying) + len(others) == len(names)
    assert [group["weight_decay"] for group in adamw.param_groups] == [0.1, 0.0]


def test_frozen_or_gradientless_parameters_do_not_change():
    model = LanguageModel(SMALL)
    model.blocks[0].requires_grad_(False)
    assert len(layer_matrices(model)) == 6
    parameter = nn.Parameter(torch.ones(3, 5))
    Muon([parameter], weight_decay=0.5).step()
    assert torch.equal(parameter, torch.ones(3, 5))


def test_model_memorizes_a_batch():
    model = drawn(SMALL, torch.Generator().manual_seed(0)).float()
    tokens = torch.tensor([[1, 2, 4, 5, 6], [7, 8, 9, 10, 0]])
    optimizers = make_muon(model, lr=0.02, adamw_lr=0.01)
    losses = []
    for _ in range(60):
        loss = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
        losses.append(loss.item())
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    assert losses[-1] < 0.05 < 1.0 < losses[0]


def test_closure_runs_before_the_step():
    parameter = nn.Parameter(torch.ones(3, 5))

    def closure() -> torch.Tensor:
        parameter.grad = torch.ones(3, 5)
        return (parameter * 2).sum().requires_grad_()

    assert Muon([parameter]).step(closure) == 30
    assert (parameter != 1).all()


def test_rejects_parameters_that_are_not_matrices():
    with pytest.raises(ValueError, match=r"matrices; got a parameter of shape \(3,\)"):
        Muon([nn.Parameter(torch.zeros(3))])


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"lr": -1.0}, r"lr must not be negative; got lr=-1\.0"),
        ({"weight_decay": -0.1}, r"weight_decay must not be negative; got weight_decay=-0\.1"),
        ({"momentum": -0.1}, r"momentum must be at least 0 and less than 1; got momentum=-0\.1"),
        ({"momentum": 1.0}, r"got momentum=1\.0"),
        ({"momentum": float("nan")}, "got momentum=nan"),
        ({"adjust": "rms"}, "adjust must be one of original, match_adamw; got adjust='rms'"),
    ],
    ids=str,
)
def test_rejects_invalid_settings(setting, message):
    with pytest.raises(ValueError, match=f"{message}$"):
        Muon([nn.Parameter(torch.zeros(3, 5))], **setting)
