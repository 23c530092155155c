import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook, write_results
from transformer_course.commands.main import main
from transformer_course.grading.judging.student_records import Records
from transformer_course.grading.reports.class_report import write_report
from transformer_course.grading.rules.settings import new_settings
from transformer_course.sandbox.exit_reasons import explain_exit
from transformer_course.sandbox.resource_limits import Limits


def test_fills_points_into_canvas_and_moodle_tables(tmp_path: Path, capsys):
    write_results(tmp_path / "graded", {"ada": 2})
    (tmp_path / "export.csv").write_text("Student,ID\nAda,ada\n")
    assert main(["export", str(tmp_path / "graded"), "--canvas", str(tmp_path / "export.csv"), "--column", "Lab"]) == 0
    assert (tmp_path / "graded" / "canvas.csv").read_text().startswith("Student,ID,Lab\nAda,ada,")
    assert "1 of 1 rows get points." in capsys.readouterr().out
    (tmp_path / "export.csv").write_text("Identifier,Full name,Grade\nParticipant 7,Ada,\n")
    assert main(["export", str(tmp_path / "graded"), "--moodle", str(tmp_path / "export.csv")]) == 0
    assert (tmp_path / "graded" / "moodle.csv").read_text().startswith("Identifier,Full name,Grade,Feedback comments\n")


def test_look_option_does_not_write_files(tmp_path: Path, capsys):
    write_results(tmp_path / "graded", {"ada": 2})
    (tmp_path / "export.csv").write_text("Student,ID,Lab\nAda,ada,1\n")
    command = ["export", str(tmp_path / "graded"), "--canvas", str(tmp_path / "export.csv"), "--column", "Lab"]
    assert main([*command, "--look"]) == 0
    message = capsys.readouterr().out
    assert (
        "The points are in the column “Lab”." in message
        and "Cells that contained different points (1):" in message
        and "  ada: 1 → " in message
        and "Nothing was written." in message
    )
    assert not (tmp_path / "graded" / "canvas.csv").exists()


def test_reports_unmarked_answers(tmp_path: Path, capsys):
    Records(tmp_path, {}).write("ada", [], [notebook(1, written={"why": "so"})], {})
    write_report(tmp_path, new_settings(7, Limits(), {}))
    (tmp_path / "export.csv").write_text("Student,ID,Lab\nAda,ada,1\n")
    assert main(["export", str(tmp_path), "--canvas", str(tmp_path / "export.csv"), "--look"]) == 0
    assert "1 written answer has no points yet." in capsys.readouterr().out


@pytest.mark.parametrize("is_decided", [False, True])
def test_reports_unjudged_answer_until_overridden(tmp_path: Path, capsys, is_decided: bool):
    graded = notebook(1)
    busy = replace(graded.exercises[1].verdict, status="crashed", message=explain_exit("busy", Limits()))
    exercises = [graded.exercises[0], replace(graded.exercises[1], verdict=busy), *graded.exercises[2:]]
    Records(tmp_path, {}).write("ada", [], [replace(graded, exercises=exercises)], {})
    name = exercises[1].exercise.name
    if is_decided:
        (tmp_path / "overrides.csv").write_text(f"student,exercise,points,comment\nada,{name},1,\n")
    write_report(tmp_path, new_settings(7, Limits(), {}))
    (tmp_path / "export.csv").write_text("Student,ID,Lab\nAda,ada,1\n")
    assert main(["export", str(tmp_path), "--canvas", str(tmp_path / "export.csv"), "--look"]) == 0
    row = (tmp_path / "gradebook.csv").read_text()
    reason = f"01_lookup: {name} could not be judged: it got too little CPU time."
    assert (reason in row) != is_decided and ("graded in part" in row) != is_decided
    assert (reason in (tmp_path / "class.html").read_text()) != is_decided
    line = "1 answer from ada could not be judged and got no points. Grade again, or enter the points in overrides.csv."
    assert (line in capsys.readouterr().out) != is_decided


