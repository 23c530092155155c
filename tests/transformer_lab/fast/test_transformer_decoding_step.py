"""Tests that a Transformer's fast decoding step matches the plain path and runs only for supported models."""

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.testing import assert_close

from tests.helpers.decoding_models import BOS, EOS, PAD, translator
from transformer_lab.fast.transformer_decoding_step import TransformerStep
from transformer_lab.generation.beam_search import beam_search_from_state
from transformer_lab.generation.decoding_state import TranslationState
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.feed_forward import GELUFeedForward
from transformer_lab.layers.lora import LoRALinear

FORMS = [
    {},
    {"pre_norm": True, "feed_forward": "gelu", "output_bias": True},
    {"hide_target_padding": False, "feed_forward": "silu", "source_vocab_size": 13},
    {"learned_positions": True, "feed_forward": "gelu_tanh"},
]
SOURCES = {
    "no padding": [[4, 5, 6], [7, 8, 9], [9, 10, 3]],
    "padding": [[4, 5, 6], [7, PAD, PAD], [PAD, 10, 3]],
    "an empty source": [[4, 5, 6], [PAD, PAD, PAD], [9, PAD, 3]],
}


def plain_state(model, source, max_length):
    state = TranslationState(model, source, max_length)
    state._step = None
    return state


@torch.no_grad()
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_step_matches_the_plain_path(form, source):
    model, source = translator(1, **form).double(), torch.tensor(SOURCES[source])
    states = [TranslationState(model, source, 9), plain_state(model, source, 9)]
    beams = torch.tensor([0, 0, 1, 1, 2, 2])
    rows = [None, beams, torch.tensor([1, 0, 2, 3, 5, 5]), torch.tensor([2, 3, 4, 5]), None, None]
    steps = [3, BOS, 5, PAD, 7, 8]  # PAD in the target is masked unless hide_target_padding is False
    for token, order in zip(steps, rows, strict=True):
        tokens = torch.full((len(states[0].source), 1), token) + torch.arange(len(states[0].source))[:, None] % 2
        fast, plain = (state.next_logits(tokens) for state in states)
        assert_close(fast, plain)
        if order is not None:
            for state in states:
                state.reorder(order)


def record_step_calls(monkeypatch):
    calls, step = [], TransformerStep.__call__
    monkeypatch.setattr(TransformerStep, "__call__", lambda *args: calls.append(args[1]) or step(*args))
    return calls


@torch.no_grad()
def test_fast_step_handles_single_tokens_but_not_prompts(monkeypatch):
    calls, source = record_step_calls(monkeypatch), torch.tensor(SOURCES["padding"])
    state = TranslationState(translator(), source, 9)
    state.next_logits(torch.full((3, 2), BOS))
    assert not calls
    texts, _ = beam_search_from_state(state, torch.full((3, 1), 5), 4, EOS, 2, 1.0)
    assert len(calls) == texts.shape[1]


@torch.no_grad()
@pytest.mark.parametrize("token", [-1, 11])
def test_rejects_token_id_outside_the_vocabulary(token, monkeypatch):
    calls = record_step_calls(monkeypatch)
    state = TranslationState(translator(), torch.tensor([[4, 5]]), 9)
    with pytest.raises(ValueError, match=f"^token ids must be from 0 to vocab_size − 1 = 10; got {token}$"):
        state.next_logits(torch.tensor([[token]]))
    assert len(calls) == 1


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def lora(model):
    attention = model.decoder.layers[1].self_attention
    attention.w_q = LoRALinear(attention.w_q, rank=2, alpha=2.0)


def other_linear(model):
    model.decoder.layers[1].cross_attention.w_o = Doubled(24, 24)


def other_network(model):
    class Halved(GELUFeedForward):
        def activation(self, z):
            return z / 2

    model.decoder.layers[0].feed_forward = Halved(24, 20).eval()


def hook(model):
    model.decoder.layers[2].norm_2.register_forward_hook(lambda _, args, output: -output)


def replaced_forward(model):
    layer = model.decoder.layers[0]
    layer.forward = lambda *args, forward=layer.forward: forward(*args) + 1


@pytest.mark.parametrize(
    "change",
    [lora, other_linear, other_network, hook, replaced_forward, nn.Module.train],
    ids=lambda change: change.__name__,
)
def test_customized_modules_use_the_plain_path(change, monkeypatch):
    calls, source = record_step_calls(monkeypatch), torch.tensor(SOURCES["padding"])
    model = translator()
    change(model)
    with torch.no_grad():
        TranslationState(model, source, 9).next_logits(torch.full((3, 1), BOS))
    assert not calls


def test_gradients_and_recording_use_the_plain_path(monkeypatch):
    calls, source, model = record_step_calls(monkeypatch), torch.tensor(SOURCES["padding"]), translator()
    begin = torch.full((3, 1), BOS)
    assert TranslationState(model, source, 9).next_logits(begin).requires_grad
    with torch.no_grad():
        state = TranslationState(model, source, 9)
        with record_attention(model) as weights:
            state.next_logits(begin)
        assert not calls
        assert weights["decoder.layers.2.cross_attention"].shape == (3, 3, 1, 3)
        state.next_logits(begin)
        assert len(calls) == 1


@torch.no_grad()
def test_global_hook_fires_for_every_layer_and_step():
    model, observed = translator(), []
    state = TranslationState(model, torch.tensor(SOURCES["padding"]), 9)
    state.next_logits(torch.full((3, 1), BOS))
    handle = register_module_forward_hook(lambda module, *_: observed.append(type(module)))
    try:
        for token in (5, 6):
            state.next_logits(torch.full((3, 1), token))
    finally:
        handle.remove()
    assert observed.count(DecoderLayer) == 2 * len(model.decoder.layers)


@torch.no_grad()
def test_autocast_switches_to_the_plain_path(monkeypatch):
    calls, state = record_step_calls(monkeypatch), TranslationState(translator(), torch.tensor(SOURCES["padding"]), 9)
    with torch.autocast("cpu", torch.bfloat16):
        state.next_logits(torch.full((3, 1), BOS))
    assert not calls
