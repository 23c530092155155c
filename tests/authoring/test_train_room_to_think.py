"""Tests that the runs stored for lesson 14 match the lesson's model and puzzle."""

import json

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_room_to_think import (
    COMMAND,
    FILE,
    LESSON,
    N_BATCHES,
    NEEDED,
    SEEDS,
    STAGES,
    answered,
    fine_tuned,
    loss_averaged_over_tokens,
    loss_averaged_per_answer,
    random_judge,
    train_with_grpo,
)  # fmt: skip

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_row_for_every_seed_and_stage():
    assert CARD["command"] == COMMAND
    assert [(row["seed"], row["stage"]) for row in CARD["runs"]] == [(s, t) for s in SEEDS for t in ("SFT", *STAGES)]
    assert all(len(row["letters by batch"]) == N_BATCHES for row in CARD["runs"] if row["stage"] in STAGES)


def test_working_out_helps_and_grpo_lengthens_answers():
    for seed in SEEDS:
        sft, *policies, at_random = (row for row in CARD["runs"] if row["seed"] == seed)
        assert sft["right, worked out"] - sft["right, at once"] > 0.3
        for policy in policies:
            assert policy["letters"] - sft["letters"] > 0.5 and policy["pass@1"] - sft["pass@1"] > 0.1
        assert at_random["worked out"] < 0.9 and at_random["pass@1"] < sft["pass@1"]


def test_grades_only_last_letter():
    lesson = defined(NEEDED, LESSON)
    right = [lesson["letters"].encode(text).ids for text in ("fedb", "b", "a")]
    lesson |= {
        "puzzle": lambda *_: ("?abcdef a>", "cdeb"),
        "sample": lambda *_: (None, None),
        "answers_in": lambda *_: torch.tensor([(ids + [2] + [0] * 5)[:6] for ids in right]),
    }
    assert answered(lesson, torch.nn.Identity(), 1, 3)["right"].tolist() == [[1.0, 1.0, 0.0]]


def test_random_judge_ignores_answers():
    torch.manual_seed(0)
    rewards = random_judge(torch.cat([torch.zeros(1000), torch.ones(1000)]))
    assert rewards[:1000].mean().item() == pytest.approx(rewards[1000:].mean().item(), abs=0.06)
    assert set(rewards.tolist()) == {0.0, 1.0}


def test_per_answer_loss_weights_all_answer_lengths_equally():
    real = torch.tensor([[True, False, False, False], [True, True, True, True]])
    log_p, advantages = torch.zeros(2, 4), torch.tensor([1.0, -1.0])
    options = {"real": real, "clip": 0.2, "beta": 0.0}
    assert loss_averaged_per_answer(log_p, log_p, log_p, advantages, **options).item() == pytest.approx(0.0)
    assert loss_averaged_over_tokens(log_p, log_p, log_p, advantages, **options).item() == pytest.approx(0.6)


def test_short_run_returns_reward_and_length_per_batch():
    lesson = defined(NEEDED, LESSON)
    _, rewards, letters = train_with_grpo(lesson, fine_tuned(lesson, 0, n_steps=2), 0, n_batches=1)
    assert len(rewards) == len(letters) == 1


@pytest.mark.thorough
def test_command_reproduces_stored_run():
    lesson = defined(NEEDED, LESSON)
    _, rewards, letters = train_with_grpo(lesson, fine_tuned(lesson, 0), 0)
    stored = CARD["runs"][1]
    assert sum(rewards[-10:]) / 10 == pytest.approx(sum(stored["reward by batch"][-10:]) / 10, abs=0.1)
    assert sum(letters[-10:]) / 10 == pytest.approx(sum(stored["letters by batch"][-10:]) / 10, abs=0.3)
