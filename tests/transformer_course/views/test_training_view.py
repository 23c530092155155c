"""Tests for recording, drawing, interrupting and describing a run in the training view."""

import json
import math
import os
import signal
from itertools import pairwise

import pytest
import torch

from transformer_course.views import training_view
from transformer_course.views.training_view import MAX_POINTS, TrainingView
from transformer_course.views.view import STATE


class RecordedDisplay:
    def __init__(self):
        self.words, self.pictures = [], []

    def update(self, view, raw=False, metadata=None):
        if raw:
            self.pictures.append((view, json.loads(metadata[STATE])))
        else:
            self.words.append(view.words())


@pytest.fixture(autouse=True)
def displayed(monkeypatch):
    """Record descriptions and pictures instead of displaying them."""
    displayed = RecordedDisplay()
    monkeypatch.setattr(training_view, "display", lambda view, display_id: displayed)
    monkeypatch.setattr(training_view, "get_ipython", object)
    return displayed


@pytest.fixture
def sent(monkeypatch):
    """Redraw the view at every step, and record the state that it sends."""
    sent = []
    monkeypatch.setattr(training_view, "REDRAW_SECONDS", 0.0)
    monkeypatch.setattr(TrainingView, "send_state", lambda view, key=None: sent.append(view.get_state(key)))
    return sent


def run(view, n, score_every=50):
    for step in view.steps(n):
        view.loss(1 / step)
        if step % score_every == 0:
            view.score({"right": step / 100, "wrong": 1 - step / 100})


def test_second_cell_continues_the_first_run(displayed):
    view = TrainingView(100)
    run(view, 30)
    assert view.state == "paused"
    run(view, 70)
    assert (view.step, len(view.losses), view.state) == (100, 100, "finished")
    assert (view.scored_at, view.scores) == ([50, 100], {"right": [0.5, 1.0], "wrong": [0.5, 0.0]})
    first, last = displayed.words
    assert first == "Training, paused: step 30 of 100, loss 0.03."
    assert last == "Training, finished: step 100 of 100, loss 0.01; right 1.00; wrong 0.00."


def test_earlier_cell_keeps_its_picture(displayed):
    view = TrainingView(100)
    run(view, 60)
    assert displayed.pictures == []
    view.n_steps = 300
    run(view, 40)
    [(picture, stored)] = displayed.pictures
    assert set(picture) == {"text/plain", "image/png"}, "earlier cells must have no view"
    assert picture["text/plain"] == "Training, paused: step 60 of 100, loss 0.02; right 0.50; wrong 0.50."
    assert (stored["traits"]["step"], stored["traits"]["n_steps"]) == (60, 100)


def test_time_left_covers_only_steps_of_this_cell(monkeypatch, sent):
    now = [0.0]
    monkeypatch.setattr(training_view.time, "monotonic", lambda: now[0])
    view = TrainingView(100)
    for seconds in (1.0, 0.5):
        assert view.seconds_left is None
        for step in view.steps(50):
            if step % 50 not in (0, 1):
                assert view.seconds_left == pytest.approx((101 - step) * seconds)
            now[0] += seconds
    assert view.state == "finished" and view.seconds_left is None


def test_held_out_loss_shares_the_training_loss_chart(monkeypatch):
    view = TrainingView(4)
    for step in view.steps(4):
        view.loss(1 / step)
        view.score({"held-out loss": 2 / step})
    [both] = view.still().axes
    assert [line.get_label() for line in both.lines] == ["training", "held-out loss"]
    assert len({line.get_color() for line in both.lines}) == 2
    view = TrainingView(4)
    for step in view.steps(4):
        view.loss(1 / step)
        view.score({"held-out loss": 2 / step, "right": 0.5})
    losses, scores = view.still().axes
    assert (len(losses.lines), len(scores.lines)) == (2, 1)


def test_curve_points_average_consecutive_losses():
    view = TrainingView(3 * MAX_POINTS)
    run(view, 7)
    assert view.curve == [
        (2.0, pytest.approx((1 + 1 / 2 + 1 / 3) / 3)),
        (5.0, pytest.approx((1 / 4 + 1 / 5 + 1 / 6) / 3)),
        (7.0, pytest.approx(1 / 7)),
    ]


