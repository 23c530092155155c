"""Tests that the model map runs typed texts, reports errors, and has a still picture."""

import pytest
from traitlets import TraitError

from tests.helpers.small_models import CONFIGS, build, inputs
from transformer_course.views import ModelMap


@pytest.fixture
def model():
    return build(CONFIGS["two vocabularies, pre-norm"]).eval()


NAMES = [lambda i: f"s{i}", lambda i: f"t{i}"]


def test_runs_typed_text_and_reports_errors(model):
    def read(text):
        if "?" in text:
            raise KeyError("?")
        return inputs(model, batch=1, n=len(text))

    view = ModelMap(model, read, NAMES, ["abc"], step=1)
    assert view.block == max(i for i, block in enumerate(view.run["blocks"]) if "weights" in block)
    view.text = "abcde"
    assert (view.step, set(view.runs), view.problem) == (0, {"abc", "abcde"}, "")
    assert len(view.run["sequences"][0]) == len(inputs(model, batch=1, n=5)[0][0])
    view.text = "a?"
    assert view.problem == "'a?' cannot be run: KeyError: '?'"
    assert view.words().startswith("Model map: s")
    n, last = len(view.run["blocks"]), view.run["blocks"][-1]["name"]  # one block of a GPT contains several modules
    assert view.words().endswith(f". {n} modules, the last is {last}.")
    with pytest.raises(TraitError, match="1 to 200 characters; got 201"):
        view.text = "a" * 201


def test_requires_an_initial_text(model):
    with pytest.raises(ValueError, match="at least one initial text"):
        ModelMap(model, lambda text: (), NAMES, [])


def test_picture_shows_a_bar_for_each_addition(model):
    view = ModelMap(model, lambda text: inputs(model, batch=1, n=4), NAMES, ["abcd"])
    [ax] = view.still().axes
    adding = [block["name"] for block in view.run["blocks"] if "adds" in block]
    assert [label.get_text() for label in ax.get_yticklabels()] == adding
