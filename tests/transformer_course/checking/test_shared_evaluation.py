"""Tests that shared evaluation runs a layer only once per input and detects changed arguments."""

import torch
from torch import Tensor, nn

from transformer_course.checking.shared_evaluation import SharedEvaluation


class Counting(nn.Module):
    """A layer that counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.n_calls = 0

    def forward(self, x: Tensor, times: float = 2) -> Tensor:
        self.n_calls += 1
        return times * x


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part, self.parts = Counting(), nn.ModuleList([Counting(), Counting()])


def test_layer_runs_once_per_distinct_input() -> None:
    x = torch.ones(3)
    shared = SharedEvaluation({"x": x}, Whole()).module
    assert isinstance(shared, Whole)
    for part in (shared.part, *shared.parts):
        assert isinstance(part, Counting)
        assert part(x) is part(x) and part.n_calls == 1
        assert torch.equal(part(x + 1), torch.full((3,), 4.0)) and part.n_calls == 2
        assert torch.equal(part(x, times=5), torch.full((3,), 5.0)) and part.n_calls == 3


def test_leaves_original_module_unchanged() -> None:
    module, x = Whole(), torch.ones(3)
    SharedEvaluation({"x": x}, module)
    module.part(x), module.part(x)
    assert module.part.n_calls == 2


def test_detects_changed_argument() -> None:
    x = torch.ones(3)
    shared = SharedEvaluation({"x": x}, None)
    assert shared.is_unchanged()
    x += 1
    assert not shared.is_unchanged()
