"""A module is bypassed only where calling it would do nothing else, and gives what it would give when called."""

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
        _batch, _n, _d = x.shape  # as a learner's may be written
        return 2 * super().forward(x)


def with_own_forward() -> nn.Module:
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
def test_bypassed_modules_match_their_calls(module, monkeypatch):
    x = torch.randn(3, 5)
    wanted = module(x)
    monkeypatch.setattr(type(module), "forward", lambda self, x: pytest.fail("called"))
    assert_close(call(module, x), wanted)


def test_hook_on_the_hidden_layer_sees_it_before_the_relu():
    network, seen = FeedForward(5, 7), []
    network.w_1.register_forward_hook(lambda module, arguments, output: seen.append(output))
    x = torch.randn(3, 5)
    call(network, x)
    assert_close(seen[0][0], network.w_1(x))


def with_own_activation() -> nn.Module:
    module = FeedForward(5, 7)
    module.activation = torch.tanh
    return module


@pytest.mark.parametrize("module", [hooked(), Doubled(5, 5), nn.RMSNorm(5), with_own_activation()])
def test_other_modules_are_called_with_one_sentence(module):
    x = torch.randn(3, 5)
    assert_close(call(module, x), module(x[None])[0])


@pytest.mark.parametrize(
    "module",
    [Doubled(5, 5), hooked(), with_own_forward(), weight_norm(nn.Linear(5, 5))],
    ids=lambda m: type(m).__name__,
)
def test_modules_that_do_more_than_their_class_are_not_bypassed(module):
    assert may_bypass(nn.Linear(5, 5), nn.Linear)
    assert not may_bypass(module, nn.Linear)


@pytest.mark.parametrize("register", HOOKS, ids=lambda f: f.__name__)
def test_module_hook_is_detected_while_registered(register):
    attention = MultiHeadAttention(4, 2)
    hooks = hooks_of(*attention.modules())
    handle = register(attention.w_o, lambda *_: None)
    assert any(hooks) and not may_bypass(attention.w_o, nn.Linear) and may_bypass(attention.w_q, nn.Linear)
    handle.remove()
    assert not any(hooks) and may_bypass(attention.w_o, nn.Linear)


@pytest.mark.parametrize("register", GLOBAL_HOOKS, ids=lambda f: f.__name__)
def test_global_hook_is_detected_while_registered(register):
    module = nn.Linear(5, 5)
    hooks = hooks_of(module)
    handle = register(lambda *_: None)
    try:
        assert any(hooks) and not may_bypass(module, nn.Linear)
    finally:
        handle.remove()
    assert not any(hooks) and may_bypass(module, nn.Linear)


def test_flop_counter_and_recording_are_detected():
    attention = MultiHeadAttention(4, 2)
    hooks = hooks_of(attention)
    for watching in (FlopCounterMode(display=False), record_attention(attention)):
        with watching:
            assert any(hooks) and not may_bypass(attention, MultiHeadAttention)
        assert not any(hooks) and may_bypass(attention, MultiHeadAttention)


@pytest.mark.parametrize(
    "module, known",
    [(nn.Linear(2, 2).eval(), True), (nn.Linear(2, 2), False), (Doubled(2, 2).eval(), False), (hooked().eval(), False)],
    ids=["known", "training", "a subclass", "a hook"],
)
def test_bypasses_only_in_inference(module, known):
    with torch.no_grad():
        assert may_bypass_in_inference([module], {nn.Linear}) is known
        with torch.autocast("cpu", torch.bfloat16):
            assert not may_bypass_in_inference([module], {nn.Linear})
    assert not may_bypass_in_inference([module], {nn.Linear})
