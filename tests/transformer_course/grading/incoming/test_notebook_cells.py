import json

import pytest

from transformer_course.grading.incoming.notebook_cells import read_cells


@pytest.mark.parametrize("name", [3, [[]], None, {"a": 1}, "x" * 10**6])
def test_accepts_any_cell_id(name: object):
    content = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "id": name}]})
    [cell], *_ = read_cells(content.encode())
    assert len(cell["id"]) <= 100


@pytest.mark.parametrize("text", ["\ud800", ["a", "\udfff"]])
def test_replaces_lone_surrogates(text: object):
    code = {"cell_type": "code", "source": text, "id": "\ud800"}
    content = json.dumps({"nbformat": 4, "cells": [code, {**code, "cell_type": "markdown", "id": "written-\ud800"}]})
    [cell], written, _ = read_cells(content.encode())
    assert cell["source"].endswith("\N{REPLACEMENT CHARACTER}") and cell["id"] == "?"
    assert [(name, answer[-1]) for name, answer in written.items()] == [("question", "\N{REPLACEMENT CHARACTER}")]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_keeps_markdown_and_raw_cells_with_definitions(kind: str):
    for source, kept in (("My answer:\ndef softmax(scores):\n    return scores", True), ("a def inition", False)):
        content = json.dumps({"nbformat": 4, "cells": [{"cell_type": kind, "source": source}]})
        assert read_cells(content.encode()) == ([], {}, [source] * kept)
