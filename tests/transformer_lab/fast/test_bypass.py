"""Test that bypassing a module gives the same result as calling it, and that customized modules are not bypassed."""

import pytest
import torch
from torch import nn
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from torch.nn.utils.parametrizations import weight_norm
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.fast.bypass import call, hooks_of, may_bypass, may_bypass_in_inference
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.layers.feed_forward import FeedForward

HOOKS = [
    nn.Module.register_forward_hook,
    nn.Module.register_forward_pre_hook,
    nn.Module.register_full_backward_hook,
    nn.Module.register_full_backward_pre_hook,
]
GLOBAL_HOOKS = [
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
]


def hooked() -> nn.Module:
    module = nn.Linear(5, 5)
    module.register_forward_hook(lambda module, arguments, output: 2 * output)
    return module


class Doubled(nn.Linear):
    def forward(self, x):
        _batch, _n, _d = x.shape  # a learner's module may only accept three dimensions
        return 2 * super().forward(x)


def with_replaced_forward() -> nn.Module:
    module = nn.Linear(5, 5)
    module.forward = module.forward
    return module


@pytest.mark.parametrize(
    "module",
    [
        nn.Linear(5, 7), nn.Linear(5, 7, bias=False), nn.LayerNorm(5), nn.LayerNorm(5, 0.5, bias=False), nn.Identity(),
        FeedForward(5, 7), FeedForward(5, 7, bias=False),
    ],
)  # fmt: skip
def test_bypassed_modules_match_called_modules(module, monkeypatch):
    x = torch.randn(3, 5)
    expected = module(x)
    monkeypatch.setattr(type(module), "forward", lambda self, x: pytest.fail("called"))
    assert_close(call(module, x), expected)


def test_hook_on_hidden_layer_receives_values_before_relu():
    network, outputs = FeedForward(5, 7), []
    network.w_1.register_forward_hook(lambda module, arguments, output: outputs.append(output))
    x = torch.randn(3, 5)
    call(network, x)
    assert_close(outputs[0][0], network.w_1(x))


def with_replaced_activation() -> nn.Module:
    module = FeedForward(5, 7)
    module.activation = torch.tanh
    return module


@pytest.mark.parametrize("module", [hooked(), Doubled(5, 5), nn.RMSNorm(5), with_replaced_activation()])
def test_calls_custom_modules_with_a_batch_of_one(module):
    x = torch.randn(3, 5)
    assert_close(call(module, x), module(x[None])[0])


@pytest.mark.parametrize(
    "module",
    [Doubled(5, 5), hooked(), with_replaced_forward(), weight_norm(nn.Linear(5, 5))],
    ids=lambda m: type(m).__name__,
)
def test_does_not_bypass_customized_modules(module):
    assert may_bypass(nn.Linear(5, 5), nn.Linear)
    assert not may_bypass(module, nn.Linear)


@pytest.mark.parametrize("register", HOOKS, ids=lambda f: f.__name__)
def test_detects_module_hook_while_registered(register):
    attention = MultiHeadAttention(4, 2)
    hooks = hooks_of(*attention.modules())
    handle = register(attention.w_o, lambda *_: None)
    assert any(hooks) and not may_bypass(attention.w_o, nn.Linear) and may_bypass(attention.w_q, nn.Linear)
    handle.remove()
    assert not any(hooks) and may_bypass(attention.w_o, nn.Linear)


@pytest.mark.parametrize("register", GLOBAL_HOOKS, ids=lambda f: f.__name__)
def test_detects_global_hook_while_registered(register):
    module = nn.Linear(5, 5)
    hooks = hooks_of(module)
    handle = register(lambda *_: None)
    try:
        assert any(hooks) and not may_bypass(module, nn.Linear)
    finally:
        handle.remove()
    assert not any(hooks) and may_bypass(module, nn.Linear)


def test_detects_flop_counter_and_weight_recording():
    attention = MultiHeadAttention(4, 2)
    hooks = hooks_of(attention)
    for observer in (FlopCounterMode(display=False), record_attention(attention)):
        with observer:
            assert any(hooks) and not may_bypass(attention, MultiHeadAttention)
        assert not any(hooks) and may_bypass(attention, MultiHeadAttention)


@pytest.mark.parametrize(
    "module, expected",
    [(nn.Linear(2, 2).eval(), True), (nn.Linear(2, 2), False), (Doubled(2, 2).eval(), False), (hooked().eval(), False)],
    ids=["eval mode", "training mode", "subclass", "hook"],
)
def test_bypasses_modules_only_during_inference(module, expected):
    with torch.no_grad():
        assert may_bypass_in_inference([module], {nn.Linear}) is expected
        with torch.autocast("cpu", torch.bfloat16):
            assert not may_bypass_in_inference([module], {nn.Linear})
    assert not may_bypass_in_inference([module], {nn.Linear})
