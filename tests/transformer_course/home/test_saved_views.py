"""What a notebook keeps of its views."""

from copy import deepcopy

from transformer_course.home.saved_views import VIEW, WIDGET, keep_pictures


def displayed(metadata=None, **data):
    return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data, "metadata": metadata or {}}]}


PICTURE, WIDGETS = {"image/png": "iVBORw0="}, {WIDGET: {"model_id": "1"}}


def test_a_view_is_saved_as_its_picture_with_its_name_and_all_else_as_it_is():
    text = {"cell_type": "markdown", "source": "no outputs"}
    printed = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "no data"}]}
    model = {
        "type": "notebook",
        "content": {"cells": [displayed(**PICTURE, **WIDGETS), displayed(**WIDGETS), printed, text]},
    }
    keep_pictures(model, path="01.ipynb", contents_manager=None)
    assert model["content"]["cells"] == [displayed({VIEW: "1"}, **PICTURE), displayed(**WIDGETS), printed, text]


def test_a_file_that_is_no_notebook_is_left_alone():
    model = {"type": "file", "format": "text", "content": "print(1)"}
    before = deepcopy(model)
    keep_pictures(model, path="parts.py", contents_manager=None)
    assert model == before
