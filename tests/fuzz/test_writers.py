"""After a failed write, the previous content is intact, the error names the file, and writing again succeeds."""

import json
import os
import subprocess
import sys

import pytest

from tests.fuzz.faults import FAULTS
from tests.fuzz.writers import WRITERS

GOOD = {"told by name", "killed", "made no difference"}


@pytest.fixture(scope="module")
def outcomes():
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    command = [sys.executable, "-m", "tests.fuzz.faults"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return {message["writer"]: message["counts"] for message in map(json.loads, done.stdout.splitlines())}


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="forks as Unix does")
def test_failed_write_preserves_files_and_names_the_file(outcomes):
    assert {name: counts for name, counts in outcomes.items() if {end.split(": ", 1)[1] for end in counts} - GOOD} == {}
    assert outcomes.keys() == WRITERS.keys()
    for name, counts in outcomes.items():
        for kind in FAULTS:
            failed = sum(n for end, n in counts.items() if end.startswith(kind) and "no difference" not in end)
            assert failed >= 3, (name, kind)  # at least one opening, one write and one replacement or closing
