"""Run the unit tests for the views' JavaScript functions, and check the syntax of each bundle."""

import shutil
import subprocess
from pathlib import Path

import pytest

from transformer_course import views
from transformer_course.views import front_end
from transformer_course.views.view import View

FOLDER = Path(__file__).with_name("front_end")
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed, so JavaScript cannot run")


def test_javascript_unit_tests_pass():
    done = subprocess.run([NODE, "--test", *sorted(FOLDER.glob("*.test.mjs"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", views.__all__)
def test_bundle_exports_render_and_local_model(name):
    view: type[View] = getattr(views, name)
    source = front_end.module(view.front_end).replace("export default", "const shown =")
    run = 'console.log(typeof shown.render, shown.modelOf({ text: "cat" }).get("text"));'
    done = subprocess.run([NODE, "--input-type=module", "-e", source + run], capture_output=True, text=True)
    assert done.stdout == "function cat\n", done.stderr
