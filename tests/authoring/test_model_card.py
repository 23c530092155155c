"""A card's numbers are computed from the losses, and its machine is the one that trained the model."""

import pytest

from authoring import model_card
from authoring.model_card import run_as_told


@pytest.mark.parametrize(
    ("n", "means"),
    [(250, {"100": 49.5, "200": 149.5, "250": 224.5}), (200, {"100": 49.5, "200": 149.5}), (3, {"3": 1.0})],
)
def test_means_cover_a_hundred_losses_each_and_the_rest(n, means):
    message = run_as_told([float(i) for i in range(n)], 90.0, n_first=2)
    assert message["mean_losses"] == means
    assert (message["steps"], message["first_losses"], message["cpu_minutes"]) == (n, [0.0, 1.0], 1.5)


def test_machine_is_that_of_the_run(monkeypatch):
    monkeypatch.setattr(model_card.platform, "machine", lambda: "riscv64")
    assert run_as_told([1.0], 1.0, 1)["machine"].startswith("one thread, riscv64, ")
