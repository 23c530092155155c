"""Tests for measuring stacks of layers, and tests that the stored runs match their command."""

import pytest
import torch
from torch.nn import functional as F

from authoring import train_residual_runs
from authoring.train_residual_runs import (
    DEPTHS,
    LAYOUTS,
    SEEDS,
    STEPS,
    WARMUPS,
    PreviousTokenModel,
    measure,
    merge_seeds,
    train,
)
from transformer_course.views.residual_runs import MEASURES, stored

TOKENS = torch.randint(16, (3, 11), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_measurements_match_plain_loop(layout):
    torch.manual_seed(0)
    model = PreviousTokenModel(layout, 3)
    measured = dict(zip(MEASURES, measure(model, TOKENS).layers, strict=True))
    loss = model(TOKENS)
    loss.backward()
    assert measure(model, TOKENS).loss == pytest.approx(loss.item())
    x = model.encoder.embed(TOKENS)
    for i, layer in enumerate(model.encoder.layers):
        before, x = x, layer(x, None)
        assert measured["size"][i].item() == pytest.approx(x.square().mean().sqrt().item(), rel=1e-5)
        assert measured["gradient"][i].item() == pytest.approx(layer.feed_forward.w_2.weight.grad.norm().item(), 1e-5)
        pairs = [F.cosine_similarity(text[j], text[k], dim=0) for text in x for j in range(11) for k in range(j)]
        assert measured["similarity"][i].item() == pytest.approx(torch.stack(pairs).mean().item(), abs=1e-5)
        turn = F.cosine_similarity(before, x, dim=-1).mean()
        assert measured["turn"][i].item() == pytest.approx(turn.item(), abs=1e-5)


def test_loss_is_cross_entropy_of_previous_token():
    torch.manual_seed(0)
    model = PreviousTokenModel("pre-norm", 1)
    scores = model.output(model.encoder(TOKENS)).log_softmax(dim=-1)
    expected = [-scores[i, j, TOKENS[i, j - 1]] for i in range(3) for j in range(1, 11)]
    assert model(TOKENS).item() == pytest.approx(torch.stack(expected).mean().item(), rel=1e-5)


def test_file_contains_run_for_every_setting():
    kinds = {(run.depth, run.layout, run.warmup) for run in stored()}
    assert kinds == {(depth, layout, warmup) for depth in DEPTHS for layout in LAYOUTS for warmup in WARMUPS}
    assert all(run.steps == list(STEPS) and len(run.losses[0]) == len(SEEDS) for run in stored())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stored_runs_have_same_initial_state(layout, monkeypatch):
    monkeypatch.setattr(train_residual_runs, "STEPS", (0,))
    (kept,) = [run for run in stored() if (run.depth, run.layout, run.warmup) == (4, layout, 50)]
    again = merge_seeds(layout, 4, 50, [train(layout, 4, 50, seed) for seed in SEEDS])
    assert again.losses[0] == pytest.approx(kept.losses[0], rel=0.02)
    for name in MEASURES:
        assert again.measures[name][0] == pytest.approx(kept.measures[name][0], rel=0.02, abs=0.005)


@pytest.mark.thorough
def test_command_reproduces_stored_runs():
    (kept,) = [run for run in stored() if (run.depth, run.layout, run.warmup) == (2, "pre-norm", 0)]
    again = merge_seeds("pre-norm", 2, 0, [train("pre-norm", 2, 0, seed) for seed in SEEDS])
    for moment in range(STEPS.index(50) + 1):
        assert again.losses[moment] == pytest.approx(kept.losses[moment], rel=0.02)
    assert max(again.losses[-1] + kept.losses[-1]) < 0.1
