"""Tests for names, numbers, colors and errors in plots."""

from itertools import pairwise

import matplotlib.pyplot as plt
import pytest
import torch
from jaxtyping import TypeCheckError
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from transformer_course import plots


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def tick_labels(ax: Axes) -> tuple[list[str], list[str]]:
    return [t.get_text() for t in ax.get_yticklabels()], [t.get_text() for t in ax.get_xticklabels()]


def luminance(color: object) -> float:
    """Return the relative luminance of a color, as defined by WCAG 2."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("draw, cells", [(plots.weights, torch.eye(2, 3)), (plots.mask, torch.eye(2, 3).bool())])
def test_rows_are_queries_and_columns_are_keys(draw, cells):
    ax = draw(cells, queries=["a", "b"], keys=["x", "y", "z"])
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query (row)", "key (column)")
    assert tick_labels(ax) == (["a", "b"], ["x", "y", "z"])
    assert ax.images[0].get_array().tolist() == [[1, 0, 0], [0, 1, 0]]


def test_heads_share_one_color_bar():
    weights = torch.tensor([[[1.0, 0.0]], [[0.25, 0.75]], [[0.5, 0.5]]])
    axes = plots.heads(weights, queries=["a"], keys=["x", "y"])
    assert [ax.get_title() for ax in axes] == ["head 0", "head 1", "head 2"]
    assert [ax.images[0].get_array().tolist() for ax in axes] == weights.tolist()
    assert {ax.images[0].get_clim() for ax in axes} == {(0, 1)}
    assert len(axes[0].figure.axes) == 4, "all heads must share one color bar"
    assert tick_labels(axes[0]) == (["a"], ["x", "y"])
    own = plt.subplots(1, 3)[1]
    assert plots.heads(weights, axes=list(own)) == list(own)


@pytest.mark.parametrize("n_heads, n_axes", [(3, 2), (0, 0)])
def test_rejects_wrong_number_of_axes_for_heads(n_heads, n_axes):
    with pytest.raises(ValueError, match=f"got {n_heads} heads and {n_axes} axes"):
        plots.heads(torch.ones(n_heads, 1, 1), axes=[plt.figure().add_subplot() for _ in range(n_axes)])


@pytest.mark.parametrize("names", ["ab", ["The", "cat", "that", "was", "chased"]])
def test_column_names_do_not_overlap(names):
    n = len(names)
    axes = plots.heads(torch.eye(n).expand(3, n, n), queries=names, keys=names)
    figure = axes[0].figure
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes[0].get_xticklabels()]
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


def test_color_scale_runs_from_0_to_1():
    assert plots.weights(torch.full((2, 2), 0.1)).images[0].get_clim() == (0, 1)


def test_color_bar_has_label():
    assert plots.weights(torch.eye(2)).images[0].colorbar.ax.get_ylabel() == "weight"


def test_cells_show_numbers_in_small_maps():
    ax = plots.weights(torch.tensor([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]))
    numbers = {text.get_position(): text.get_text() for text in ax.texts}
    assert numbers == {(0, 0): "0.25", (1, 0): "0.75", (0, 1): "1.00", (0, 2): "0.50", (1, 2): "0.50"}
    assert not plots.weights(torch.eye(13)).texts


def test_accepts_weights_with_rounding_errors():
    rounded, exact = torch.tensor([[1.000001, -1e-6]]), torch.tensor([[1.0, 0.0]])
    images = [plots.weights(weights).images[0] for weights in (rounded, exact)]
    drawn, expected = (image.to_rgba(image.get_array()) for image in images)
    assert (drawn == expected).all()


def test_omits_numbers_close_to_zero():
    ax = plots.weights(torch.tensor([[0.05, 0.049, 0.9]]))
    assert [(text.get_position()[0], text.get_text()) for text in ax.texts] == [(0, "0.05"), (2, "0.90")]


def test_caller_can_change_axis_labels():
    words = {"xlabel": "read (encoder)", "ylabel": "generated (decoder)"}
    cells = torch.eye(2)
    for ax in (plots.weights(cells, **words), plots.mask(cells.bool(), **words), plots.heads(cells[None], **words)[0]):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("read (encoder)", "generated (decoder)")


def test_numbers_contrast_with_cell_colors():
    """WCAG requires a contrast ratio of 4.5. For a few colors in the middle of the scale, no text color reaches it."""
    ax = plots.weights(torch.linspace(0, 1, 12)[None])
    image = ax.images[0]
    printed = [weight for weight in image.get_array()[0] if weight >= 0.05]
    for text, weight in zip(ax.texts, printed, strict=True):
        dark, bright = sorted([luminance(text.get_color()), luminance(image.cmap(image.norm(weight))[:3])])
        assert (bright + 0.05) / (dark + 0.05) >= 4.4


def named_cells(ax: Axes) -> dict[str, object]:
    legend = ax.get_legend()
    return dict(zip([text.get_text() for text in legend.get_texts()], legend.get_patches(), strict=True))


def test_mask_legend_explains_both_colors():
    ax = plots.mask(torch.ones(3, 2).tril().bool())
    image = ax.images[0]
    assert {name: to_rgb(cell.get_facecolor()) for name, cell in named_cells(ax).items()} == {
        "may attend": to_rgb(image.cmap(image.norm(1.0))),
        "hidden": to_rgb(image.cmap(image.norm(0.0))),
    }
    allowed, hidden = (luminance(image.cmap(image.norm(cell))[:3]) for cell in (1.0, 0.0))
    assert allowed > hidden + 0.5
    assert image.colorbar is None


def test_mask_cells_have_borders():
    ax = plots.mask(torch.ones(3, 2).tril().bool())
    assert (ax.get_xticks(minor=True).tolist(), ax.get_yticks(minor=True).tolist()) == (
        [-0.5, 0.5, 1.5],
        [-0.5, 0.5, 1.5, 2.5],
    )
    assert all(tick.gridline.get_visible() for tick in (*ax.xaxis.get_minor_ticks(), *ax.yaxis.get_minor_ticks()))
    assert not len(plots.mask(torch.ones(41, 41).bool()).get_xticks(minor=True))


@pytest.mark.parametrize("n", [2, 16])
def test_mask_fits_in_its_figure(n):
    figure = plots.mask(torch.ones(n, n).tril().bool()).figure
    figure.draw_without_rendering()
    assert figure.get_tightbbox().x0 >= 0
    assert figure.get_tightbbox().x1 <= figure.get_figwidth()


def test_caller_can_change_mask_labels():
    ax = plots.mask(torch.eye(2).bool(), labels=("does not move it", "moves it"))
    assert list(named_cells(ax)) == ["moves it", "does not move it"]


def test_masks_with_same_labels_share_one_legend():
    _, axes = plt.subplots(1, 3)
    for ax, labels in zip(axes, [("hidden", "may attend"), ("no", "yes"), ("hidden", "may attend")], strict=True):
        plots.mask(torch.eye(2).bool(), ax=ax, labels=labels)
    assert axes[0].get_legend() is None
    assert [list(named_cells(ax)) for ax in axes[1:]] == [["yes", "no"], ["may attend", "hidden"]]


@pytest.mark.parametrize("n", [1, 2, 30])
def test_ticks_without_names_are_whole_numbers(n):
    ax = plots.mask(torch.eye(n).bool())
    assert all(place == round(place) for axis in (ax.xaxis, ax.yaxis) for place in axis.get_major_locator()())


def test_long_column_names_do_not_overlap():
    ax = plots.weights(torch.eye(3), keys=["attention", "translation", "representation"])
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(left.overlaps(right) for left, right in pairwise(boxes))


def test_draws_line_with_given_axis_labels():
    ax = plots.lines([1, 2, 3], {"up": torch.tensor([1.0, 2.0, 4.0])}, xlabel="time (s)", ylabel="height")
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[1, 1], [2, 2], [3, 4]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "height")


def test_draws_runs_as_mean_with_band():
    runs = torch.tensor([[1.0, 2.0, 6.0], [3.0, 2.0, 0.0], [2.0, 5.0, 0.0]], dtype=torch.bfloat16)
    ax = plots.lines([1, 2, 3], {"several": runs, "one": [0, 0, 0]}, xlabel="step", ylabel="loss")
    assert [line.get_ydata().tolist() for line in ax.lines] == [[2, 3, 2], [0, 0, 0]]
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(1, 1), (2, 2), (3, 0), (1, 3), (2, 5), (3, 6)}
    assert to_rgb(band.get_facecolor()[0][:3]) == to_rgb(ax.lines[0].get_color())
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["several", "one"]
    assert legend.get_title().get_text() == "mean, and least to largest of 3 runs"


@pytest.mark.parametrize(
    "ys, title",
    [
        ({"a": torch.ones(2)}, ""),
        ({"a": torch.ones(1, 2)}, ""),
        ({"a": torch.ones(5, 2), "b": torch.ones(5, 2)}, "mean, and least to largest of 5 runs"),
        ({"a": torch.ones(5, 2), "b": torch.ones(3, 2)}, "mean, and least to largest of the runs"),
    ],
)
def test_legend_title_explains_bands(ys, title):
    assert plots.lines([1, 2], ys, xlabel="x", ylabel="y").get_legend().get_title().get_text() == title


@pytest.mark.parametrize("beside", [True, False])
def test_legend_next_to_axes_covers_no_lines(beside):
    scattered = [0, 1, 0, 1, 0, 1, 0, 1]
    ax = plots.lines(range(8), {"a": scattered, "b": [0.5] * 8}, xlabel="x", ylabel="y", legend_beside=beside)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert (legend.x0 >= ax.get_window_extent().x1) == beside
    assert legend.x1 <= ax.figure.bbox.x1


def test_sixteen_lines_look_different_and_have_names():
    names = [f"line {i}" for i in range(16)]
    ax = plots.lines([0, 1], {name: [0, i] for i, name in enumerate(names)}, xlabel="x", ylabel="y")
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(looks)) == 16
    assert all(a != b and c != d for (a, c), (b, d) in pairwise(looks))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names


def test_histogram_shows_fractions_over_shared_bins():
    samples = {"few": torch.tensor([0.0, 1.0, 1.0, 4.0]), "many": torch.full((5, 20), 4.0)}
    ax = plots.histogram(samples, xlabel="value", bins=4)
    heights = {}
    for patch in ax.patches:
        corners = patch.get_xy()
        heights[patch.get_label()] = {x: y for x, y in corners[1:-1:2].tolist()}
    assert heights == {
        "few": {0: 0.25, 1: 0.5, 2: 0, 3: 0.25},
        "many": {0: 0, 1: 0, 2: 0, 3: pytest.approx(1)},
    }
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("value", "fraction")


def test_draws_histogram_of_identical_values():
    assert plots.histogram({"all the same": torch.ones(3)}, xlabel="value").patches


def test_every_plot_accepts_axes_and_tensors_with_gradients():
    _, axes = plt.subplots(2, 2)
    weights = torch.eye(3, requires_grad=True, dtype=torch.bfloat16)
    assert plots.weights(weights, ax=axes[0, 0]) is axes[0, 0]
    assert plots.mask(torch.eye(3).bool(), ax=axes[0, 1]) is axes[0, 1]
    assert plots.lines(weights[0], {"row": weights[1]}, xlabel="x", ylabel="y", ax=axes[1, 0]) is axes[1, 0]
    assert plots.histogram({"cells": weights}, xlabel="x", ax=axes[1, 1]) is axes[1, 1]
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(
    "draw, message",
    [
        (lambda: plots.weights(torch.eye(2), queries=["a"]), "one name for each of the 2 queries; got 1: a"),
        (
            lambda: plots.mask(torch.eye(2).bool(), keys=["a", "b", "c"]),
            "one name for each of the 2 keys; got 3: a, b, c",
        ),
        (lambda: plots.weights(torch.tensor([[0.5, 1.5]])), "between 0 and 1; got 0.5 to 1.5"),
        (lambda: plots.weights(torch.tensor([[1.0001, 0.0]])), "between 0 and 1; got 0 to 1.0001"),
        (lambda: plots.weights(torch.tensor([[-0.0001, 1.0]])), "between 0 and 1; got -0.0001 to 1"),
        (lambda: plots.weights(torch.tensor([[0.5, torch.nan]])), "between 0 and 1; got nan to nan"),
        (lambda: plots.weights(torch.ones(0, 3)), "n_query=0, n_key=3"),
        (lambda: plots.lines([1, 2], {"short": [1]}, "x", "y"), "got 1 for 'short' and 2 for x"),
        (lambda: plots.lines([1, 2], {"long": torch.ones(2, 3)}, "x", "y"), "got 3 for 'long' and 2 for x"),
        (lambda: plots.lines([1, 2], {"none": torch.ones(0, 2)}, "x", "y"), "'none' must contain at least one run"),
        (lambda: plots.lines([1, 2], {}, "x", "y"), "at least one line"),
        (lambda: plots.histogram({}, "x"), "got samples of sizes {}"),
        (lambda: plots.histogram({"a": torch.ones(2), "b": torch.ones(0)}, "x"), "{'a': 2, 'b': 0}"),
    ],
)
def test_rejects_invalid_data_without_opening_figure(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
    assert not plt.get_fignums()


def test_rejects_weights_that_are_not_a_matrix():
    with pytest.raises(TypeCheckError, match="parameter 'weights'"):
        plots.weights(torch.ones(2, 3, 4))
