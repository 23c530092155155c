"""Tests that the position clock's hands match sinusoidal positions and RoPE in Python and in the browser."""

import itertools

import pytest
import torch
from traitlets import TraitError

from tests.transformer_course.views.javascript import call_each, needs_node
from transformer_course.views.position_clock import PositionClock, hands, products
from transformer_lab.attention.positions import Rotation, sinusoidal_encoding

Q, K = torch.randn(2, 6, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("base", [100.0, 10000.0])
def test_hands_match_sinusoidal_encoding(base):
    encoding = sinusoidal_encoding(40, 6, base)
    for position in (0, 1, 39):
        torch.testing.assert_close(hands(Q, position, base).float(), encoding[position].view(3, 2))
    added = products(Q, K, 11, torch.tensor([4, 39]), base)
    torch.testing.assert_close(added.sum(dim=-1).float(), encoding[[4, 39]] @ encoding[11])


def test_hands_match_rotary_positions_in_attention():
    rotated = Rotation(torch.tensor([13, 5]), 6, base=100.0).rotate(torch.stack([Q, K]))
    torch.testing.assert_close(hands(Q, 13, 100.0, "rotary").flatten().float(), rotated[0])
    score = products(Q, K, 13, torch.tensor([5]), 100.0, "rotary").sum()
    torch.testing.assert_close(score.float(), rotated[0] @ rotated[1])


@pytest.mark.parametrize("scheme", ["sinusoidal", "rotary"])
def test_moving_both_positions_preserves_the_dot_product(scheme):
    vectors = {"query_vector": Q.tolist(), "key_vector": K.tolist()}
    clock = PositionClock(6, 64, **vectors, scheme=scheme, query_position=3, key_position=20)
    before = clock.product
    clock.query_position, clock.key_position = 33, 50
    assert clock.product == pytest.approx(before, abs=1e-6)
    clock.key_position = 51
    assert clock.product != pytest.approx(before, abs=1e-2)


@needs_node
def test_browser_matches_python():
    cases = list(itertools.product(("sinusoidal", "rotary"), (0, 63), (7, 50), (10.0, 1e9)))
    vectors = {"query": Q.tolist(), "key": K.tolist()}
    arguments = [{**vectors, "position": m, "other": n, "base": base, "scheme": s} for s, m, n, base in cases]
    for (s, m, n, base), got in zip(
        cases, call_each("position_math", "products", [[a] for a in arguments]), strict=True
    ):
        assert got == pytest.approx(products(Q, K, m, torch.tensor([n]), base, s)[0].tolist(), abs=1e-9)


def test_description_and_picture_match_the_state():
    clock = PositionClock(d=4, length=20, query_position=2, key_position=12)
    assert clock.words() == (
        "Position clock: sinusoidal encoding, base 10000. Positions 2 and 12, 10 apart: dot product 0.16; "
        "by pair −0.84, 1.00."
    )
    *clocks, curve = clock.still().axes
    assert len(clocks) == 2
    drawn = torch.tensor(curve.lines[0].get_ydata())
    encoding = sinusoidal_encoding(20, 4)
    torch.testing.assert_close(drawn.float(), encoding @ encoding[2])
    clock.scheme = "rotary"
    assert clock.words().startswith("Position clock: RoPE, ")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"d": 5}, "d must be even, from 2 to 16, and length at least 2; got d=5, length=64"),
        ({"d": 18}, "got d=18"),
        ({"length": 1}, "got d=8, length=1"),
    ],
)
def test_rejects_invalid_width_and_length(arguments, message):
    with pytest.raises(ValueError, match=message):
        PositionClock(**arguments)


def test_rejects_invalid_settings():
    clock = PositionClock(d=4, length=20)
    with pytest.raises(TraitError, match="key_position must be less than length=20; got 20"):
        clock.key_position = 20
    with pytest.raises(TraitError, match="base"):
        clock.base = 1.0
