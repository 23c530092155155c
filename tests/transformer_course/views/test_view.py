"""Tests for the widget, the picture and the description that the base class of views creates."""

from base64 import b64decode

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from traitlets import Float

from transformer_course import views
from transformer_course.views.view import STATE, View, blank

WIDGET = "application/vnd.jupyter.widget-view+json"


class Coin(View):
    probability = Float(0.5, min=0.0, max=1.0).tag(sync=True)

    def still(self) -> Figure:
        figure = blank(3.0, 2.0)
        figure.add_subplot().bar(["heads", "tails"], [self.probability, 1 - self.probability])
        return figure

    def words(self) -> str:
        return f"Coin: heads with probability {self.probability:.2f}."


Coin.front_end = "coin"  # set after the class definition, because no module has this name


def test_bundle_contains_widget_picture_and_description():
    coin = Coin()
    before, _ = coin._repr_mimebundle_()
    coin.probability = 0.75
    after, metadata = coin._repr_mimebundle_()
    assert after[WIDGET]["model_id"] == before[WIDGET]["model_id"] == coin.model_id
    assert after["text/plain"] == "Coin: heads with probability 0.75."
    assert b64decode(after["image/png"]).startswith(b"\x89PNG")
    assert after["image/png"] != before["image/png"]
    assert metadata[STATE] == '{"traits": {"probability": 0.75}, "view": "coin"}'


def test_does_not_register_picture_with_pyplot():
    Coin()._repr_mimebundle_()
    assert plt.get_fignums() == []


def test_unknown_view_error_lists_all_views():
    with pytest.raises(AttributeError, match="no attribute 'Coin'; the views are AttentionExplorer"):
        views.Coin  # noqa: B018
