"""The exercises' references against the library, which is tested on its own: what is taught is what is used."""

import inspect

import pytest
import torch
from hypothesis import given
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize
from torch.testing import assert_close

from tests.strategies import attention_inputs
from transformer_lab import additive, dot_product
from transformer_lab.course.exercises import every_exercise

EXERCISES = every_exercise()
attention, attention_weights, scaled_dot_product_attention, distance_attention, cosine_attention = (
    EXERCISES[name].reference
    for name in (
        "attention",
        "attention_weights",
        "scaled_dot_product_attention",
        "distance_attention",
        "cosine_attention",
    )
)


def unscaled(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The library's attention, its scaling undone."""
    return dot_product.scaled_dot_product_attention(q * q.shape[-1] ** 0.5, k, v)


@given(inputs=attention_inputs())
def test_attention_and_its_weights_are_the_library_s_without_the_scaling(inputs):
    q, k, v, _ = inputs
    assert_close((attention(q, k, v), attention_weights(q, k)), unscaled(q, k, v))


@given(inputs=attention_inputs())
def test_scaled_dot_product_attention_is_the_library_s_without_a_mask(inputs):
    q, k, v, _ = inputs
    assert_close(scaled_dot_product_attention(q, k, v), dot_product.scaled_dot_product_attention(q, k, v)[0])


@given(inputs=attention_inputs())
def test_cosine_attention_is_the_library_s_for_vectors_as_long_as_the_temperature_says(inputs):
    q, k, v, _ = inputs
    expected, _ = unscaled(normalize(q, dim=-1) / 0.3, normalize(k, dim=-1), v)
    assert_close(cosine_attention(q, k, v, 0.3), expected)


@given(inputs=attention_inputs())
def test_distance_attention_is_the_library_s_with_the_length_of_a_key_counted_against_it(inputs):
    q, k, v, _ = inputs
    longer_q = torch.cat([q, torch.ones_like(q[..., :1])], dim=-1)
    longer_k = torch.cat([k, -k.square().sum(dim=-1, keepdim=True) / 2], dim=-1)
    assert_close(distance_attention(q, k, v), unscaled(longer_q, longer_k, v)[0])


@pytest.mark.parametrize("function", [dot_product.soft_lookup, additive.additive_scores])
def test_where_the_signatures_agree_the_reference_is_the_library_s_own_and_stands_alone(function):
    exercise = EXERCISES[function.__name__]
    assert exercise.reference is function
    alone: dict[str, object] = {"torch": torch, "Tensor": Tensor, "Float": Float}
    exec(exercise.solution, alone)
    for case in exercise.cases(0):
        assert_close(alone[function.__name__](*case.inputs.values()), function(*case.inputs.values()))
    assert len(inspect.getsource(function).splitlines()) <= 16