def test_state_size_is_independent_of_run_length(sent, monkeypatch):
    monkeypatch.setattr(training_view, "MAX_POINTS", 20)
    longest = []
    for n in (80, 240):
        view = TrainingView(10)
        run(view, n, score_every=2)
        assert view.n_steps == n  # more than the 10 steps given to the view
        assert len(view.curve) <= 20 and len(view.scored_at) <= 20
        assert view.curve[-1][0] == pytest.approx(n, abs=n / 20)
        assert view.scored_at[-1] >= n - n / 10
        longest.append(max(len(json.dumps(state)) for state in sent))
    assert longest[1] < 1.2 * longest[0]


def test_redraws_at_most_a_few_times_per_second(monkeypatch):
    now, drawn = [0.0], []
    monkeypatch.setattr(training_view.time, "monotonic", lambda: now[0])
    view = TrainingView(100)
    view.observe(lambda change: drawn.append(now[0]), "curve")
    for step in view.steps(100):
        view.loss(step)
        now[0] += 0.02
    assert all(later - earlier > training_view.REDRAW_SECONDS - 0.01 for earlier, later in pairwise(drawn[:-1]))
    assert 8 <= len(drawn) <= 13


def test_interrupt_ends_the_run_after_its_step(displayed):
    view, finished = TrainingView(10), []
    before = signal.getsignal(signal.SIGINT)
    for step in view.steps(10):
        if step == 4:
            os.kill(os.getpid(), signal.SIGINT)  # interrupt in the middle of a step
        finished.append(step)
    assert finished == [1, 2, 3, 4]
    assert view.state == "stopped" and "stopped: step 4 of 10" in displayed.words[-1]
    assert signal.getsignal(signal.SIGINT) is before
    assert list(view.steps(6)) == [5, 6, 7, 8, 9, 10]
    assert view.state == "finished"


def test_second_interrupt_raises_immediately():
    with pytest.raises(KeyboardInterrupt):
        for _ in TrainingView(10).steps(10):
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)


def test_error_stops_the_view_and_restores_interrupts():
    view, before = TrainingView(10), signal.getsignal(signal.SIGINT)

    def fail():
        for _ in view.steps(10):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (view.state, view.step) == ("stopped", 1)
    assert signal.getsignal(signal.SIGINT) is before


def test_watch_yields_items_and_loss_returns_its_argument():
    view = TrainingView(3)
    loss = torch.tensor(0.25, requires_grad=True)
    assert [item for item in view.watch("abc") if view.loss(loss) is loss] == ["a", "b", "c"]
    assert list(view.losses) == [0.25] * 3


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_shows_diverging_run(loss):
    view = TrainingView(2)
    for _ in view.steps(2):
        view.loss(loss)
        view.score({"right": loss})
    assert json.dumps(view.get_state(), allow_nan=False, default=str)
    assert view.words() == "Training, finished: step 2 of 2, loss not a number; right not a number."
    assert len(view.still().axes) == 2


def test_new_sample_replaces_the_old_below_the_curves():
    view = TrainingView(2)
    view.show_sample("ab", "xyz", torch.eye(3)[:, :2], wanted="xyz")
    picture = view.still()
    loss, score, weights, _ = (ax.get_position() for ax in picture.axes)  # the fourth axes are the color bar
    assert weights.y1 < min(loss.y0, score.y0) and picture.get_figwidth() < 8, "the picture must fit a narrow page"
    assert view.sample["weights"][1] == [0.0, 1.0]
    view.show_sample(["one text"], ["another"])
    assert (len(view.still().axes), view.sample["weights"], view.sample["wanted"]) == (2, None, "")


def test_rejects_weights_with_wrong_shape():
    with pytest.raises(ValueError, match=r"shape \(generated, source\) = \(3, 2\); got \(2, 3\)"):
        TrainingView(2).show_sample("ab", "xyz", torch.zeros(2, 3))


def test_rejects_scores_with_different_names():
    view = TrainingView(2)
    view.score({"right": 0.5})
    with pytest.raises(ValueError, match=r"\['right'\]; got \['left'\]"):
        view.score({"left": 0.5})
