"""The package of diagrams: a topic is a module, which is loaded when it is asked for."""

import subprocess
import sys
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


def test_to_import_the_package_brings_no_plots_along():
    code = "import sys\nfrom transformer_course import diagrams\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "transformer_course.diagrams" in loaded
    assert "matplotlib" not in loaded
