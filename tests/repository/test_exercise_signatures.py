"""Test that a learner's function or class can replace its counterpart in the library."""

from collections.abc import Callable, Iterable
from inspect import isclass, signature
from typing import Any

import pytest
from torch import Size, Tensor, nn

from tests.helpers.library_names import library
from transformer_course.exercises import every_exercise

SIZES = {"vocab_size": 13, "d_model": 12, "n_heads": 6, "n_kv_heads": 2, "d_ff": 7, "n_layers": 2, "max_length": 11}
LAYER = {"linear": nn.Linear(7, 5), "rank": 3, "alpha": 6.0}
DIFFERENT_PARAMETER_NAMES = {
    # The library's function takes projected vectors, so its parameters are q, k and v, not queries, keys and values.
    "scaled_dot_product_attention",
    "generate",  # the library's function reads the context length from its model and keeps a cache
    "sliding_window_mask",  # the library's function takes positions, because there may be fewer queries than keys
    "sequence_log_probability",  # the library's function takes a mask, but the exercise detects padding
    "beam_search",  # the library's function calls the length penalty alpha, as in the paper
}


IN_BOTH = {
    name: (exercise.reference, library()[name]) for name, exercise in every_exercise().items() if name in library()
}
CLASSES = [name for name, (reference, _) in IN_BOTH.items() if isclass(reference)]


def names(function: Callable[..., Any]) -> list[str]:
    return [name for name in signature(function).parameters if name != "self"]


def assert_can_replace(theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
    """Assert that our function takes the same arguments in the same order, and that its additional arguments have
    defaults.
    """
    assert names(ours)[: len(names(theirs))] == names(theirs)
    additional = names(ours)[len(names(theirs)) :]
    assert all(signature(ours).parameters[name].default is not signature(ours).empty for name in additional)


def test_exercises_and_library_share_names():
    assert len(IN_BOTH) > 20
    assert len(CLASSES) > 5


@pytest.mark.parametrize("name", [name for name in IN_BOTH if name not in DIFFERENT_PARAMETER_NAMES])
def test_library_has_the_same_signature_as_the_exercise(name):
    theirs, ours = IN_BOTH[name]
    assert_can_replace(theirs, ours)
    if name in CLASSES:
        assert_can_replace(theirs.forward, ours.forward)


def shapes(named: Iterable[tuple[str, Tensor]]) -> dict[str, Size]:
    return {name: tensor.shape for name, tensor in named}


@pytest.mark.parametrize("name", CLASSES)
def test_library_parameters_match_the_exercise(name):
    theirs, ours = IN_BOTH[name]
    sizes = [{**SIZES, **LAYER}[size] for size in names(theirs)]
    module, written = ours(*sizes), theirs(*sizes)
    assert shapes(module.named_parameters()) == shapes(written.named_parameters())
    assert shapes(module.named_buffers()) == shapes(written.named_buffers())
