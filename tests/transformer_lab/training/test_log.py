"""Tests that pandas can read the log, and that a resumed run leaves neither gaps nor duplicate rows in it."""

import pandas as pd
import pytest

from transformer_lab.training.log import COLUMNS, Log, read_row


def filled(path, steps):
    log = Log(path, 0)
    for step in steps:
        log.add(step=step, seconds=step / 7, loss=1 / step, lr=1e-3, tokens_per_second=900)
    return log


def test_pandas_reads_the_log(tmp_path):
    log = filled(tmp_path / "log.csv", [1, 2, 3])
    log.add(step=4, loss=0.1 + 0.2, validation_score=99.5)
    table = pd.read_csv(tmp_path / "log.csv")
    assert tuple(table.columns) == COLUMNS
    assert table["step"].tolist() == [1, 2, 3, 4]
    assert table["loss"].tolist() == [1.0, 0.5, 1 / 3, 0.1 + 0.2]  # the log stores numbers without rounding
    assert table["validation_score"].dropna().tolist() == [99.5]


def test_replaces_rows_after_the_checkpoint(tmp_path):
    filled(tmp_path / "log.csv", [10, 20, 30])
    log = Log(tmp_path / "log.csv", step=20)
    log.add(step=30, loss=0.5)
    table = pd.read_csv(tmp_path / "log.csv")
    assert table["step"].tolist() == [10, 20, 30]
    assert table["loss"].tolist() == [0.1, 0.05, 0.5]


def test_drops_truncated_row(tmp_path):
    path = tmp_path / "log.csv"
    filled(path, [10, 20, 30])
    whole = path.read_bytes()
    _, ten, twenty, _ = whole.splitlines()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        Log(path, step=20)
        kept = [step for step, row in ((10, ten), (20, twenty)) if row in whole[:end]]
        assert pd.read_csv(path)["step"].tolist() == kept, end


def test_new_run_starts_a_new_log(tmp_path):
    filled(tmp_path / "log.csv", [10, 20])
    Log(tmp_path / "log.csv", step=0)
    assert len(pd.read_csv(tmp_path / "log.csv")) == 0


def test_recreates_missing_log(tmp_path):
    Log(tmp_path / "log.csv", step=50).add(step=60)
    assert pd.read_csv(tmp_path / "log.csv")["step"].tolist() == [60]


def test_rejects_a_file_that_is_not_a_log(tmp_path):
    (tmp_path / "log.csv").write_text("time,loss\n10,0.5\n")
    with pytest.raises(ValueError, match=r"log\.csv is corrupted: the first line must be step,seconds,"):
        Log(tmp_path / "log.csv", step=10)


def test_read_row_omits_empty_columns(tmp_path):
    log = Log(tmp_path / "log.csv", 0)
    log.add(step=5, loss=2.0)
    log.add(step=10, loss=1.5, validation_score=-3.0)
    assert read_row(tmp_path / "log.csv", 5) == {"step": 5, "loss": 2.0}
    assert read_row(tmp_path / "log.csv", 10) == {"step": 10, "loss": 1.5, "validation_score": -3.0}
    assert read_row(tmp_path / "log.csv", 7) == {}
