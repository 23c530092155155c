from pathlib import Path

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.grading.rules.overrides import Override, make_overrides_file, read_overrides

MAX_POINTS = every_exercise()["softmax"].points


def overrides(out: Path, *rows: str) -> list[Override]:
    make_overrides_file(out)
    path = out / "overrides.csv"
    path.write_text(path.read_text("utf-8") + "".join(f"{row}\n" for row in rows), "utf-8")
    return read_overrides(out)


def test_default_overrides_are_empty(tmp_path: Path):
    assert read_overrides(tmp_path) == [] == overrides(tmp_path)


def test_reads_overrides_and_never_overwrites_them(tmp_path: Path):
    rows = [
        "Ada,1,softmax,1,shown in class",
        "Ada,,,,Come and see me.",
        "Ben,,softmax,,Nice.",
        "Ada,,softmax,2,",
    ]
    expected = [
        Override("Ada", "softmax", 2.0),
        Override("Ada", "", None, "Come and see me."),
        Override("Ben", "softmax", None, "Nice."),
    ]
    assert overrides(tmp_path, *rows) == expected
    make_overrides_file(tmp_path)
    assert read_overrides(tmp_path) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",01_lookup,softmax,1,", "the row has no student"),
        ("Ada,,softmx,1,", "there is no exercise 'softmx'"),
        ("Ada,02_scaling,softmax,1,", "the exercise softmax belongs to 01_lookup; got lesson='02_scaling'"),
        ("Ada,,softmax,many,", f"points must be a number between 0 and {MAX_POINTS}; got points='many'"),
        ("Ada,,softmax,99,", f"points must be a number between 0 and {MAX_POINTS}; got points='99'"),
        ("Ada,,softmax,nan,", "got points='nan'"),
        ("Ada,01_lookup,,1,", "points require an exercise; got points='1'"),
    ],
)
def test_reports_invalid_row_by_line(tmp_path: Path, row: str, message: str):
    with pytest.raises(ValueError, match=r"overrides\.csv, line 3: ") as error:
        overrides(tmp_path, "Ada,,softmax,1,", row)
    assert message in str(error.value)
