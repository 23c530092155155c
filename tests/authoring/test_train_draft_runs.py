"""Tests that the acceptance rates stored for lesson 10 match the lesson's models."""

import json
from itertools import product

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_draft_runs import (
    COMMAND,
    DISTILLED,
    FILE,
    LESSON,
    NEEDED,
    SEEDS,
    STEPS,
    TEXT_DRAFT,
    accepted,
    distillation_loss,
)

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_row_for_every_seed_and_length():
    assert CARD["command"] == COMMAND
    assert [(run["seed"], run["steps"]) for run in CARD["runs"]] == list(product(SEEDS, STEPS))
    assert {tuple(run["accepted"]) for run in CARD["runs"]} == {("bigram", "trigram", TEXT_DRAFT, DISTILLED)}


def test_acceptance_rate_matches_simulation():
    torch.manual_seed(0)
    p, q = torch.rand(2, 3, 5).softmax(dim=-1)
    drawn = q.multinomial(20_000, replacement=True)
    chances = (p / q).clamp(max=1).gather(1, drawn)
    assert accepted(p, q) == pytest.approx((torch.rand(chances.shape) < chances).float().mean().item(), abs=0.01)


def test_distillation_loss_is_minimal_for_teacher_distribution():
    torch.manual_seed(1)
    teacher, other = torch.nn.Embedding(7, 7), torch.nn.Embedding(7, 7)
    loss_of, tokens = distillation_loss(teacher), torch.arange(7)[None]
    p = teacher(tokens).softmax(dim=-1)
    entropy = -(p * p.log()).sum(dim=-1).mean().item()
    assert loss_of(teacher, tokens).item() == pytest.approx(entropy, rel=1e-5)
    assert loss_of(other, tokens).item() > entropy + 0.1


def test_command_reproduces_stored_acceptance_rate():
    lesson = defined(NEEDED, LESSON)
    model = lesson["trained"](SEEDS[0], STEPS[0])
    p = model(lesson["held_out"][:, :-1])[:, 2:].softmax(dim=-1)
    stored = CARD["runs"][0]["accepted"]
    for name in ("bigram", "trigram"):
        assert accepted(p, lesson["drafts"][name]) == pytest.approx(stored[name], abs=0.03)
