"""Tests that students cannot guess the results of a grading, because there are too many possibilities.

If there are at least a thousand equally likely sets of results, 200 random seeds give more than 185 different sets.
"""

import random

import pytest
import torch

from transformer_course.checking.expected_behavior import Behavior, in_isolation
from transformer_course.exercises import every_exercise
from transformer_course.running.isolation import default_torch_state

N_SEEDS, MIN_DISTINCT = 200, 185
NEARLY_CONSTANT = ("alibi_bias", "attention_parameters", "pass_at_k", "sliding_window_mask")
"""Exercises whose results depend on few integers. They once had only 19 to 127 different sets of results."""
SEEDS = random.Random(7).sample(range(2**56), N_SEEDS)


def digest(value: object) -> object:
    """Return a hashable key that is equal for results that the judge considers equal."""
    if isinstance(value, torch.Tensor):
        numbers = value.flatten()
        return (value.shape, numbers.sum().item(), *map(digest, numbers[:: 1 + len(numbers) // 100].tolist()))
    if isinstance(value, list | tuple):
        return tuple(map(digest, value))
    if isinstance(value, dict):
        return tuple((key, digest(item)) for key, item in value.items())
    return float(f"{value:.4g}") if isinstance(value, float) else value


def results(name: str, seed: int) -> object:
    exercise = every_exercise()[name]
    with default_torch_state():
        known = Behavior(exercise, list(exercise.cases(seed)))
    with in_isolation():
        return tuple(digest(known.output(exercise.reference, i)) for i in range(len(known.cases)))


@pytest.mark.parametrize("name", NEARLY_CONSTANT)
def test_results_differ_across_seeds(name: str):
    assert len({results(name, seed) for seed in SEEDS}) > MIN_DISTINCT


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in every_exercise() if name not in NEARLY_CONSTANT])
def test_every_exercise_has_different_results_across_seeds(name: str):
    assert len({results(name, seed) for seed in SEEDS}) > MIN_DISTINCT
