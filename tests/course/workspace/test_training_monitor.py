"""What a monitor records and shows while a model trains."""

import pytest
from IPython.display import ProgressBar
from matplotlib.figure import Figure

from transformer_lab.course.workspace import training_monitor
from transformer_lab.course.workspace.training_monitor import UPDATE_EVERY, TrainingMonitor


class Picture:
    def __init__(self):
        self.shown = []

    def update(self, figure):
        self.shown.append(figure)


@pytest.fixture
def picture(monkeypatch):
    """Show nothing, and keep what would be shown."""
    picture, moves = Picture(), []
    monkeypatch.setattr(training_monitor, "display", lambda figure, display_id: picture.update(figure) or picture)
    monkeypatch.setattr(ProgressBar, "display", lambda bar: None)
    monkeypatch.setattr(ProgressBar, "update", lambda bar: moves.append(bar.progress))
    picture.moves = moves
    return picture


def run(monitor, n, score_every):
    for step in monitor.steps(n):
        monitor.loss(1 / step)
        if step % score_every == 0:
            monitor.score({"right": step / 100, "wrong": 1 - step / 100})


def test_a_second_cell_goes_on_where_the_first_stopped(picture):
    monitor = TrainingMonitor(100)
    run(monitor, 30, score_every=50)
    run(monitor, 70, score_every=50)
    assert monitor.step == len(monitor.losses) == 100
    assert (monitor.scored_at, monitor.scores) == ([50, 100], {"right": [0.5, 1.0], "wrong": [0.5, 0.0]})
    assert picture.moves == [20, 30, 40, 60, 80, 100, 100]


def test_the_plot_grows_with_every_score(picture):
    run(TrainingMonitor(100), 100, score_every=40)
    assert len(picture.shown) == 3 and all(isinstance(figure, Figure) for figure in picture.shown)
    left, right = picture.shown[-1].axes
    assert [len(line.get_xdata()) for line in (*left.lines, *right.lines)] == [80 // UPDATE_EVERY, 2, 2]
    assert right.lines[0].get_ydata().tolist() == [0.4, 0.8]
    assert left.lines[0].get_ydata()[0] == pytest.approx(sum(1 / step for step in range(1, 21)) / 20)


def test_outside_of_a_notebook_there_is_nothing_to_draw_on(monkeypatch):
    monkeypatch.setattr(training_monitor, "display", lambda figure, display_id: None)
    monkeypatch.setattr(ProgressBar, "display", lambda bar: None)
    monkeypatch.setattr(ProgressBar, "update", lambda bar: None)
    run(quiet := TrainingMonitor(40), 40, score_every=20)
    assert quiet.scored_at == [20, 40]
