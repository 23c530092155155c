"""Modules that are not called give what they give when called, and others are called as they expect."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.fast.plain_modules import call, is_plain


def hooked() -> nn.Module:
    module = nn.Linear(5, 5)
    module.register_forward_hook(lambda module, arguments, output: 2 * output)
    return module


class Doubled(nn.Linear):
    def forward(self, x):
        _batch, _n, _d = x.shape  # as a learner's may be written
        return 2 * super().forward(x)


@pytest.mark.parametrize(
    "module",
    [nn.Linear(5, 7), nn.Linear(5, 7, bias=False), nn.LayerNorm(5), nn.LayerNorm(5, 0.5, bias=False), nn.Identity()],
)
def test_torchs_modules_give_what_they_give_when_called(module, monkeypatch):
    x = torch.randn(3, 5)
    wanted = module(x)
    monkeypatch.setattr(type(module), "forward", lambda self, x: pytest.fail("called"))
    assert_close(call(module, x), wanted)


@pytest.mark.parametrize("module", [hooked(), Doubled(5, 5), nn.RMSNorm(5)])
def test_others_are_called_with_one_sentence(module):
    x = torch.randn(3, 5)
    assert_close(call(module, x), module(x[None])[0])


def test_a_module_is_plain_until_it_is_hooked_or_its_forward_replaced():
    assert is_plain(nn.Linear(5, 5), nn.Linear)
    assert not is_plain(Doubled(5, 5), nn.Linear)
    assert not is_plain(hooked(), nn.Linear)
    module = nn.Linear(5, 5)
    module.forward = module.forward
    assert not is_plain(module, nn.Linear)
