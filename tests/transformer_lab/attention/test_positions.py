"""Test positional encodings against loops, complex numbers and values from the papers."""

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tests.helpers.strategies import generators, normal, sizes
from transformer_lab.attention import positions
from transformer_lab.attention.positions import (
    LinearScaling,
    Llama3Scaling,
    Rotation,
    alibi_bias,
    apply_rotary,
    distance_bias,
    rotary_frequencies,
    sinusoidal_encoding,
)

BASES = st.sampled_from([10.0, 100.0, 10000.0, 500000.0])
even_widths = st.sampled_from([2, 4, 6, 10, 16])
any_position = st.integers(0, 100_000)


def float64(numbers: list[Any]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def sinusoid(position: int, feature: int, d_model: int, base: float) -> float:
    angle = position / base ** (feature // 2 * 2 / d_model)
    return math.cos(angle) if feature % 2 else math.sin(angle)


@pytest.mark.parametrize("encode", [sinusoidal_encoding])
@given(d_model=even_widths, base=BASES, position=any_position)
def test_even_features_are_sines_odd_features_cosines(encode, d_model, base, position):
    encoding = encode(position + 1, d_model, base)
    assert encoding.shape == (position + 1, d_model)
    assert encoding.dtype == torch.float32
    expected = float64([sinusoid(position, feature, d_model, base) for feature in range(d_model)])
    assert_close(encoding[position].double(), expected, rtol=0, atol=1e-7)


def test_sinusoids_match_hand_computed_values():
    x = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5], [0.3, 0.4, 0.5, 0.6], [0.4, 0.5, 0.6, 0.7]])
    encoded = x + sinusoidal_encoding(4, 4)
    assert_close(encoded[0], torch.tensor([0.1, 1.2, 0.3, 1.4]))
    assert_close(encoded[3], torch.tensor([0.5411, -0.4900, 0.6300, 1.6996]), rtol=0, atol=5e-5)


