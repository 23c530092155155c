"""What a notebook keeps of its views."""

from copy import deepcopy

from transformer_lab.course.home.saved_views import WIDGET, keep_pictures


def shown(**data):
    return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data}]}


PICTURE, VIEW = {"image/png": "iVBORw0="}, {WIDGET: {"model_id": "1"}}


def test_a_view_is_saved_as_its_picture_and_all_else_as_it_is():
    text = {"cell_type": "markdown", "source": "no outputs"}
    printed = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "no data"}]}
    model = {"type": "notebook", "content": {"cells": [shown(**PICTURE, **VIEW), shown(**VIEW), printed, text]}}
    keep_pictures(model, path="01.ipynb", contents_manager=None)
    assert model["content"]["cells"] == [shown(**PICTURE), shown(**VIEW), printed, text]


def test_a_file_that_is_no_notebook_is_left_alone():
    model = {"type": "file", "format": "text", "content": "print(1)"}
    before = deepcopy(model)
    keep_pictures(model, path="parts.py", contents_manager=None)
    assert model == before
