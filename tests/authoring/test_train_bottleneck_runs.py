"""Tests that the accuracies stored for lesson 00 match the lesson's code and support its claims."""

import json
from collections import Counter

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_bottleneck_runs import (
    COMMAND,
    COPYING,
    FILE,
    LESSON,
    MODELS,
    NEEDED,
    REMEMBERING,
    SEEDS,
    STEPS_AND_RATES,
    copied,
    first_digits,
    remembered,
    seeded,
)
from transformer_lab.models.recurrent import RecurrentTranslator
from transformer_lab.tensor_files import read_tensors

CARD = json.loads(FILE.read_text(encoding="utf-8"))
AT_16_DIGITS = {name: [run[-1] for run in runs] for name, runs in CARD["copying"].items()}
SLOWER_SUFFIX = ", a third of the rate"
ONLY_LONGEST_SUFFIX = ", only 16 digits"


def test_file_contains_run_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    n_lengths = len(defined(NEEDED, LESSON)["n_digits"])
    assert {name: [len(run) for run in runs] for name, runs in CARD["copying"].items()} == {
        name: [n_lengths] * len(SEEDS) for name in COPYING
    }
    found = [(run["steps"], run["lr"], run["task"], len(run["accuracy"])) for run in CARD["remembering"]]
    assert found == [(steps, lr, task, len(SEEDS)) for steps, lr in STEPS_AND_RATES for task in REMEMBERING]


@pytest.mark.parametrize("rate", ["", SLOWER_SUFFIX])
def test_attention_copies_better_than_doubled_width(rate: str):
    assert min(AT_16_DIGITS["attention, width 32" + rate]) > max(AT_16_DIGITS["one vector, width 64" + rate]) + 0.1


@pytest.mark.parametrize("setting", ["", SLOWER_SUFFIX, ONLY_LONGEST_SUFFIX])
def test_open_gates_do_not_help_copying(setting: str):
    plain, opened = (
        AT_16_DIGITS["one vector, width 64" + setting],
        AT_16_DIGITS["one vector, width 64, open gates" + setting],
    )
    assert -0.1 < (sum(opened) - sum(plain)) / 3 < 0.01


def test_more_steps_help_more_than_doubled_width():
    few, many = ([AT_16_DIGITS[f"one vector, width {d}{steps}"] for d in (32, 64)] for steps in ("", ", 900 steps"))
    for narrow, wide in (few, many):
        assert max(narrow) < min(wide)
    for before, after in zip(few, many, strict=True):
        assert sum(after) - sum(before) > 2 * (sum(few[1]) - sum(few[0]))


def _first_digits(steps: int, lr: float) -> dict[str, list[float]]:
    return {run["task"]: run["accuracy"] for run in CARD["remembering"] if (run["steps"], run["lr"]) == (steps, lr)}


@pytest.mark.parametrize(("steps", "lr"), [(150, 0.008), (300, 0.0027)])
def test_remembering_requires_open_gates_or_shorter_texts(steps: int, lr: float):
    right = _first_digits(steps, lr)
    assert max(right["40 digits"]) < 0.2
    assert min(right["40 digits, open gates"] + right["1 to 40 digits"]) > 0.8


@pytest.mark.parametrize(("steps", "lr"), [(450, 0.008), (150, 0.024)])
def test_more_steps_or_higher_rate_learn_40_digits(steps: int, lr: float):
    assert min(_first_digits(steps, lr)["40 digits"]) > 0.8


def test_more_steps_do_not_suffice_for_80_digits():
    assert max(_first_digits(450, 0.008)["80 digits"]) < 0.2


@pytest.mark.parametrize(("steps", "lr"), STEPS_AND_RATES)
def test_attention_learns_first_digit_in_every_setting(steps: int, lr: float):
    assert min(_first_digits(steps, lr)["40 digits, attention"]) > 0.9


def test_stores_models_that_lesson_loads():
    tensors, _ = read_tensors(MODELS)
    n_parameters = Counter()
    for key, tensor in tensors.items():
        n_parameters[key.partition(".")[0]] += tensor.numel()
    assert n_parameters["one vector"] == 65_035 and n_parameters["attention"] == 19_243
    assert set(n_parameters) == {"translator", "one vector", "attention"}


def test_adds_gate_bias_only_to_update_gates():
    plain, opened = (seeded(RecurrentTranslator, 5, bias, seed=3).encoder for bias in (0.0, 4.0))
    torch.testing.assert_close(opened.bias_hh_l0 - plain.bias_hh_l0, torch.tensor([0.0, 4.0, 0.0]).repeat_interleave(5))
    x = torch.randn(2, 3, 5)
    z = torch.sigmoid((x[:, 0] @ opened.weight_ih_l0.T + opened.bias_ih_l0 + opened.bias_hh_l0)[:, 5:10])
    first, second = opened(x)[0][:, :2].unbind(dim=1)
    assert z.min() > 0.9 and (second - first).abs().max() < 0.3  # open update gates preserve most of the state


def test_target_is_first_digit_of_text():
    torch.manual_seed(0)
    lengths = set()
    for _ in range(200):
        digits, target = first_digits(shortest=38, longest=40)()
        assert target.tolist() == digits[:, :1].tolist()
        lengths.add(digits.shape[1])
    assert lengths == {38, 39, 40}


def test_command_reproduces_remembering_run():
    stored = next(run for run in CARD["remembering"] if run["task"] == "1 to 40 digits")
    found = remembered(stored["task"], stored["steps"], stored["lr"], SEEDS[0], defined(NEEDED, LESSON))
    assert found == pytest.approx(stored["accuracy"][0], abs=0.2)


@pytest.mark.thorough
@pytest.mark.parametrize("name", COPYING)
def test_command_reproduces_copying_run(name: str):
    assert copied(name, SEEDS[0], defined(NEEDED, LESSON)) == pytest.approx(CARD["copying"][name][0], abs=0.1)
