"""Tests that vectors in the diagrams of a lookup are drawn to scale."""

import pytest
import torch

from transformer_course.diagrams import lookup


def test_arrows_end_at_vectors_with_perpendicular_projections() -> None:
    query, keys = torch.tensor([2.0, 1.0]), torch.tensor([[2.5, 0.5], [0.3, 1.5]])
    d = lookup.arrows(query, keys, "fruit", ["apple", "pear"], ("edible", "round"))
    tips = {
        arrow.points[-1].of: torch.tensor(arrow.points[-1][:2]) / lookup.INCHES_PER_UNIT
        for arrow in d.arrows
        if arrow.head
    }
    torch.testing.assert_close(tips["fruit"], query)
    torch.testing.assert_close(tips["apple"], keys[0])
    for arrow in (arrow for arrow in d.arrows if arrow.dashed):
        start, end = (torch.tensor(point[:2]) for point in arrow.points)
        assert ((end - start) @ query).item() == pytest.approx(0, abs=1e-5)
