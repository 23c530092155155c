"""Test that a failed write preserves the old content and names the file, and that writing again succeeds."""

import json
import os
import subprocess
import sys

import pytest

from tests.fuzz.faults import FAULTS, REPORTED, UNNOTICED
from tests.fuzz.writers import WRITERS

ACCEPTABLE = {REPORTED, "killed", UNNOTICED}


@pytest.fixture(scope="module")
def outcomes():
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    command = [sys.executable, "-m", "tests.fuzz.faults"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return {report["writer"]: report["counts"] for report in map(json.loads, done.stdout.splitlines())}


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_failed_write_preserves_files_and_names_the_file(outcomes):
    bad = {name: {outcome.split(": ", 1)[1] for outcome in counts} - ACCEPTABLE for name, counts in outcomes.items()}
    assert {name: kinds for name, kinds in bad.items() if kinds} == {}
    assert outcomes.keys() == WRITERS.keys()
    for name, counts in outcomes.items():
        for kind in FAULTS:
            failed = sum(n for outcome, n in counts.items() if outcome.startswith(kind) and UNNOTICED not in outcome)
            assert failed >= 3, (name, kind)  # at least three calls: open, write, and replace or close
