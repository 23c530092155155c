"""Tests that alternative texts contain the names and numbers on the axes."""

import sys

import matplotlib.pyplot as plt
import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure

from transformer_course import plots
from transformer_course.plots.alternative_text import alternative_text, describe_displayed_figures


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_describes_line_by_ends_and_range():
    ys = {"up": [1.0, 1e-9, 4.0], "of runs": torch.tensor([[1.0, 2.0, 1234.0], [3.0, 2.0, 1236.0]])}
    ax = plots.lines([1, 2, 3], ys, xlabel="step", ylabel="loss")
    ax.axhline(0.5)  # the description omits lines without a label
    assert alternative_text(ax.figure) == (
        "Plot: loss by step: up, of runs. up: from 1 to 4, between 0 and 4. "
        "of runs: from 2 to 1200, between 2 and 1200."
    )


def test_describes_weight_row_by_largest_weight():
    ax = plots.weights(torch.tensor([[0.1, 0.9], [0.5, 0.5]]), ["year?", "month?"], ["3", "mars"])
    assert alternative_text(ax.figure) == (
        "Plot: map of 2 × 2 cells, query (row) by key (column). year?: 0.90 at mars; month?: 0.50 each."
    )


def test_describes_mask_row_by_allowed_keys():
    ax = plots.mask(torch.tensor([[True, False, False], [True, True, True], [False, False, False]]), keys=list("abc"))
    assert alternative_text(ax.figure).endswith("row 0: a; row 1: all; row 2: none.")


def test_describes_large_heat_map_by_range():
    ax = plots.weights(torch.linspace(0, 0.5, 17 * 17).view(17, 17))
    assert alternative_text(ax.figure).endswith(
        "map of 17 × 17 cells, query (row) by key (column). values between 0 and 0.5, mean 0.25."
    )


def test_describes_histogram_by_range_and_mean():
    ax = plots.histogram({"few": torch.tensor([0.0, 1.0, 1.0, 4.0])}, xlabel="value", bins=4)
    mean = (0.5 + 1.5 + 1.5 + 3.5) / 4  # mean of the bin centers
    assert alternative_text(ax.figure) == f"Plot: fraction by value: few. few: between 0 and 4, mean {mean:.2g}."


def test_describes_bars_and_points_per_panel():
    figure, (left, right) = plt.subplots(1, 2)
    left.bar(["u", "v"], [3, 1234])
    left.set_title("cost")
    right.scatter([1, 2], [3, 4], label="models")
    right.plot([1, 2, 3], [5, 7, 6], "k.", label="known")
    assert alternative_text(figure) == (
        "Plot: cost; models, known. cost: u 3, v 1200. known: 3 points, between 5 and 7. "
        "models: 2 points, between 3 and 4."
    )


def test_describes_horizontal_bars_by_length():
    figure, ax = plt.subplots()
    ax.barh(["u", "v"], [3, 1234], label="short")
    ax.barh(["u", "v"], [5, 60], left=[3, 1234], label="on top")
    assert alternative_text(figure) == "Plot: short, on top. short: u 3, v 1200. on top: u 5, v 60."


def test_describes_empty_figure_and_line_without_points():
    assert alternative_text(Figure()) == "An empty figure."
    figure, ax = plt.subplots()
    ax.plot([0, 1], [float("nan"), float("nan")], label="lost")
    assert alternative_text(figure).endswith("lost: no points.")


def test_notebook_stores_description_twice(monkeypatch):
    class Shell:
        display_formatter = DisplayFormatter()

    monkeypatch.setitem(sys.modules, "IPython", type("IPython", (), {"get_ipython": Shell}))
    describe_displayed_figures()
    figure = plots.lines([1, 2], {"a": [1, 2]}, "x", "y").figure
    data, metadata = Shell.display_formatter.format(figure)
    assert data["text/plain"] == metadata["image/png"]["alt"] == alternative_text(figure)
