"""Tests that the clock hands in the diagrams of positions have the angles of the sinusoidal encoding and of RoPE."""

from math import atan2, hypot, pi

import matplotlib.pyplot as plt
import pytest
import torch

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, ORANGE, PINK
from transformer_course.diagrams.positions import clocks, heat_map, rotary_hands
from transformer_lab.attention.positions import apply_rotary, sinusoidal_encoding


def hands(d: Diagram, color: str) -> list[tuple[float, float]]:
    """Return the directions of all hands with this color, as (x, y) vectors of length 1."""
    straight = [arrow for arrow in d.arrows if arrow.head and arrow.color == color and len(arrow.points) == 2]
    arrows = [(arrow.points[0], arrow.points[-1]) for arrow in straight]
    offsets = [(tip.x - middle.x, tip.y - middle.y) for middle, tip in arrows]
    return [(x / hypot(x, y), y / hypot(x, y)) for x, y in offsets]


def test_hands_match_the_sinusoidal_encoding():
    positions = [0, 1, 7, 44]
    d = clocks(positions, d_model=6)
    expected = sinusoidal_encoding(45, 6)[positions].reshape(-1, 2)
    torch.testing.assert_close(torch.tensor(hands(d, PINK)), expected, atol=1e-5, rtol=0)


def test_query_and_key_rotate_like_rotary_positions():
    moves = [(2, 0), (4, 2), (103, 101)]
    d = rotary_hands(moves, frequencies=(1.0, 0.2), query=0.0, key=0.0)
    both_pairs = torch.tensor([[1.0, 0.0, 1.0, 0.0]]).expand(4, 4)  # width 4; both pairs point to the right
    for color, positions in zip((BLUE, ORANGE), zip((0, 0), *moves, strict=True), strict=True):
        expected = apply_rotary(both_pairs, torch.tensor(positions), base=25.0)  # frequencies 1 and 25 ** -0.5
        expected = torch.cat([expected[:, :2], expected[:, 2:]])  # one row of clocks per pair
        torch.testing.assert_close(torch.tensor(hands(d, color)), expected, atol=1e-4, rtol=0)


def test_arc_starts_and_ends_at_the_hands():
    d = rotary_hands([(2, 1)], frequencies=(1.0,), query=0.0, key=0.5)
    arcs = {arrow.color: arrow.points for arrow in d.arrows if arrow.head and len(arrow.points) > 2}
    for color, start, end in ((BLUE, 0.0, 2.0), (ORANGE, 0.5, 1.5)):
        angles = [atan2(point.y, point.x - 2.1) for point in (arcs[color][0], arcs[color][-1])]
        assert angles == pytest.approx([start, end])


def test_angle_between_hands_depends_only_on_distance():
    d = rotary_hands([(2, 0), (4, 2), (7, 5), (8, 5)], frequencies=(1.0,))
    angles = [atan2(y, x) for x, y in hands(d, BLUE)], [atan2(y, x) for x, y in hands(d, ORANGE)]
    between = [(q - k) % (2 * pi) for q, k in zip(*angles, strict=True)]
    assert between[1:4] == pytest.approx([(between[0] + 2) % (2 * pi)] * 3)
    assert between[4] == pytest.approx((between[0] + 3) % (2 * pi))
    labels = [label.words for label in d.labels if "angle" in label.words]
    assert labels[:4] == ["angle between them 0.5", *["angle between them 2.5"] * 3]


def test_heat_map_shows_encoding_with_position_0_first():
    encoding = sinusoidal_encoding(9, 4)
    ax = heat_map(encoding)
    (image,) = ax.images
    torch.testing.assert_close(torch.tensor(image.get_array().data, dtype=torch.float32), encoding)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature (column)", "position")
    assert ax.get_ylim() == (8.5, -0.5)
    assert image.get_clim() == (-1, 1)
    plt.close("all")
