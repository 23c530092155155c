"""Tests that the diagrams for the clinic show the stages that each instrument covers."""

from itertools import pairwise

from transformer_course.diagrams.diagnosis import INSTRUMENTS, STAGES, instruments


def test_stages_are_in_order():
    d = instruments()
    assert d.links() == set(pairwise(name for name, _, _ in STAGES))


def test_bar_covers_stages_tested_by_its_instrument():
    d = instruments()
    names = [name for name, _, _ in STAGES]
    stages = [box for box in d.boxes if box.name]
    bars = [box for box in d.boxes if not box.name]
    for bar, (_, first, last) in zip(bars, INSTRUMENTS, strict=True):
        covered = [stage.name for stage in stages if bar.rect.x0 < stage.x < bar.rect.x1]
        assert covered == names[names.index(first) : names.index(last) + 1]


def test_bars_have_names_and_are_sorted_by_length():
    d = instruments()
    bars = [box for box in d.boxes if not box.name]
    labels = {bar.y: [label.words for label in d.labels if label.y == bar.y] for bar in bars}
    assert list(labels.values()) == [[name] for name, _, _ in INSTRUMENTS]
    assert all(before.width <= after.width + 1e-9 for before, after in pairwise(bars))
