"""Test dot-product attention, with and without attention weights, against loops and against torch."""

from typing import Any

import pytest
import torch
from hypothesis import given
from jaxtyping import TypeCheckError
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.attention import mix
from tests.helpers.reference_loops import by_loops, dot, scaled_dot
from tests.helpers.strategies import Inputs, attention_inputs, generators, normal, sizes
from transformer_lab.attention.dot_product import attend, masked_softmax, scaled_dot_product_attention, soft_lookup
from transformer_lab.attention.masks import causal_mask

both_functions = pytest.mark.parametrize("attention", [mix, attend])


@given(sizes=sizes(3), rng=generators())
def test_soft_lookup_averages_values_by_match(sizes, rng):
    n, d, d_v = sizes
    query, keys, values = normal(rng, d), normal(rng, n, d), normal(rng, n, d_v)
    assert_close(soft_lookup(query, keys, values), by_loops(dot, query[None], keys, values)[0])


def test_soft_lookup_approaches_a_dict_lookup():
    keys, values = 100 * torch.eye(3), torch.tensor([[10.0], [5.0], [2.0]])
    assert_close(soft_lookup(torch.tensor([0.0, 1.0, 0.0]), keys, values), torch.tensor([5.0]))


@both_functions
@given(inputs=attention_inputs())
def test_unmasked_attention_matches_the_formula(attention, inputs):
    q, k, v, _ = inputs
    assert_close(attention(q, k, v), by_loops(scaled_dot, q, k, v))


@both_functions
@given(inputs=attention_inputs())
def test_masked_attention_matches_the_formula_on_visible_keys(attention, inputs):
    assert_close(attention(*inputs), by_loops(scaled_dot, *inputs))


