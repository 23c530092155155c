"""What has been graded, kept on the disk: a file for each student, written as soon as that student is done.

Whenever the grader is stopped, nothing that was finished is lost. What has not changed is not graded again.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.printable_text import printable, record_name
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_lab.atomic_write import atomic_write_text

STUDENTS_FOLDER = "students"
IMPLIED_SETTINGS = {"library_calls": "remark"}
"""What holds for a setting that a record says nothing of, unless that is none."""

TEXT_FIELDS = ["notebook", "lesson", "problem", "digest", "sha256", "lms_id", "handed_in", "time_source", "isolation"]
NOTEBOOK_FIELDS = {str: TEXT_FIELDS, bool: ["marked_late"], dict: ["written"], list: ["notes", "exercises"]}
EXERCISE_FIELDS = {
    str: ["exercise", "status", "message"],
    list: ["mistakes", "hints"],
    float: ["seconds"],
    int: ["n_right", "n_cases"],
}


class Records:
    """The graded students in a folder of results.

    Args:
        out: The folder of results.
        settings: All that decides the points besides the notebooks: the seed, the limits, the version.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any]) -> None:
        self._folder, self._settings = out / STUDENTS_FOLDER, dict(settings)

    def is_up_to_date(self, student: str, submissions: Sequence[Submission]) -> bool:
        """Return whether these very notebooks of a student have been graded with these settings.

        Where others have ended an answer, they have not.
        """
        record = _read(self._path(student))
        if record is None or record["key"] != self._key(submissions):
            return False
        notebooks = map(from_dict, record["notebooks"])
        return not any(one.ended_by_others for notebook in notebooks for one in notebook.exercises)

    def changed_settings(self, student: str) -> str:
        """Say which settings a student was graded with otherwise; nothing if there are none, or it is not known."""
        before, now = (
            (_read(self._path(student)) or {}).get("settings", self._settings_in_words),
            self._settings_in_words,
        )
        names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
        rows = [(name.replace("_", " "), IMPLIED_SETTINGS.get(name, "none"), name) for name in names]
        return "; ".join(
            f"{words}: {now.get(name, unsaid)} now, {before.get(name, unsaid)} last time"
            for words, unsaid, name in rows
        )

    def write(
        self,
        student: str,
        submissions: Sequence[Submission],
        graded: Sequence[GradedSubmission],
        guards: Mapping[str, Any],
    ) -> None:
        """Keep the results of a student, in place of earlier ones.

        Args:
            student: The student's name.
            submissions: All that the student handed in.
            graded: What of it was graded.
            guards: The guards that the sandbox had.

        Raises:
            OSError: The file cannot be written.
        """
        record = {
            "student": student,
            "key": self._key(submissions),
            "settings": self._settings_in_words,
            "guards": dict(guards),
            "notebooks": [
                {**as_dict(one), "fingerprint": sorted(one.fingerprint), "answers": dict(one.answers)} for one in graded
            ],
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(self._path(student), json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def update_times(self, student: str, submissions: Sequence[Submission]) -> None:
        """Note when the notebooks of a student who is up to date were handed in, and by whom, as it is known now."""
        record = _read(self._path(student))
        times = {(printable(str(one.path.name)), one.digest): one for one in submissions}
        before = json.dumps(record)
        for notebook in record["notebooks"] if record else []:
            if one := times.get((Path(notebook["notebook"]).name, notebook["digest"])):
                notebook |= {"handed_in": one.handed_in, "time_source": one.time_source}
                notebook |= {"marked_late": one.is_marked_late, "lms_id": one.lms_id}
                notebook |= {"remark": one.remark, "beside": one.beside}
        if json.dumps(record) != before:
            atomic_write_text(self._path(student), json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def forget_all(self) -> None:
        """Delete what was graded earlier."""
        for path in self._folder.glob("*.json"):
            path.unlink()

    def _path(self, student: str) -> Path:
        return self._folder / record_name(student)

    @property
    def _settings_in_words(self) -> dict[str, str]:
        """The settings that may differ in a folder of results, in words."""
        named = {name: setting for name, setting in self._settings.items() if name != "seed"}
        if limits := named.get("limits"):
            named["limits"] = f"{limits[0]:g} s and {limits[1]} MB"
        if own := named.pop("own", None):
            named["exercises of your own"] = ", ".join(f"{lesson} ({sha256[:8]})" for lesson, sha256 in own.items())
        return {name: str(setting) for name, setting in named.items()}

    def _key(self, submissions: Sequence[Submission]) -> str:
        notebooks = [(one.path.name, one.lesson, one.digest, one.problem) for one in submissions]
        serialized = json.dumps([self._settings, sorted(notebooks)], sort_keys=True)
        return hashlib.sha256(serialized.encode("utf-8", "surrogatepass")).hexdigest()


def read_records(out: Path) -> dict[str, list[GradedSubmission]]:
    """Return the notebooks of every student that has been graded, now or earlier, in the order of their names.

    What cannot be read is left out, with a warning: its student has no points until graded again.
    """
    found = {}
    for path in sorted((out / STUDENTS_FOLDER).glob("*.json")):
        if (record := _read(path)) is None:
            warnings.warn(
                f"{path} is damaged or of an older edition, so its student is left out: grade again", stacklevel=2
            )
        else:
            found[record["student"]] = record["notebooks"]
    return {student: [from_dict(notebook) for notebook in found[student]] for student in sorted(found)}


def as_dict(notebook: GradedSubmission) -> dict[str, Any]:
    """Return a graded notebook as JSON."""
    return {
        "notebook": printable(str(notebook.submission.path)),
        "lesson": notebook.submission.lesson,
        "problem": notebook.submission.problem,
        "remark": notebook.submission.remark,
        "beside": notebook.submission.beside,
        "digest": notebook.submission.digest,
        "sha256": notebook.submission.sha256,
        "lms_id": notebook.submission.lms_id,
        "handed_in": notebook.submission.handed_in,
        "time_source": notebook.submission.time_source,
        "marked_late": notebook.submission.is_marked_late,
        "written": dict(notebook.submission.written),
        "isolation": notebook.isolation,
        "notes": list(notebook.notes),
        "exercises": [
            {
                "exercise": one.exercise.name,
                "status": one.verdict.status,
                "mistakes": list(one.verdict.mistakes),
                "message": one.verdict.message,
                "hints": list(one.verdict.hints),
                "points": one.points,
                "of": one.exercise.points,
                "stretch": one.exercise.stretch,
                "seconds": round(one.seconds, 3),
                "n_right": one.n_right,
                "n_cases": one.n_cases,
                "remarks": list(one.remarks),
            }
            for one in notebook.exercises
        ],
    }


def from_dict(notebook: Mapping[str, Any]) -> GradedSubmission:
    """Return a graded notebook from JSON; the code of its cells is not kept."""
    submission = Submission(
        "",
        Path(notebook["notebook"]),
        notebook["lesson"],
        problem=notebook["problem"],
        remark=notebook.get("remark", ""),  # earlier editions have none of these three
        beside=notebook.get("beside", ""),
        digest=notebook["digest"],
        sha256=notebook["sha256"],
        lms_id=notebook["lms_id"],
        handed_in=notebook["handed_in"],
        time_source=notebook["time_source"],
        is_marked_late=notebook["marked_late"],
        written=notebook["written"],
    )
    exercises = [_exercise(one) for one in notebook["exercises"]]
    fingerprint = frozenset(map(int, notebook.get("fingerprint", ())))
    answers = dict(notebook.get("answers", {}))
    return GradedSubmission(submission, exercises, notebook["isolation"], notebook["notes"], fingerprint, answers)


def _exercise(one: Mapping[str, Any]) -> GradedExercise:
    verdict = Verdict(one["exercise"], one["status"], one["message"], tuple(one["mistakes"]), tuple(one["hints"]))
    exercise = every_exercise()[one["exercise"]]
    remarks = one.get("remarks", ())  # earlier editions have none
    return GradedExercise(exercise, verdict, one["seconds"], one["n_right"], one["n_cases"], remarks=remarks)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record; None if there is none, or if it is damaged or of an edition with other exercises."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        json.dumps(record, ensure_ascii=False).encode()  # every text can be written again
        _check(record, {str: ["student", "key"], list: ["notebooks"]})
        settings = record.get("settings", {})  # earlier editions have none
        _check(settings, {str: [*settings]})
        for notebook in record["notebooks"]:
            _check(notebook, NOTEBOOK_FIELDS)
            later = [notebook.get("remark", ""), notebook.get("beside", ""), *notebook.get("answers", {}).values()]
            for text in (*notebook["notes"], *notebook["written"].values(), *later):
                _check({"text": text}, {str: ["text"]})
            for exercise in notebook["exercises"]:
                _check(exercise, EXERCISE_FIELDS)
                for text in (*exercise["mistakes"], *exercise["hints"], *exercise.get("remarks", ())):
                    _check({"text": text}, {str: ["text"]})
            from_dict(notebook)
        return record
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _check(message: Mapping[str, Any], fields: Mapping[type, Sequence[str]]) -> None:
    for kind, names in fields.items():
        for name in names:
            if type(message[name]) is not kind and not (kind is float and type(message[name]) is int):
                raise TypeError(f"{name} is not of type {kind.__name__}; got {message[name]!r}")
