"""Tests for showing the learner's own model, saved with a lesson, on the home page."""

import json
import os

import pytest

from tests.helpers.small_models import CONFIGS, build, inputs
from tests.transformer_course.home.sample_folders import HOURS
from transformer_course.home import server
from transformer_course.home.home_page import home_page
from transformer_course.home.own_model import map_to_show
from transformer_course.views import ModelMap
from transformer_course.views.view import STATE

MODEL = build(CONFIGS["GPT, rotary"])


def view():
    return ModelMap(MODEL, lambda text: inputs(MODEL, batch=1, n=len(text)), [str], ["abcd"])


def output_of(view):
    data, metadata = view._repr_mimebundle_()
    return {"output_type": "display_data", "data": {"text/plain": data["text/plain"]}, "metadata": metadata}


def save(folder, name, at, outputs):
    cells = [{"id": "cell", "cell_type": "code", "execution_count": 1, "outputs": outputs}]
    path = folder.path / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": [{"id": "text", "cell_type": "markdown"}, *cells]}))
    os.utime(path, (at, at))


def test_shows_model_from_latest_lesson_with_link(folder, small_map):
    assert "Your own model" not in home_page(folder.home(), "/", "/")
    save(folder, "00_first", HOURS, [output_of(view())])
    assert folder.home().lesson_with_map.outline.name == "00_first"
    save(folder, "01_second", 2 * HOURS, [{"output_type": "stream", "text": "no map"}, output_of(view())])
    page = home_page(folder.home(), "/", "/")
    assert "Your own model" in page
    assert page.count('data-path="01_second.ipynb" data-cell="cell"') == 2  # the link and the placeholder
    save(folder, "01_second", 3 * HOURS, [])
    assert folder.home().lesson_with_map.outline.name == "00_first"


def test_ignores_views_that_show_no_model(folder):
    other = {"output_type": "display_data", "data": {}, "metadata": {STATE: '{"traits": {}, "view": "lookup_dial"}'}}
    save(folder, "00_first", HOURS, [other])
    assert folder.home().lesson_with_map is None


def test_shows_the_saved_state_without_a_kernel(folder):
    displayed = view()
    save(folder, "00_first", HOURS, [output_of(displayed)])
    saved_map = map_to_show(folder.path / "00_first.ipynb", "cell")
    assert saved_map["traits"] == json.loads(displayed.stored())["traits"]
    assert (saved_map["script"], saved_map["style"]) == (displayed._esm, displayed._css)
    handler = server.ModelHandler.__new__(server.ModelHandler)
    assert json.loads(handler.render_progress(folder.home())) == saved_map


def test_server_reports_a_missing_model(folder):
    handler = server.ModelHandler.__new__(server.ModelHandler)
    with pytest.raises(server.web.HTTPError, match="no saved lesson contains a map of a model"):
        handler.render_progress(folder.home())
