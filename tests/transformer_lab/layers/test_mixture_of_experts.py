"""Mixtures of experts: against one token at a time, and against Mixtral's block of ``transformers``."""

from collections import Counter
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import grad
from torch.testing import assert_close
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

from tests.helpers.strategies import generators, normal
from tests.helpers.torch_parity import drawn_network
from transformer_lab.layers.mixture_of_experts import MixtureOfExperts, route

SIZES = {"d_model": 3, "d_ff": 7, "n_experts": 5}


@given(rng=generators(), k=st.integers(1, 5))
def test_weights_are_the_softmax_of_the_largest_logits(rng, k):
    logits = normal(rng, 11, 5)
    weights, experts = route(logits, k)
    for row, w, chosen in zip(logits, weights, experts, strict=True):
        assert set(chosen.tolist()) == set(sorted(range(5), key=lambda i: -row[i])[:k])
        assert_close(w, row[chosen].exp() / row[chosen].exp().sum())


@given(rng=generators(), k=st.integers(1, 5))
def test_each_token_gets_what_its_own_experts_say(rng, k):
    mixture = drawn_network(partial(MixtureOfExperts, n_experts=5, k=k), rng, d_model=3, d_ff=7)
    x = normal(rng, 2, 11, 3)
    output = mixture(x)
    for sentence in range(2):
        for position in range(11):
            token = x[sentence, position]
            likely = (mixture.router.weight @ token).exp()
            best = sorted(range(5), key=lambda i: -likely[i])[:k]
            weighted = sum(likely[i] * mixture.experts[i](token) for i in best)
            assert_close(output[sentence, position], weighted / sum(likely[i] for i in best))


@pytest.mark.parametrize("shape", [(3,), (2, 5, 3), (2, 1, 5, 3), (0, 3)], ids=str)
def test_vectors_are_mixed_alike_whatever_axes_they_have(shape):
    torch.manual_seed(0)
    mixture, x = MixtureOfExperts(**SIZES, k=2), torch.randn(shape)
    one_by_one = [mixture(vector[None])[0] for vector in x.view(-1, 3)]
    assert_close(mixture(x), torch.cat([torch.zeros(0), *one_by_one]).view(shape))


@pytest.mark.parametrize("k", [1, 2])
def test_outputs_and_gradients_are_those_of_mixtral(k):
    torch.manual_seed(0)
    options = {"hidden_size": 6, "intermediate_size": 7, "num_local_experts": 5, "num_experts_per_tok": k}
    theirs = MixtralSparseMoeBlock(MixtralConfig(**options)).double()
    ours = MixtureOfExperts(6, 7, n_experts=5, k=k).double()
    with torch.no_grad():
        theirs.gate.weight.copy_(ours.router.weight)
        for i, expert in enumerate(ours.experts):
            theirs.experts.gate_up_proj[i] = torch.cat([expert.w_gate.weight, expert.w_up.weight])
            theirs.experts.down_proj[i] = expert.w_down.weight
    x = torch.randn(2, 11, 6, dtype=torch.float64, requires_grad=True)
    probe = torch.randn_like(x)
    assert_close(ours(x), theirs(x), rtol=1e-6, atol=1e-6)  # they take the softmax in float32
    of_ours, of_theirs = (
        grad((mixture(x) * probe).sum(), [x, router]) for mixture, router in
        ((ours, ours.router.weight), (theirs, theirs.gate.weight))
    )  # fmt: skip
    assert_close(of_ours, of_theirs, rtol=1e-5, atol=1e-6)


def test_only_the_chosen_experts_are_run_and_each_on_its_own_tokens():
    mixture = MixtureOfExperts(**SIZES, k=2)
    seen: Counter[int] = Counter()
    for i, expert in enumerate(mixture.experts):
        expert.register_forward_hook(lambda _expert, args, _output, i=i: seen.update({i: len(args[0])}))
    x = torch.randn(2, 11, 3)
    mixture(x)
    _, experts = route(mixture.router(x.flatten(0, 1)), 2)
    assert seen == Counter(experts.flatten().tolist())
    assert seen.total() == 2 * 11 * 2


@pytest.mark.parametrize("k", [0, 6])
def test_a_number_of_experts_per_token_that_cannot_be_is_named(k):
    with pytest.raises(ValueError, match=f"got k={k}, n_experts=5"):
        MixtureOfExperts(**SIZES, k=k)
