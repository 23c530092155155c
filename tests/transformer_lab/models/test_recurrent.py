"""Test recurrent translators against a step-by-step reference for one sentence and against torch's GRU."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import grad
from torch.testing import assert_close

from tests.helpers.recurrent_models import PAD, D, both, drawn
from tests.helpers.strategies import generators
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator, last_state

sources = st.lists(st.integers(0, 10).filter(PAD.__ne__), min_size=1, max_size=4)
targets = st.lists(st.integers(0, 12), min_size=1, max_size=4)


def gru(parameters: dict[str, Tensor], name: str, suffix: str, x: Tensor, h: Tensor) -> Tensor:
    """Compute one GRU step as in Cho et al. (2014), except that the reset gate is applied where torch applies it."""
    from_x = parameters[f"{name}.weight_ih{suffix}"] @ x + parameters[f"{name}.bias_ih{suffix}"]
    from_h = parameters[f"{name}.weight_hh{suffix}"] @ h + parameters[f"{name}.bias_hh{suffix}"]
    (r_x, z_x, n_x), (r_h, z_h, n_h) = from_x.chunk(3), from_h.chunk(3)
    reset, update = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return (1 - update) * torch.tanh(n_x + reset * n_h) + update * h


def logits_of(model: RecurrentTranslator, source: list[int], target: list[int]) -> Tensor:
    """Compute the logits for one sentence without padding, one step at a time."""
    parameters = dict(model.named_parameters())
    h, states = torch.zeros(D, dtype=torch.float64), []
    for token in source:
        h = gru(parameters, "encoder", "_l0", parameters["source_embedding.weight"][token], h)
        states.append(h)
    s, logits = h, []
    for token in target:
        context = h
        if isinstance(model, AttentiveRecurrentTranslator):
            w_q, w_k, w = (parameters[f"attention.{name}.weight"] for name in ("w_q", "w_k", "w"))
            weights = torch.stack([w[0] @ torch.tanh(w_q @ s + w_k @ state) for state in states]).softmax(dim=0)
            context = sum(weight * state for weight, state in zip(weights, states, strict=True))
        s = gru(parameters, "decoder", "", torch.cat([parameters["target_embedding.weight"][token], context]), s)
        logits.append(parameters["head.weight"] @ torch.cat([s, context]) + parameters["head.bias"])
    return torch.stack(logits)


@both
@given(pairs=st.lists(st.tuples(sources, targets), min_size=2, max_size=3), rng=generators(), data=st.data())
def test_padded_batch_matches_single_sentences(kind, pairs, rng, data):
    n_source, n_target = max(len(source) for source, _ in pairs) + 2, max(len(target) for _, target in pairs)
    rows = []
    for source, _ in pairs:
        where = data.draw(st.sets(st.integers(0, n_source - 1), min_size=len(source), max_size=len(source)))
        row = torch.full((n_source,), PAD)
        row[sorted(where)] = torch.tensor(source)
        rows.append(row)
    target_rows = torch.tensor([target + [PAD] * (n_target - len(target)) for _, target in pairs])
    model = drawn(kind, rng)
    logits = model(torch.stack(rows), target_rows)
    for row, (source, target) in zip(logits, pairs, strict=True):
        assert_close(row[: len(target)], logits_of(model, source, target))


@both
def test_gradients_match_a_plain_loop(kind):
    rng = torch.Generator().manual_seed(0)
    model, probe = drawn(kind, rng), torch.randn(3, 13, generator=rng).double()
    source, target = [5, 6, 7, 8], [1, 9, 10]
    leaves = list(model.parameters())
    assert_close(
        grad((model(torch.tensor([source]), torch.tensor([target]))[0] * probe).sum(), leaves),
        grad((logits_of(model, source, target) * probe).sum(), leaves),
    )


def test_decoder_without_attention_matches_torch_gru():
    model = drawn(RecurrentTranslator, torch.Generator().manual_seed(0))
    source, target = torch.tensor([[5, 6, 7], [8, 9, 10]]), torch.tensor([[1, 2], [3, 4]])
    decoder = nn.GRU(2 * D, D, batch_first=True).double()
    decoder.load_state_dict({f"{name}_l0": value for name, value in model.decoder.state_dict().items()})

    _, last = model.encoder(model.source_embedding(source))
    contexts = last[0, :, None].expand(-1, target.shape[1], -1)
    states, _ = decoder(torch.cat([model.target_embedding(target), contexts], dim=-1), last)

    assert_close(model(source, target), model.head(torch.cat([states, contexts], dim=-1)))


def contexts_of(model: RecurrentTranslator, source: Tensor, target: Tensor) -> Tensor:
    observed = []
    model.decoder.register_forward_pre_hook(lambda _decoder, args: observed.append(args[0][:, D:]))
    model(source, target)
    return torch.stack(observed)


def test_context_changes_between_steps_only_with_attention():
    source, target = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[1, 9, 10]])
    fixed = contexts_of(drawn(RecurrentTranslator, torch.Generator().manual_seed(0)), source, target)
    assert torch.equal(fixed[0], fixed[1])
    assert torch.equal(fixed[0], fixed[2])
    attentive = contexts_of(drawn(AttentiveRecurrentTranslator, torch.Generator().manual_seed(0)), source, target)
    assert (attentive[0] - attentive[1]).abs().max() > 0.01
    assert (attentive[1] - attentive[2]).abs().max() > 0.01


def test_query_is_the_state_before_each_step():
    """The first context must not depend on the first target token, which affects only the state after the step."""
    model = drawn(AttentiveRecurrentTranslator, torch.Generator().manual_seed(0))
    source = torch.tensor([[5, 6, 7, 8], [5, 6, 7, 8]])
    first, second = contexts_of(model, source, torch.tensor([[1, 9], [2, 9]]))
    assert_close(first[0], first[1])
    assert not torch.allclose(second[0], second[1])


def test_hook_receives_the_attention_weights():
    model = drawn(AttentiveRecurrentTranslator, torch.Generator().manual_seed(0))
    observed = []
    model.attention.register_forward_hook(lambda _attention, _args, output: observed.append(output[1]))
    model(torch.tensor([[5, 6, 7, PAD]]), torch.tensor([[1, 9]]))
    weights = torch.cat(observed, dim=1)
    assert weights.shape == (1, 2, 4)
    assert_close(weights.sum(dim=-1), torch.ones(1, 2, dtype=torch.float64))
    assert (weights[..., 3] == 0).all()


@both
def test_padding_only_source_gives_finite_results(kind):
    model = drawn(kind, torch.Generator().manual_seed(0))
    logits = model(torch.tensor([[PAD, PAD], [5, PAD]]), torch.tensor([[1, 9, 10], [1, 9, 10]]))
    assert (contexts_of(model, torch.tensor([[PAD, PAD]]), torch.tensor([[1, 9]])) == 0).all()
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in grad(logits.square().sum(), list(model.parameters())))


@both
def test_every_parameter_receives_a_gradient(kind):
    model = drawn(kind, torch.Generator().manual_seed(0))
    model(torch.tensor([[5, 6, 7]]), torch.tensor([[1, 9]])).square().sum().backward()
    assert all((parameter.grad != 0).any() for parameter in model.parameters())


def test_attention_adds_two_matrices_and_a_vector():
    def count(kind: type[RecurrentTranslator]) -> int:
        return sum(parameter.numel() for parameter in kind(11, 13, d_model=D).parameters())

    assert count(AttentiveRecurrentTranslator) - count(RecurrentTranslator) == D * (D + D + 1)


def test_last_state_follows_the_last_real_token():
    states = torch.arange(24.0).reshape(3, 4, 2)
    mask = torch.tensor([[True, True, False, False], [True, True, True, True], [False, False, False, False]])
    assert_close(last_state(states, mask), torch.tensor([[2.0, 3.0], [14.0, 15.0], [0.0, 0.0]]))


@both
@pytest.mark.parametrize(
    "source, target, message",
    [
        ([[5, 11]], [[1]], "vocab_size − 1 = 10; got 11"),
        ([[5, -1]], [[1]], "vocab_size − 1 = 10; got -1"),
        ([[5, 6]], [[1, 13]], "vocab_size − 1 = 12; got 13"),
        ([[]], [[1]], "at least 1 token; got 0"),
        ([[5]], [[]], "at least 1 token; got 0"),
    ],
)
def test_rejects_invalid_tokens(kind, source, target, message):
    model = drawn(kind, torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=message):
        model(torch.tensor(source, dtype=torch.int64), torch.tensor(target, dtype=torch.int64))
