"""The map contains every package, with the arrows of the table in the layout test."""

import pytest

from authoring.package_map import (
    DRAWING,
    HEIGHT,
    LIBRARY,
    PLACES,
    SHARED,
    WIDTH,
    arrows,
    curve,
    drawing,
    merge_nested,
    read_table,
)
from tests.repository.test_layout import MAY_USE, allowed


def test_stored_map_matches_the_table():
    assert read_table() == MAY_USE
    assert DRAWING.read_text(encoding="utf-8") == drawing(MAY_USE), "run python -m authoring.package_map"


def test_arrows_reach_every_package_that_may_be_used():
    direct = {name: {start for start, end in arrows(MAY_USE) if end == name} for name in PLACES}
    packages = {package.rpartition(".")[2]: package for package in MAY_USE}
    rooms = packages.keys() - merge_nested(MAY_USE).keys()
    for name in PLACES:
        found, coming = set(), {name}
        while coming:
            found |= coming
            coming = set().union(*(direct[one] for one in coming)) - found
        permitted = {package.rpartition(".")[2] for package in allowed(packages[name])} - {*SHARED} - rooms
        same_side = {one for one in permitted if (PLACES[one].color == LIBRARY) == (PLACES[name].color == LIBRARY)}
        assert found - {name} == same_side, name


def test_arrows_cross_no_box():
    for start, end in arrows(MAY_USE):
        a, b, c, d = curve(start, end)
        for t in (step / 50 for step in range(51)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
            for name in PLACES:  # an arrow touches its own two boxes at the edge
                left, top = PLACES[name].corner
                assert not (left < x < left + WIDTH and top < y < top + HEIGHT), f"{start} to {end} crosses {name}"


@pytest.mark.parametrize("wrong", [{**MAY_USE, "transformer_lab.attic": ""}, {"transformer_lab.attention": ""}])
def test_rejects_a_package_without_a_position(wrong):
    with pytest.raises(ValueError, match=r"or their map: (attic|atomic_write, authoring)"):
        drawing(wrong)