@both_functions
@given(inputs=attention_inputs())
def test_mask_convention_matches_torch(attention, inputs):
    q, k, v, mask = inputs
    assert_close(attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


@both_functions
@given(inputs=attention_inputs(), rng=generators())
def test_dot_product_bias_matches_longer_vectors(attention, inputs, rng):
    q, k, v, mask = inputs
    extra_q, extra_k = normal(rng, *q.shape[:-1], 2), normal(rng, *k.shape[:-1], 2)
    d_k, longer_d_k = q.shape[-1], q.shape[-1] + 2
    longer_q = torch.cat([q / d_k**0.5, extra_q], dim=-1) * longer_d_k**0.5
    longer_k = torch.cat([k, extra_k], dim=-1)
    for optional_mask in (mask, None):
        biased = attention(q, k, v, optional_mask, bias=extra_q @ extra_k.mT)
        assert_close(biased, by_loops(scaled_dot, longer_q, longer_k, v, optional_mask))


@both_functions
@pytest.mark.parametrize("mask", [None, torch.ones(1, 7, dtype=torch.bool)], ids=["no mask", "mask"])
def test_dropout_drops_and_rescales_weights(attention, mask):
    torch.manual_seed(0)
    q, k, v = torch.randn(500, 5), torch.randn(7, 5), torch.eye(7)  # with one-hot values, the output equals the weights
    scale = attention(q, k, v, mask, dropout=0.2) / attention(q, k, v, mask)
    kept = scale > 0
    assert_close(scale[kept], torch.full_like(scale[kept], 1 / 0.8))
    assert kept.float().mean().item() == pytest.approx(0.8, abs=0.03)


@given(inputs=attention_inputs())
def test_weights_per_query_sum_to_one_or_zero(inputs):
    q, k, _, mask = inputs
    weights = masked_softmax(q @ k.mT, mask)
    assert_close(weights.sum(dim=-1), mask.any(dim=-1).double())
    assert (weights[~mask] == 0).all()


@given(inputs=attention_inputs())
def test_output_is_the_weighted_sum_of_values(inputs):
    output, weights = scaled_dot_product_attention(*inputs)
    assert_close(weights @ inputs.v, output)


@both_functions
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_large_scores_do_not_overflow(attention, size):
    q, k, v = torch.tensor([[size]]), torch.tensor([[1.0], [-1.0]]), torch.tensor([[3.0], [5.0]])
    assert_close(attention(q, k, v), torch.tensor([[3.0 if size > 1 else 4.0]]))


@both_functions
def test_masked_key_stays_masked_with_poor_alternatives(attention):
    q, k, v = torch.tensor([[1.0]]), torch.tensor([[-1e12], [0.0]]), torch.tensor([[3.0], [5.0]])
    assert_close(attention(q, k, v, torch.tensor([[True, False]])), torch.tensor([[3.0]]))


@both_functions
@pytest.mark.parametrize("mask", [None, torch.ones(3, 0, dtype=torch.bool)])
def test_attention_without_keys_returns_zeros(attention, mask):
    output = attention(torch.ones(2, 3, 5), torch.ones(2, 0, 5), torch.ones(2, 0, 7), mask)
    assert torch.equal(output, torch.zeros(2, 3, 7))


def test_attend_calls_the_torch_kernel(monkeypatch):
    def recording_kernel(*inputs: Tensor, **options: Any) -> Tensor:
        masks.append(options.get("attn_mask"))
        return original(*inputs, **options)

    masks, original = [], F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", recording_kernel)
    mask = torch.tensor([[True, False], [False, True]])
    attend(*torch.ones(3, 2, 5))
    attend(*torch.ones(3, 2, 5), mask)
    attend(*torch.ones(3, 2, 5), torch.tensor([[False, False], [False, True]]))
    assert masks[0] is None
    assert torch.equal(masks[1], mask)
    assert masks[2].any(dim=-1).all(), "some kernels return NaN for fully masked rows"


@pytest.mark.parametrize("n_kv_heads", [1, 2])
@pytest.mark.parametrize("given", ["nothing", "mask", "bias", "mask and bias", "is_causal"])
def test_shared_heads_match_repeated_heads(n_kv_heads, given):
    q, k, v = torch.randn(3, 6, 5, 7), torch.randn(3, n_kv_heads, 5, 7), torch.randn(3, n_kv_heads, 5, 7)
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    mask = torch.rand(3, 1, 5, 5) < 0.6
    mask[:, :, 2] = False  # this query may attend to nothing
    options = {
        "nothing": {},
        "mask": {"mask": mask},
        "bias": {"bias": torch.randn(6, 5, 5).double()},
        "mask and bias": {"mask": mask, "bias": torch.randn(6, 5, 5).double()},
        "is_causal": {"is_causal": True},
    }[given]
    shared = attend(*leaves, **options)
    copies = [x.repeat_interleave(6 // n_kv_heads, dim=1) for x in leaves[1:]]
    if given == "is_causal":
        options = {"mask": causal_mask(5)}
    copied = mix(leaves[0], *copies, **options)
    assert_close(shared, copied)
    probe = torch.randn_like(shared)
    assert_close(
        torch.autograd.grad((shared * probe).sum(), leaves), torch.autograd.grad((copied * probe).sum(), leaves)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_is_causal_matches_a_causal_mask(dtype):
    q, k, v = torch.randn(3, 2, 6, 11, 7, dtype=dtype)
    assert_close(attend(q, k, v, is_causal=True), attend(q, k, v, causal_mask(11)))


@pytest.mark.parametrize(
    "options, n_key, message",
    [
        ({"mask": torch.ones(3, 3, dtype=torch.bool)}, 3, "got mask=True, bias=False, n_query=3, n_key=3"),
        ({"bias": torch.zeros(3, 3)}, 3, "got mask=False, bias=True, n_query=3, n_key=3"),
        ({}, 5, "got mask=False, bias=False, n_query=3, n_key=5"),
    ],
    ids=["mask", "bias", "more keys"],
)
def test_is_causal_rejects_unequal_lengths_and_masks(options, n_key, message):
    q, k = torch.ones(2, 3, 5), torch.ones(2, n_key, 5)
    with pytest.raises(ValueError, match=message):
        attend(q, k, k, is_causal=True, **options)


@pytest.mark.parametrize("leading", [(2, 3), (1, 3), (4, 2), (3,)], ids=str)
def test_rejects_mismatched_batches_or_heads(leading):
    k = torch.ones(*leading, 7, 5)
    with pytest.raises(ValueError, match=r"got queries of shape \(4, 3, 2, 5\), keys of shape"):
        attend(torch.ones(4, 3, 2, 5), k, k, bias=torch.zeros(2, 7))


@both_functions
@pytest.mark.parametrize(
    "wrong",
    [
        {"k": torch.ones(2, 7, 4)},
        {"v": torch.ones(2, 8, 11)},
        {"v": torch.ones(3, 7, 11)},
        {"mask": torch.ones(7, 3, dtype=torch.bool)},
        {"mask": torch.ones(11, 3, 7, dtype=torch.bool)},
        {"mask": torch.ones(3, 7)},
    ],
    ids=["d_k", "n_key", "batch", "transposed mask", "mask with a different batch size", "float mask"],
)
def test_rejects_mismatched_shapes(attention, wrong):
    valid = Inputs(torch.ones(2, 3, 5), torch.ones(2, 7, 5), torch.ones(2, 7, 11), torch.ones(3, 7, dtype=torch.bool))
    attention(*valid)
    with pytest.raises(TypeCheckError, match=f"parameter '{next(iter(wrong))}'"):
        attention(*valid._replace(**wrong))


@both_functions
def test_infinite_bias_hides_keys_like_a_mask(attention):
    torch.manual_seed(0)
    allowed = torch.rand(5, 7) < 0.6
    allowed[2] = False
    bias = torch.randn(5, 7)
    results = []
    for options in ({"mask": allowed, "bias": bias}, {"bias": bias.masked_fill(~allowed, -torch.inf)}):
        torch.manual_seed(1)
        q, k, v = (torch.randn(2, n, 4, requires_grad=True) for n in (5, 7, 7))
        output = attention(q, k, v, **options)
        output.square().sum().backward()
        results.append([output, q.grad, k.grad, v.grad])
    for masked, biased in zip(*results, strict=True):
        assert masked.isfinite().all()
        assert_close(masked, biased)
