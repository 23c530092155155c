"""Tests that the stored map of the lessons matches the diagram and contains every lesson."""

import re
from xml.etree import ElementTree

import pytest

from transformer_course.diagrams.elements import Box
from transformer_course.exercises import LESSONS
from transformer_course.home.lesson_map import MAP_FILE, Picture, draw

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_stored_map_matches_the_diagram():
    stored, drawn = MAP_FILE.read_text(encoding="utf-8"), Picture(*draw()).svg()
    advice = "run python -m transformer_course.home.lesson_map"
    assert NUMBER.sub("0", stored) == NUMBER.sub("0", drawn), advice
    # Text measurements differ slightly between matplotlib versions.
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (stored, drawn)]
    assert numbers[0] == pytest.approx(numbers[1], abs=4), advice


def test_map_groups_boxes_by_lesson():
    d, lessons = draw()
    root = ElementTree.fromstring(MAP_FILE.read_text(encoding="utf-8"))
    groups = {group.attrib["data-lesson"]: group for group in root.iter("a")}
    assert set(groups) == {"primer", *LESSONS}
    for lesson, group in groups.items():
        names = [text.text for text in group.iter("text") if text.attrib["class"] == "tl-name"]
        assert names == [box.name for box, owner in lessons.items() if owner == lesson and isinstance(box, Box)]
        numbers = {text.text for text in group.iter("text") if text.attrib["class"] == "tl-number"}
        assert numbers == ({str(int(lesson[:2]))} if lesson[0].isdigit() else set())
    assert {box.name for box in d.boxes} >= {"softmax", "cross_attention", "greedy_decode", "the bug clinic"}


def test_diagram_behind_the_map_is_legible():
    d, _ = draw()
    assert d.flaws() == []


def test_all_lessons_fit_the_width_of_the_transformer():
    d, _ = draw()
    whole = next(frame for frame in d.frames if frame.name == "Transformer").rect
    assert all(whole.x0 <= box.rect.x0 and box.rect.x1 <= whole.x1 for box in d.boxes)
