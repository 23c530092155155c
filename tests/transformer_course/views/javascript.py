"""Call the JavaScript functions of the views from Python."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from transformer_course.views.front_end import FOLDER

NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed, so JavaScript cannot run")


def call_each(module: str, function: str, arguments: list[list[Any]]) -> list[Any]:
    """Call an exported function with each list of arguments, and return the results."""
    assert NODE is not None
    code = (
        f"import {{ {function} as call }} from {json.dumps((FOLDER / f'{module}.mjs').as_uri())};\n"
        f"console.log(JSON.stringify({json.dumps(arguments)}.map((each) => call(...each))));"
    )
    done = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    returned: list[Any] = json.loads(done.stdout)
    return returned
