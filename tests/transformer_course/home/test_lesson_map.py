"""The stored map is the diagram of the lessons, with every lesson on it."""

import re
from xml.etree import ElementTree

import pytest

from transformer_course.diagrams.elements import Box
from transformer_course.exercises import LESSONS
from transformer_course.home.lesson_map import MAP_FILE, Picture, draw

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_the_stored_map_is_what_is_drawn():
    stored, drawn = MAP_FILE.read_text(encoding="utf-8"), Picture(*draw()).svg()
    anew = "run python -m transformer_course.home.lesson_map"
    assert NUMBER.sub("0", stored) == NUMBER.sub("0", drawn), anew
    # Another version of matplotlib measures texts a little otherwise.
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (stored, drawn)]
    assert numbers[0] == pytest.approx(numbers[1], abs=4), anew


def test_every_lesson_has_its_group_with_the_boxes_that_it_builds():
    d, lessons = draw()
    root = ElementTree.fromstring(MAP_FILE.read_text(encoding="utf-8"))
    groups = {group.attrib["data-lesson"]: group for group in root.iter("a")}
    assert set(groups) == {"primer", *LESSONS}
    for lesson, group in groups.items():
        names = [text.text for text in group.iter("text") if text.attrib["class"] == "tl-name"]
        assert names == [box.name for box, of in lessons.items() if of == lesson and isinstance(box, Box)]
        numbers = {text.text for text in group.iter("text") if text.attrib["class"] == "tl-number"}
        assert numbers == ({str(int(lesson[:2]))} if lesson[0].isdigit() else set())
    assert {box.name for box in d.boxes} >= {"softmax", "cross_attention", "greedy_decode", "the bug clinic"}


def test_the_diagram_behind_it_can_be_read():
    d, _ = draw()
    assert d.flaws() == []


def test_lessons_before_and_after_fit_the_width_of_the_transformer():
    d, _ = draw()
    whole = next(frame for frame in d.frames if frame.name == "Transformer").rect
    assert all(whole.x0 <= box.rect.x0 and box.rect.x1 <= whole.x1 for box in d.boxes)
