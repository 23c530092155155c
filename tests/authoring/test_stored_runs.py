"""Tests for running a lesson's code and storing the results together with the command."""

import json

from authoring.stored_runs import defined, store_runs


def test_executes_only_imports_and_requested_names():
    found = defined({"features_seen", "Neighbors"}, "03_heads")
    assert {"features_seen", "Neighbors", "torch"} <= found.keys()
    assert not {"split_heads", "MultiHeadAttention", "train"} & found.keys()


def test_file_contains_command_and_results(tmp_path):
    file = tmp_path / "runs" / "losses.json"
    store_runs(file, "python -m some.script", lambda: {"losses": [0.5], "heads": [[1, 2]]})
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "command": "python -m some.script",
        "cpu_minutes": 0.0,
        "losses": [0.5],
        "heads": [[1, 2]],
    }
