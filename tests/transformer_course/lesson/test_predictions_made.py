"""Tests that the first prediction for each comparison counts and is recorded."""

from types import SimpleNamespace

from transformer_course.lesson.predictions_made import PredictionsMade
from transformer_course.workspace.progress import read_progress


class Shell:
    """A fake shell that has only the attributes that ``PredictionsMade`` uses."""

    def __init__(self):
        self.events = SimpleNamespace(register=lambda name, start: setattr(self, "start", start))

    def run(self, cell_id, raw_cell=""):
        self.start(SimpleNamespace(cell_id=cell_id, raw_cell=raw_cell))


def test_panel_counts_right_close_and_confidently_wrong():
    made = PredictionsMade()
    for answer, sure in (
        ("right", 0.5),
        ("right", None),
        ("close", 0.95),
        ("wrong", 0.9),
        ("wrong", 0.6),
        (None, None),
    ):
        made.add(answer, sure, "", "")
    panel = made.panel()
    assert (
        panel.message
        == "You were right in 2 of 5 and close in 1. You were sure (90% or more) but wrong in 1. You skipped 1 of 6."
    )


def test_panel_explains_how_to_add_confidence():
    made = PredictionsMade()
    assert made.panel().message == "None of the 0 was made."
    made.add("right", None, "", "")
    assert made.panel().message.startswith("You were right in 1 of 1. Add how sure you are")


def test_only_first_prediction_counts_across_sessions(learner_folder):
    for answer in ("wrong", "right"):
        made = PredictionsMade(shell := Shell())
        shell.run("one")
        made.add(answer, 0.9, "4", "5")
        made.add("right", None, "A", "A")
        shell.run("one")
        made.add("right", 1.0, "5", "5")
        assert made.panel().message.startswith("You were right in 1 of 2. You were sure (90% or more) but wrong in 1.")
    kept = read_progress(learner_folder).predictions
    assert [(p.cell, p.answer, p.said) for p in kept.values()] == [("one:1", "wrong", "4"), ("one:2", "right", "A")]


def test_identifies_cell_without_id_by_its_text():
    made = PredictionsMade(shell := Shell())
    for text in ("compare(a, 3)", "compare(b, 4)", "compare(a, 3)"):
        shell.run(None, text)
        made.add("right", None, "", "")
    assert len(made.made) == 2
