"""Tests that the package map contains every package and an arrow for every allowed import."""

import pytest

from authoring.package_map import (
    BOXES,
    DRAWING,
    HEIGHT,
    LIBRARY,
    SHARED,
    WIDTH,
    arrows,
    curve,
    drawing,
    merge_nested,
    read_table,
)
from tests.repository.test_layout import MAY_USE, allowed


def test_stored_map_matches_import_table():
    assert read_table() == MAY_USE
    assert DRAWING.read_text(encoding="utf-8") == drawing(MAY_USE), "run python -m authoring.package_map"


def test_arrows_imply_all_allowed_imports():
    direct = {name: {start for start, end in arrows(MAY_USE) if end == name} for name in BOXES}
    packages = {package.rpartition(".")[2]: package for package in MAY_USE}
    nested = packages.keys() - merge_nested(MAY_USE).keys()
    for name in BOXES:
        found, pending = set(), {name}
        while pending:
            found |= pending
            pending = set().union(*(direct[one] for one in pending)) - found
        permitted = {package.rpartition(".")[2] for package in allowed(packages[name])} - {*SHARED} - nested
        same_side = {one for one in permitted if (BOXES[one].color == LIBRARY) == (BOXES[name].color == LIBRARY)}
        assert found - {name} == same_side, name


def test_arrows_never_cross_boxes():
    for start, end in arrows(MAY_USE):
        a, b, c, d = curve(start, end)
        for t in (step / 50 for step in range(51)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
            for name in BOXES:  # an arrow may touch only the two boxes that it connects
                left, top = BOXES[name].corner
                assert not (left < x < left + WIDTH and top < y < top + HEIGHT), f"{start} to {end} crosses {name}"


@pytest.mark.parametrize("wrong", [{**MAY_USE, "transformer_lab.attic": ""}, {"transformer_lab.attention": ""}])
def test_rejects_package_without_position(wrong):
    with pytest.raises(ValueError, match=r"and the map: (attic|atomic_write, authoring)"):
        drawing(wrong)
