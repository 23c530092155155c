"""The package of diagrams: a topic is a module, which is loaded when it is asked for."""

from pathlib import Path

import pytest

from transformer_course import diagrams


def test_every_topic_can_be_reached_from_the_package():
    topics = {path.stem for path in Path(diagrams.__file__).parent.glob("*.py")} - {"__init__"}
    assert set(diagrams.__all__) == topics
    for topic in topics:
        assert getattr(diagrams, topic).__name__ == f"transformer_course.diagrams.{topic}"


def test_another_topic_is_named_with_those_that_there_are():
    with pytest.raises(AttributeError, match="no attribute 'layer'; there are architecture, byte_pairs, "):
        diagrams.layer  # noqa: B018
