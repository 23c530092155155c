"""Test that a corrupted file is either read within memory and time limits or rejected with an error that names it.
``readers`` defines the files, and ``damage`` defines the kinds of corruption.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.fuzz.campaign import EQUAL, REJECTED
from tests.fuzz.damage import NUMBERS, VALUES

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs os.fork and a memory limit for the forked process"),
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


def test_corrupted_files_are_read_or_rejected_clearly(outcomes):
    reports, inputs = outcomes
    assert {report["reader"]: report["bad"] for report in reports if report["bad"]} == {}
    assert all(sum(report["counts"].values()) == inputs for report in reports)


def test_readers_detect_most_corruption(outcomes):
    reports, _ = outcomes
    assert len(reports) > 30
    totals = {kind: sum(report["counts"].get(kind, 0) for report in reports) for kind in (REJECTED, EQUAL)}
    assert totals[REJECTED] > 4 * len(reports) and totals[EQUAL] > len(reports) / 3


def test_replacement_values_cover_every_type():
    assert {type(value) for value in VALUES} == {type(None), bool, int, float, str, list, dict}
    assert len(NUMBERS) == len({*NUMBERS})
