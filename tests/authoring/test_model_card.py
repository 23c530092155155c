"""Tests for the model card fields of a training run."""

import pytest

from authoring import model_card
from authoring.model_card import run_fields


@pytest.mark.parametrize(
    ("n", "means"),
    [(250, {"100": 49.5, "200": 149.5, "250": 224.5}), (200, {"100": 49.5, "200": 149.5}), (3, {"3": 1.0})],
)
def test_averages_each_hundred_losses_and_remainder(n, means):
    fields = run_fields([float(i) for i in range(n)], 90.0, n_first=2)
    assert fields["mean_losses"] == means
    assert (fields["steps"], fields["first_losses"], fields["cpu_minutes"]) == (n, [0.0, 1.0], 1.5)


def test_card_describes_training_machine(monkeypatch):
    monkeypatch.setattr(model_card.platform, "machine", lambda: "riscv64")
    assert run_fields([1.0], 1.0, 1)["machine"].startswith("one thread, riscv64, ")
