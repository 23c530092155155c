"""Corrupted files are either rejected with a message that names the file, or read within limits on memory and time.

``readers`` and ``damage`` define which files are corrupted and how.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.fuzz.damage import NUMBERS, VALUES

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, and bounds the memory of a fork"),
    pytest.mark.slow,
]
INPUTS, THOROUGH_INPUTS = 7, 100
"""Number of corrupted files per reader."""


@pytest.fixture(scope="module")
def outcomes(thoroughness):
    inputs = THOROUGH_INPUTS if thoroughness.enabled else INPUTS
    command = [sys.executable, "-m", "tests.fuzz", "--json", "--inputs", str(inputs)]
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], inputs


def test_corrupted_files_give_result_or_clear_error(outcomes):
    message, inputs = outcomes
    assert {one["reader"]: one["bad"] for one in message if one["bad"]} == {}
    assert all(sum(one["counts"].values()) == inputs for one in message)


def test_most_corruption_is_detected(outcomes):
    message, _ = outcomes
    assert len(message) > 30
    ends = {what: sum(one["counts"].get(what, 0) for one in message) for what in ("clear error", "equal result")}
    assert ends["clear error"] > 4 * len(message) and ends["equal result"] > len(message) / 3


def test_replacement_values_cover_every_kind():
    assert {type(value) for value in VALUES} == {type(None), bool, int, float, str, list, dict}
    assert len(NUMBERS) == len({*NUMBERS})
