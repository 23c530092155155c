"""What variants of an answer share when they are evaluated: parts of a module run once, and what is given stays."""

import torch
from torch import Tensor, nn

from transformer_course.checking.shared_evaluation import SharedEvaluation


class Counting(nn.Module):
    """A part that counts how often it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    def forward(self, x: Tensor, times: float = 2) -> Tensor:
        self.runs += 1
        return times * x


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part, self.parts = Counting(), nn.ModuleList([Counting(), Counting()])


def test_a_part_runs_once_for_the_same_input_and_again_for_another() -> None:
    x = torch.ones(3)
    shared = SharedEvaluation({"x": x}, Whole()).module
    assert isinstance(shared, Whole)
    for part in (shared.part, *shared.parts):
        assert isinstance(part, Counting)
        assert part(x) is part(x) and part.runs == 1
        assert torch.equal(part(x + 1), torch.full((3,), 4.0)) and part.runs == 2
        assert torch.equal(part(x, times=5), torch.full((3,), 5.0)) and part.runs == 3


def test_the_module_that_is_given_is_left_alone() -> None:
    module, x = Whole(), torch.ones(3)
    SharedEvaluation({"x": x}, module)
    module.part(x), module.part(x)
    assert module.part.runs == 2


def test_what_is_written_into_an_argument_is_seen() -> None:
    x = torch.ones(3)
    shared = SharedEvaluation({"x": x}, None)
    assert shared.is_as_it_was()
    x += 1
    assert not shared.is_as_it_was()
