"""The diagram of online softmax ends with the sum that a softmax divides by."""

import pytest
import torch

from transformer_course.diagrams.online_softmax import blocks

SCORES = [1.0, 3.0, 2.0, 5.0, 4.0, 0.0, -2.0]


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_after_each_block_it_is_the_softmax_of_the_scores_so_far(block):
    d = blocks(SCORES, block)
    ends = [min(start + block, 7) for start in range(0, 7, block)]
    for box, end in zip(d.boxes, ends, strict=True):
        so_far = torch.tensor(SCORES[:end], dtype=torch.float64)
        assert box.name == f"largest {so_far.max():.1f}"
        assert box.note == f"sum {1 / so_far.softmax(dim=0).max():.2f}"  # the largest weight is exp(0) / sum
    assert d.flaws() == []


def test_a_sum_is_corrected_where_the_maximum_grows():
    d = blocks([0.0, 1.0, 3.0, 2.0], block=1)
    assert [arrow.label for arrow in d.arrows if arrow.label] == ["sum × 0.37", "sum × 0.14", "sum × 1.00"]
