"""Diagrams of diagnosis: what an instrument covers, and what to measure first."""

from itertools import pairwise

from transformer_course.diagrams.diagnosis import FIRST, INSTRUMENTS, STAGES, first_measurements, instruments


def test_the_stages_follow_each_other():
    d = instruments()
    assert d.links() == set(pairwise(name for name, _, _ in STAGES))
    assert d.flaws() == []


def test_a_bar_covers_the_stages_that_its_instrument_tests():
    d = instruments()
    names = [name for name, _, _ in STAGES]
    stages = [box for box in d.boxes if box.name]
    bars = [box for box in d.boxes if not box.name]
    for bar, (_, first, last) in zip(bars, INSTRUMENTS, strict=True):
        covered = [stage.name for stage in stages if bar.rect.x0 < stage.x < bar.rect.x1]
        assert covered == names[names.index(first) : names.index(last) + 1]


def test_each_bar_stands_beside_its_name_and_those_that_cover_least_come_first():
    d = instruments()
    bars = [box for box in d.boxes if not box.name]
    beside = {bar.y: [label.words for label in d.labels if label.y == bar.y] for bar in bars}
    assert list(beside.values()) == [[name] for name, _, _ in INSTRUMENTS]
    assert all(before.width <= after.width + 1e-9 for before, after in pairwise(bars))


def test_every_symptom_leads_to_a_measurement_and_every_result_to_another_suspect():
    d = first_measurements()
    expected = {(symptom, measurement) for symptom, measurement, _ in FIRST}
    expected |= {(measurement, suspects) for _, measurement, results in FIRST for _, suspects in results}
    assert d.links() == expected
    assert all(len({result for result, _ in results}) == len(results) == 2 for _, _, results in FIRST)
    assert d.flaws() == []