def test_writes_canvas_feedback_next_to_table(tmp_path: Path, capsys):
    file = "ada_12345_67890_01_lookup.ipynb"
    Records(tmp_path, {}).write("ada", [], [notebook(1, file=file, lms_id="12345")], {})
    write_report(tmp_path, new_settings(7, Limits(), {}))
    (tmp_path / "export.csv").write_text("Student,ID\nAda,12345\n")
    assert main(["export", str(tmp_path), "--canvas", str(tmp_path / "export.csv")]) == 0
    assert "The feedback pages of 1 student are in" in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "canvas_feedback.zip") as archive:
        assert archive.namelist() == [file]


def test_lists_students_without_a_canvas_feedback_page(tmp_path: Path, capsys):
    for name, file in (("ada", "ada_12345_67890_01_lookup.ipynb"), ("ben", "ben_12346_67891_homework.pdf")):
        problem = "This is not a notebook (.pdf)." if name == "ben" else ""
        graded = notebook(1, file=file, lms_id=file.split("_")[1], problem=problem)
        Records(tmp_path, {}).write(name, [], [graded], {})
    write_report(tmp_path, new_settings(7, Limits(), {}))
    (tmp_path / "export.csv").write_text("Student,ID\nAda,12345\nBen,12346\n")
    assert main(["export", str(tmp_path), "--canvas", str(tmp_path / "export.csv")]) == 0
    assert "Canvas cannot show feedback to ben, because it needs a submitted notebook." in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "canvas_feedback.zip") as archive:
        assert archive.namelist() == ["ada_12345_67890_01_lookup.ipynb"]


def test_reports_unknown_submission_times_for_exported_lesson(tmp_path: Path, capsys):
    for lesson in ("01_lookup", "02_scaling"):
        file = f"{lesson}.ipynb"
        download = {"time_source": "all files have the time of the download", "platform": "Moodle", "lms_id": "7"}
        Records(tmp_path, {}).write("ada", [], [notebook(1, file, lesson, **download)], {})
    (tmp_path / "class_rules.json").write_text('{"due": {"01_lookup": "2026-10-12T18:00:00+00:00"}, "penalty": 10}')
    write_report(tmp_path, new_settings(7, Limits(), {}))
    (tmp_path / "export.csv").write_text("Identifier,Full name,Grade\nParticipant 7,Ada,\n")
    command = ["export", str(tmp_path), "--moodle", str(tmp_path / "export.csv"), "--look", "--lesson"]
    reason = "the submission time is unknown: ada (all files have the time of the download)"
    message = f"No late penalty, because {reason}. Grade again with --worksheet"
    assert main([*command, "01"]) == 0 and message in capsys.readouterr().out
    assert main([*command, "02"]) == 0 and "unknown" not in capsys.readouterr().out


def test_rejects_column_for_different_lesson_without_force(tmp_path: Path, capsys):
    write_results(tmp_path / "graded", {"ada": 2})
    (tmp_path / "export.csv").write_text("Student,ID,Scaling\nAda,ada,\n")
    command = ["export", str(tmp_path / "graded"), "--canvas", str(tmp_path / "export.csv")]
    command += ["--lesson", "1", "--column", "Scaling"]
    assert main(command) == 2 and not (tmp_path / "graded" / "canvas.csv").exists()
    doubt = "lesson than 01_lookup: “Scaling” is a name of 02_scaling. If it is the right table, add --force"
    assert doubt in capsys.readouterr().err
    assert main([*command, "--look"]) == 0 and f"{doubt}.\n" in capsys.readouterr().out
    assert main([*command, "--force"]) == 0 and (tmp_path / "graded" / "canvas.csv").exists()
    assert doubt not in capsys.readouterr().out


def test_reports_errors_on_one_line(tmp_path: Path, capsys):
    assert main(["export", str(tmp_path), "--canvas", "export.csv"]) == 2
    assert (
        capsys.readouterr().err
        == f"transformer-course: {tmp_path} has no results; run `transformer-course grade` first\n"
    )
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(tmp_path)])
    assert "one of the arguments --canvas --moodle is required" in capsys.readouterr().err
