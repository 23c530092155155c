"""Tests that a language model's fast decoding step matches the plain path and runs only for supported models."""

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.testing import assert_close

from tests.helpers.decoding_models import GPT, LLAMA, PAD, language_model
from transformer_lab.fast import functional_layers
from transformer_lab.fast.language_model_decoding_step import LanguageModelStep
from transformer_lab.generation.decode import generate
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.layers.lora import LoRALinear
from transformer_lab.models.language_model import Block
from transformer_lab.models.language_model_config import SlidingWindow

FORMS = {
    "GPT-2": GPT,
    "Llama": LLAMA,
    "norms before and after": GPT | {"norm_placement": "both", "positions": "sinusoidal", "feed_forward": "relu"},
    "Qwen": LLAMA | {"qk_norm": True, "qkv_bias": True, "d_k": 6},
    "Gemma": LLAMA | {"feed_forward": "geglu", "n_kv_heads": 1, "scaled_embeddings": True, "norm_placement": "after"},
    "no positions": GPT | {"positions": "none", "bias": False, "feed_forward": "gelu", "pad_id": None},
}
PROMPTS = {"no padding": [[4, 5, 6], [7, 8, 9]], "padding": [[PAD, 5, 6], [7, 8, 9]]}


@torch.no_grad()
@pytest.mark.parametrize("max_size", [functional_layers.MAX_FUSED_SIZE, 1], ids=["fused", "not fused"])
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("form", FORMS)
def test_every_step_matches_the_plain_path(form, prompt, max_size, monkeypatch):
    monkeypatch.setattr(functional_layers, "MAX_FUSED_SIZE", max_size)
    model = language_model(1, **FORMS[form]).double()
    states = [TextState(model, 17), TextState(model, 17)]
    assert states[1]._step is not None
    states[1]._step = None
    tokens = torch.tensor(PROMPTS[prompt])
    for order in ([0, 1], [0, 0, 1, 1], [1, 3, 2, 0], [2, 3], [0, 1], [1]):
        fast, plain = (state.next_logits(tokens) for state in states)
        assert_close(fast, plain)
        for state in states:
            state.reorder(torch.tensor(order))
        tokens = torch.arange(3, 3 + len(order))[:, None]


def record_step_calls(monkeypatch):
    calls, step = [], LanguageModelStep.__call__
    monkeypatch.setattr(LanguageModelStep, "__call__", lambda *args: calls.append(args[1]) or step(*args))
    return calls


def test_fast_step_runs_after_the_prompt(monkeypatch):
    calls = record_step_calls(monkeypatch)
    texts = generate(language_model(**LLAMA), torch.tensor(PROMPTS["no padding"]), 5, temperature=0)
    assert texts.shape == (2, 8)
    assert len(calls) == 4


@pytest.mark.parametrize("form", [GPT, LLAMA], ids=["GPT-2", "Llama"])
def test_generates_nothing_for_an_empty_batch(form):
    assert generate(language_model(**form), torch.zeros(0, 3, dtype=torch.long), 2).shape == (0, 5)


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def lora(model):
    attention = model.blocks[1].self_attention
    attention.w_q = LoRALinear(attention.w_q, rank=2, alpha=2.0)


def other_linear(model):
    model.blocks[1].self_attention.w_o = Doubled(24, 24)


def hook(model):
    model.blocks[2].norm_2.register_forward_hook(lambda _, args, output: -output)


def replaced_forward(model):
    model.forward = lambda *args, forward=model.forward: forward(*args) + 1


@pytest.mark.parametrize(
    "change",
    [lora, other_linear, hook, replaced_forward, nn.Module.train, nn.Module.bfloat16],
    ids=lambda change: change.__name__,
)
def test_customized_modules_use_the_plain_path(change, monkeypatch):
    calls, model = record_step_calls(monkeypatch), language_model(**LLAMA)
    change(model)
    with torch.no_grad():
        TextState(model, 9).next_logits(torch.tensor([[4], [5]]))
    assert not calls


@torch.no_grad()
@pytest.mark.parametrize("form", [LLAMA | {"window": SlidingWindow(3)}, GPT | {"positions": "alibi"}], ids=str)
def test_unsupported_attention_uses_the_plain_path(form, monkeypatch):
    calls = record_step_calls(monkeypatch)
    TextState(language_model(**form), 9).next_logits(torch.tensor([[4], [5]]))
    assert not calls


def test_gradients_and_recording_use_the_plain_path(monkeypatch):
    calls, model, token = record_step_calls(monkeypatch), language_model(**GPT), torch.tensor([[4], [5]])
    assert TextState(model, 9).next_logits(token).requires_grad
    with torch.no_grad():
        state = TextState(model, 9)
        with record_attention(model) as weights:
            state.next_logits(token)
        assert not calls
        assert len(weights) == 3
        state.next_logits(token)
        assert len(calls) == 1


@torch.no_grad()
def test_global_hook_fires_for_every_block_and_step():
    model, observed = language_model(**GPT), []
    handle = register_module_forward_hook(lambda module, *_: observed.append(type(module)))
    try:
        generate(model, torch.tensor(PROMPTS["no padding"]), 5, temperature=0)
    finally:
        handle.remove()
    assert observed.count(Block) == 5 * len(model.blocks)
