"""Tests for the stages and the group advantages in the diagrams of post-training."""

from transformer_course.diagrams.elements import GRAY, GREEN, ORANGE
from transformer_course.diagrams.post_training import group, pipeline


def test_answer_color_depends_on_its_advantage():
    answers = ["2021-03-03", "03/03/2021", "2021-03-30", "2021"]
    d = group("?3 mars 2021>", answers, [1.0, 1.0, 0.0, 0.5], [0.9, 0.9, -1.5, 0.0])
    colors = {box.name: box.color for box in d.boxes}
    assert [colors[answer] for answer in answers] == [GREEN, GREEN, ORANGE, GRAY]


def test_pipeline_ends_in_dpo_and_grpo():
    d = pipeline()
    assert d.links() == {("pretraining", "SFT"), ("SFT", "DPO"), ("SFT", "GRPO")}
    texts = {label.words.replace("\n", " ") for label in d.labels}
    assert {"text", "prompts with good answers", "prompts, and a judge of its own answers"} <= texts
