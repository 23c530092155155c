"""Whether modules may be passed over."""

import pytest
import torch
from torch import nn

from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.generation.unwatched import Watchers, are_known


class Learners(nn.Linear):
    pass


@pytest.mark.parametrize(
    "module, known",
    [(nn.Linear(2, 2).eval(), True), (nn.Linear(2, 2), False), (Learners(2, 2).eval(), False)],
    ids=["known", "training", "a subclass"],
)
def test_modules_are_known_by_their_class_in_eval_mode_without_gradients(module, known):
    with torch.no_grad():
        assert are_known([module], {nn.Linear}) is known
        with torch.autocast("cpu", torch.bfloat16):
            assert not are_known([module], {nn.Linear})
    assert not are_known([module], {nn.Linear})


@torch.no_grad()
def test_hooks_are_noticed_while_they_are_there():
    attention = MultiHeadAttention(4, 2)
    watchers = Watchers(attention.modules())
    assert not watchers
    for register in (attention.w_q.register_forward_hook, attention.w_o.register_forward_pre_hook):
        handle = register(lambda *_: None)
        assert watchers
        handle.remove()
        assert not watchers
    attention.weights_hook = print
    assert watchers


def test_gradients_are_noticed():
    assert Watchers([nn.Linear(2, 2)])
