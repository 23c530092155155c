"""The references agree with implementations that share no code with them."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.course.samples import SAMPLES
from transformer_lab.course import stand_ins
from transformer_lab.course.exercises import every_exercise


def similarity(query, keys):
    return torch.tensor([math.fsum(q * k for q, k in zip(query.tolist(), key, strict=True)) for key in keys.tolist()])


def soft_lookup(query, keys, values):
    return F.scaled_dot_product_attention(query[None], keys, values, scale=1.0)[0]


def attention_weights(queries, keys):
    return F.softmax(torch.einsum("...qd,...kd->...qk", queries.double(), keys.double()), dim=-1).float()


def attention(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values, scale=1.0)


def distance_attention(queries, keys, values):
    """Between vectors, −½‖q − k‖² is a dot product once a 1 and −½‖k‖² are appended; −½‖q‖² cancels."""
    keys, queries, values = keys.double(), queries.double(), values.double()
    k = torch.cat([keys, -keys.square().sum(-1, keepdim=True) / 2], dim=-1)
    return F.scaled_dot_product_attention(F.pad(queries, (0, 1), value=1.0), k, values, scale=1.0).float()


def score_variance(d_k, variance):
    """Var(q·k) for q and k that take two values, ±σ, with the same odds: every product is ±σ²."""
    return sum(math.sqrt(variance) ** 2 * math.sqrt(variance) ** 2 for _ in range(d_k))


def softmax_jacobian(probabilities):
    scores = probabilities.double().log()  # its softmax gives them back
    return torch.autograd.functional.jacobian(lambda s: F.softmax(s, dim=0), scores).float()


def additive_scores(queries, keys, w_q, w_k, w):
    hidden = torch.einsum("bqi,hi->bqh", queries, w_q)[:, :, None] + torch.einsum("bkj,hj->bkh", keys, w_k)[:, None]
    return torch.einsum("bqkh,h->bqk", hidden.double().tanh(), w.double()).float()


def cosine_attention(queries, keys, values, temperature):
    cosines = F.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=-1)
    return torch.einsum("...qk,...kd->...qd", F.softmax(cosines / temperature, dim=-1), values)


INDEPENDENT = {
    "similarity": similarity,
    "softmax": lambda scores: F.softmax(scores.double(), dim=-1).float(),
    "soft_lookup": soft_lookup,
    "attention_weights": attention_weights,
    "attention": attention,
    "distance_attention": distance_attention,
    "score_variance": score_variance,
    "scaled_dot_product_attention": F.scaled_dot_product_attention,
    "softmax_jacobian": softmax_jacobian,
    "additive_scores": additive_scores,
    "cosine_attention": cosine_attention,
}


def test_every_exercise_has_an_independent_implementation_here():
    assert INDEPENDENT.keys() == every_exercise().keys()


@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_reference_agrees_with_an_independent_implementation(name):
    exercise = every_exercise()[name]
    for seed in range(20):
        for case in exercise.cases(seed):
            assert_close(exercise.reference(*case.inputs.values()), INDEPENDENT[name](*case.inputs.values()))


def test_the_variance_of_a_score_is_what_samples_show():
    rng = torch.Generator().manual_seed(0)
    q, k = 1.7**0.5 * torch.randn(2, 100_000, 5, generator=rng, dtype=torch.float64)
    measured = (q * k).sum(dim=-1).var()
    assert_close(every_exercise()["score_variance"].reference(5, 1.7), float(measured), rtol=0.02, atol=0.0)


def test_the_sample_of_multi_head_attention_is_that_of_torch():
    exercise = SAMPLES["MultiHeadAttention"]
    for case in exercise.cases(0):
        module = exercise.reference(**case.arguments)
        module.load_state_dict(case.parameters)
        torchs = torch.nn.MultiheadAttention(*case.arguments.values(), batch_first=True)
        weights, biases = (torch.cat([case.parameters[f"w_{x}.{kind}"] for x in "qkv"]) for kind in ("weight", "bias"))
        torchs.load_state_dict(
            {
                "in_proj_weight": weights,
                "in_proj_bias": biases,
                "out_proj.weight": case.parameters["w_o.weight"],
                "out_proj.bias": case.parameters["w_o.bias"],
            }
        )
        mask = case.keywords.get("mask")
        hidden = None if mask is None else ~mask.repeat_interleave(torchs.num_heads, dim=1).flatten(0, 1)
        expected, _ = torchs(*case.inputs.values(), attn_mask=hidden)
        assert_close(module(*case.inputs.values(), **case.keywords), expected)


def test_the_sample_of_leaks_future_agrees_with_the_tables():
    exercise = SAMPLES["leaks_future"]
    for seed in range(20):
        for case in exercise.cases(seed):
            mixing: Tensor = case.inputs["model"]["tables"]["mixing"]
            model = stand_ins.build(case.inputs["model"])
            assert exercise.reference(model, case.inputs["tokens"]) == bool(mixing.triu(1).any())
