"""Tests that the final sums in the diagram of the online softmax match an ordinary softmax for every block size."""

import pytest
import torch

from transformer_course.diagrams.online_softmax import blocks

SCORES, VALUES = [1.0, 3.0, 2.0, 5.0, 4.0, 0.0], [10.0, 20.0, 0.0, 30.0, 10.0, 50.0]


@pytest.mark.parametrize("block", [1, 2, 4, 6])
def test_output_matches_an_ordinary_softmax(block):
    exponentials = (torch.tensor(SCORES) - 5).exp()
    sums = exponentials.sum().item(), (exponentials @ torch.tensor(VALUES)).item()
    expected = (torch.tensor(SCORES).softmax(dim=0) @ torch.tensor(VALUES)).item()
    d = blocks(SCORES, VALUES, block)
    assert [box.name for box in d.boxes] == [f"output {expected:.2f}"]
    assert d.tables[-1].texts == (("5.00",), (f"{sums[0]:.2f}",), (f"{sums[1]:.2f}",))
