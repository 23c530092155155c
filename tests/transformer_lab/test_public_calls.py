"""Tests that a call to any public function or module returns a correct result or raises a helpful error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_lab
from tests.transformer_lab.public_calls import names

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes():
    environment = os.environ | {"TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    command, root = [sys.executable, "-m", "tests.transformer_lab.public_calls"], Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", names())
def test_call_returns_correct_result_or_helpful_error(outcomes, name):
    kind, message, raised_by, expected = outcomes[name]
    if not expected:
        assert (kind, message) == ("correct", "True")
        return
    assert kind in ("ValueError", "TypeError"), message
    assert raised_by == "ours"
    for value in expected:
        assert value in message


def test_calls_cover_whole_public_api():
    covered = {name.split(":")[0].split()[0] for name in names()}
    assert covered == {*transformer_lab.__all__}
