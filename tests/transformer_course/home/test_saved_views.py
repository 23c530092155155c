"""Tests for replacing widgets with pictures of views when a notebook is saved."""

from copy import deepcopy

from transformer_course.home.saved_views import VIEW, WIDGET, keep_pictures


def displayed(metadata=None, **data):
    return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data, "metadata": metadata or {}}]}


PICTURE, WIDGETS = {"image/png": "iVBORw0="}, {WIDGET: {"model_id": "1"}}


def test_removes_only_widgets_that_have_a_picture():
    text = {"cell_type": "markdown", "source": "no outputs"}
    printed = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "no data"}]}
    model = {
        "type": "notebook",
        "content": {"cells": [displayed(**PICTURE, **WIDGETS), displayed(**WIDGETS), printed, text]},
    }
    keep_pictures(model, path="01.ipynb", contents_manager=None)
    assert model["content"]["cells"] == [displayed({VIEW: "1"}, **PICTURE), displayed(**WIDGETS), printed, text]


def test_leaves_files_that_are_not_notebooks_unchanged():
    model = {"type": "file", "format": "text", "content": "print(1)"}
    before = deepcopy(model)
    keep_pictures(model, path="parts.py", contents_manager=None)
    assert model == before
