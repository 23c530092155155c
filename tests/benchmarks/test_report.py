from xml.etree import ElementTree

import pytest

from benchmarks.report import draw, markdown, table
from benchmarks.work import README_ROWS, all_work

ROWS = [
    {
        "work": "train tiny",
        "over ours": {"ours": 1.0, "plain": 0.987, "HF GPT-2": 1.5, "HF Llama": 1.25, "bare products": 0.5},
        "seconds": {"ours": [0.3, 0.0126, 0.01]},
    },
    {"work": "greedy tiny", "over ours": {"ours": 1.0, "x": 4.0}, "seconds": {"ours": [2.0, 3.0, 1.0]}},
]


def test_markdown_merges_models_from_one_library() -> None:
    assert markdown(ROWS).splitlines() == [
        "| work | ours, ms | plain | HF | x | bare products |",
        "| --- | --: | --: | --: | --: | --: |",
        "| train tiny | 13 | 0.99 | GPT-2 1.50, Llama 1.25 | – | 0.50 |",
        "| greedy tiny | 2000 | – | – | 4.00 | – |",
    ]


def test_table_shows_a_dash_for_unsupported_work() -> None:
    assert table(ROWS).splitlines()[2].split() == ["greedy", "tiny", "2000.00", "–", "–", "–", "–", "4.00"]


def test_picture_labels_every_row_and_contestant(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(draw.__globals__["plt"].rcParams, "svg.fonttype", "none")
    draw(tmp_path / "results.svg", ROWS, {"clock": "wall time", "threads": 2, "rounds": 3})
    words = {text.text for text in ElementTree.parse(tmp_path / "results.svg").iter("{http://www.w3.org/2000/svg}text")}
    assert {"train tiny", "greedy tiny", "ours", "plain", "HF", "x", "bare products"} <= words


def test_every_readme_row_is_available() -> None:
    assert set(README_ROWS) <= {work.name for work in all_work()}
