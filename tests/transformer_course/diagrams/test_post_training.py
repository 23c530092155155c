"""Diagrams of post-training: advantages within a group, and which parts are the learner's own."""

from transformer_course.diagrams.elements import BLUE, GRAY, GREEN, ORANGE
from transformer_course.diagrams.post_training import built, group


def test_better_and_worse_answers_of_a_group_look_different():
    answers = ["2021-03-03", "03/03/2021", "2021-03-30", "2021"]
    d = group("?3 mars 2021>", answers, [1.0, 1.0, 0.0, 0.5], [0.9, 0.9, -1.5, 0.0])
    colors = {box.name: box.color for box in d.boxes}
    assert [colors[answer] for answer in answers] == [GREEN, GREEN, ORANGE, GRAY]


def test_only_own_parts_are_called_yours():
    d = built({"01": {"softmax": "the library's", "attention": "the library's"}})
    assert {box.look for box in d.boxes} == {"dimmed"}
    assert d.alt.endswith("all 2 are the library's so far.")


def test_own_parts_are_colored_and_named():
    d = built({"01": {"softmax": "yours", "attention": "the library's"}, "02": {"score_variance": "yours"}})
    looks = {box.name: box.look for box in d.boxes}
    assert looks == {"softmax": "filled", "attention": "dimmed", "score_variance": "filled"}
    assert {box.color for box in d.boxes} == {BLUE}
    assert "2 of 3 are yours: softmax, score_variance." in d.alt