@given(d_model=even_widths, base=BASES, position=st.integers(0, 500), offset=st.integers(0, 500))
def test_offset_is_a_rotation_at_every_position(d_model, base, position, offset):
    angles = [offset / base ** (2 * i / d_model) for i in range(d_model // 2)]
    rotation = torch.block_diag(*(float64([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in angles))
    encoding = sinusoidal_encoding(position + offset + 1, d_model, base).double()
    assert_close(rotation @ encoding[position], encoding[position + offset], rtol=0, atol=1e-6)


@pytest.mark.parametrize("offset, product", [(0, 256.0), (10, 173.8), (50, 131.1)])
@pytest.mark.parametrize("position", [0, 7, 900])
def test_dot_products_of_encodings_depend_only_on_distance(position, offset, product):
    encoding = sinusoidal_encoding(1000, 512)
    assert_close(encoding[position] @ encoding[position + offset], torch.tensor(product), rtol=0, atol=0.05)


def test_dot_products_of_encodings_decrease_on_average():
    encoding = sinusoidal_encoding(1000, 512)
    products = encoding @ encoding[0]
    assert (products[1:] < products[0]).all()
    assert (products.diff() > 0).any()
    assert products[:100].mean() > products[100:200].mean() > products[200:400].mean() > products[400:].mean()


def by_complex_numbers(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Treat each pair of adjacent features as a complex number, and multiply it by e^(i·angle)."""
    d = x.shape[-1]
    pairs = torch.complex(x[..., 0::2], x[..., 1::2])
    angles = float64([[p / base ** (2 * i / d) for i in range(d // 2)] for p in positions.tolist()])
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


@pytest.mark.parametrize("rotate", [apply_rotary])
@given(leading=st.integers(1, 3).flatmap(sizes), d=even_widths, base=BASES, rng=generators(), data=st.data())
def test_rotation_multiplies_feature_pairs_as_complex_numbers(rotate, leading, d, base, rng, data):
    x = normal(rng, *leading, d)
    positions = torch.tensor(data.draw(st.lists(any_position, min_size=leading[-1], max_size=leading[-1])))
    assert_close(rotate(x, positions, base), by_complex_numbers(x, positions, base), rtol=1e-9, atol=1e-9)


@given(d=even_widths, base=BASES, rng=generators(), positions=st.tuples(any_position, any_position), shift=any_position)
def test_rotated_scores_depend_only_on_distance(d, base, rng, positions, shift):
    q, k = normal(rng, 1, d), normal(rng, 1, d)

    def score(shift: int) -> Tensor:
        rotated_q, rotated_k = (
            apply_rotary(x, torch.tensor([p + shift]), base) for x, p in zip((q, k), positions, strict=True)
        )
        return (rotated_q * rotated_k).sum()

    assert_close(score(shift), score(0), rtol=1e-8, atol=1e-8)


def test_rotated_scores_decrease_with_distance():
    q = torch.ones(1, 4)  # the dot product with itself is largest at distance 0
    scores = [(q * apply_rotary(q, torch.tensor([distance]))).sum() for distance in range(4)]
    assert_close(scores[0], torch.tensor(4.0))
    assert all(nearer > farther for nearer, farther in pairwise(scores))


@given(d=even_widths, base=BASES, rng=generators(), position=any_position)
def test_rotation_preserves_length_and_position_0(d, base, rng, position):
    x = normal(rng, 2, d)
    rotated = apply_rotary(x, torch.tensor([0, position]), base)
    assert_close(rotated.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(rotated[0], x[0])


@given(sizes=sizes(3), rng=generators(), data=st.data())
def test_batch_rows_may_have_different_positions(sizes, rng, data):
    batch, n_heads, n = sizes
    x = normal(rng, batch, n_heads, n, 6)
    rows = st.lists(any_position, min_size=n, max_size=n)
    positions = torch.tensor(data.draw(st.lists(rows, min_size=batch, max_size=batch)))
    rotated = Rotation(positions, d_k=6, base=100.0).rotate(x)
    one_by_one = torch.stack([by_complex_numbers(x[b], positions[b], base=100.0) for b in range(batch)])
    assert_close(rotated, one_by_one, rtol=1e-9, atol=1e-9)


@given(
    d=even_widths, base=BASES, factor=st.sampled_from([2.0, 8.0]), length=st.sampled_from([50, 8192]),
    n_turns=st.sampled_from([(1.0, 4.0), (0.5, 9.0)]),
)  # fmt: skip
def test_scaled_frequencies_match_transformers(d, base, factor, length, n_turns):
    low, high = n_turns
    common = {"rope_theta": base, "factor": factor}
    options = {
        "linear": common,
        "llama3": common
        | {"original_max_position_embeddings": length, "low_freq_factor": low, "high_freq_factor": high},
    }
    for kind, scaling in {"linear": LinearScaling(factor), "llama3": Llama3Scaling(factor, length, low, high)}.items():
        config = LlamaConfig(hidden_size=d, num_attention_heads=1, rope_parameters={"rope_type": kind} | options[kind])
        theirs, attention_factor = ROPE_INIT_FUNCTIONS[kind](config)
        assert_close(scaling.scale(rotary_frequencies(d, base)).float(), theirs)
        assert attention_factor == 1.0


def test_llama3_scaling_slows_only_low_frequencies():
    frequencies = torch.tensor([4.1, 4.0, 2.5, 1.0, 0.9]) * 2 * math.pi / 100  # 4.1 to 0.9 turns per 100 positions
    ratio = Llama3Scaling(factor=8.0, original_max_length=100).scale(frequencies) / frequencies
    assert_close(ratio, torch.tensor([1.0, 1.0, (1 + 1 / 8) / 2, 1 / 8, 1 / 8]))


@given(d=even_widths, base=BASES, rng=generators(), position=any_position)
def test_linear_scaling_divides_positions(d, base, rng, position):
    x = normal(rng, 1, d)
    rotated = Rotation(torch.tensor([4 * position]), d, base, LinearScaling(4.0)).rotate(x)
    assert_close(rotated, apply_rotary(x, torch.tensor([position]), base), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LinearScaling(0.0), r"factor must be positive; got factor=0\.0"),
        (lambda: Llama3Scaling(factor=-1.0), r"got factor=-1\.0"),
        (lambda: Llama3Scaling(original_max_length=0), "got original_max_length=0"),
        (lambda: Llama3Scaling(low=4.0), r"low must be below high; got low=4\.0, high=4\.0"),
    ],
    ids=["linear", "factor", "length", "turns"],
)
def test_rejects_invalid_scaling(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("width", [2, 3, 6])
def test_rejects_vectors_with_the_wrong_width(width):
    with pytest.raises(ValueError, match=rf"the last dimension of x must be d_k=4; got shape \(3, {width}\)"):
        Rotation(torch.arange(3), d_k=4).rotate(torch.ones(3, width))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_rotation_preserves_dtype(dtype):
    x = torch.ones(2, 3, 4, dtype=dtype)
    rotated = apply_rotary(x, torch.tensor([0, 1, 100_000]))
    assert rotated.dtype == dtype
    in_float64 = apply_rotary(x.double(), torch.tensor([0, 1, 100_000]))
    assert_close(rotated.double(), in_float64, rtol=0, atol=3 * torch.finfo(dtype).eps)


def test_angles_are_exact_on_devices_without_float64(monkeypatch):
    """Sines and cosines may be stored in float32, as on Apple's MPS. But float32 angles would be off by 0.005."""
    monkeypatch.setattr(positions, "widest_float", lambda _device: torch.float32)
    where, x = torch.tensor([[0, 99_999, 100_000]]), torch.randn(1, 2, 3, 8)
    rotation = Rotation(where, 8)
    assert rotation.cos.dtype == rotation.sin.dtype == torch.float32
    expected = by_complex_numbers(x[0].double(), where[0], base=10000.0)
    assert_close(rotation.rotate(x)[0].double(), expected, rtol=0, atol=1e-6)


def test_alibi_slopes_match_the_paper():
    assert alibi_bias(8, 1, 2)[:, 0, 0].tolist() == [
        -1 / 2,
        -1 / 4,
        -1 / 8,
        -1 / 16,
        -1 / 32,
        -1 / 64,
        -1 / 128,
        -1 / 256,
    ]
    assert_close(alibi_bias(16, 1, 2)[:, 0, 0], torch.tensor([-(2.0 ** (-h / 2)) for h in range(1, 17)]))


@pytest.mark.parametrize("bias", [alibi_bias])
@given(sizes=sizes(3))
def test_alibi_bias_decreases_with_distance(bias, sizes):
    n_heads, n_query, n_key = sizes
    expected = torch.zeros(n_heads, n_query, n_key)
    for h in range(n_heads):
        for i in range(n_query):
            for j in range(n_key):
                expected[h, i, j] = -(2 ** (-8 * (h + 1) / n_heads)) * abs((n_query - i) - (n_key - j))
    assert_close(bias(n_heads, n_query, n_key), expected)


def test_single_query_receives_last_bias_row():
    assert torch.equal(alibi_bias(3, 1, 7)[:, 0], alibi_bias(3, 7, 7)[:, -1])


def test_distance_bias_accepts_arbitrary_positions():
    where = torch.tensor([[0, 1, 2], [0, 0, 7]])
    bias = distance_bias(2, where, where)
    assert bias.shape == (2, 2, 3, 3)
    assert_close(bias[0], alibi_bias(2, 3, 3))
    assert_close(bias[1, 0], torch.tensor([[0.0, 0.0, 7.0], [0.0, 0.0, 7.0], [7.0, 7.0, 0.0]]) * -(2.0**-4))


def test_accepts_zero_positions():
    assert sinusoidal_encoding(0, 6).shape == (0, 6)
    assert alibi_bias(2, 0, 3).shape == (2, 0, 3)
    assert apply_rotary(torch.ones(0, 6), torch.arange(0)).shape == (0, 6)


@pytest.mark.parametrize("d", [-2, 0, 1, 5])
def test_rejects_odd_width(d):
    for make in (
        lambda: rotary_frequencies(d),
        lambda: sinusoidal_encoding(3, d),
        lambda: Rotation(torch.arange(3), d),
    ):
        with pytest.raises(ValueError, match=rf"width must be even.* got d={d}, base=10000\.0$"):
            make()
    if d > 0:
        with pytest.raises(ValueError, match=f"got d={d}, "):
            apply_rotary(torch.ones(3, d), torch.arange(3))


@pytest.mark.parametrize(
    "make, values",
    [
        (lambda: sinusoidal_encoding(-1, 4), "length=-1"),
        (lambda: sinusoidal_encoding(3, 4, base=0.0), r"d=4, base=0\.0"),
        (lambda: apply_rotary(torch.ones(3, 4), torch.arange(3), base=-2.0), r"d=4, base=-2\.0"),
        (lambda: alibi_bias(2, -1, 3), "n_query=-1"),
        (lambda: alibi_bias(2, 1, -3), "n_key=-3"),
        (lambda: alibi_bias(0, 1, 3), "n_heads=0"),
        (lambda: distance_bias(-1, torch.arange(3), torch.arange(3)), "n_heads=-1"),
    ],
)
def test_rejects_invalid_arguments(make, values):
    with pytest.raises(ValueError, match=f"got {values}$"):
        make()
