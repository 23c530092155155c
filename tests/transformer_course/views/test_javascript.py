"""The JavaScript of the views: the tests of their pure functions, and that each view is one module that parses."""

import shutil
import subprocess
from pathlib import Path

import pytest

from transformer_course import views
from transformer_course.views import front_end
from transformer_course.views.view import View

FOLDER = Path(__file__).with_name("front_end")
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="no Node is installed, so no JavaScript can be run")


def test_the_pure_functions_hold():
    done = subprocess.run([NODE, "--test", *sorted(FOLDER.glob("*.test.mjs"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", views.__all__)
def test_a_view_brings_the_model_that_it_has_without_a_kernel(name):
    view: type[View] = getattr(views, name)
    source = front_end.module(view.front_end).replace("export default", "const shown =")
    run = 'console.log(typeof shown.render, shown.modelOf({ text: "cat" }).get("text"));'
    done = subprocess.run([NODE, "--input-type=module", "-e", source + run], capture_output=True, text=True)
    assert done.stdout == "function cat\n", done.stderr
