"""Results on disk: one file for each student and lesson, written as soon as it is graded.

If the grader is interrupted, no finished result is lost. Unchanged submissions are not graded again.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.printable_text import printable, record_name
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import Attempt, GradedExercise, GradedSubmission
from transformer_lab.atomic_write import atomic_write_text

STUDENTS_FOLDER = "students"
MAX_RUNS = 3
"""Maximum number of runs that grade the same notebooks if others kill one of their answers each time."""
IMPLIED_SETTINGS = {"library_calls": "remark"}
"""Defaults of settings that are missing in a record."""

IDENTITY = ["known_as", "lms_id", "login", "platform", "batch"]
TEXT_FIELDS = ["notebook", "lesson", "problem", "digest", "sha256", *IDENTITY, "handed_in", "time_source", "isolation"]
NOTEBOOK_FIELDS = {str: TEXT_FIELDS, bool: ["marked_late"], dict: ["written"], list: ["notes", "exercises"]}
EXERCISE_FIELDS = {
    str: ["exercise", "status", "message"],
    list: ["mistakes", "hints"],
    float: ["seconds"],
    int: ["n_right", "n_cases"],
}


class Records:
    """The graded students in a results folder, in a file for each student and lesson with every attempt.

    An attempt is the result of one run for a student and lesson. ``class_results`` decides which attempt counts,
    because it knows the points.

    Args:
        out: The results folder.
        settings: All settings that affect the points: the seed, the limits, the version.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any]) -> None:
        self._folder, self._settings = out / STUDENTS_FOLDER, dict(settings)

    def not_yet_graded(self, student: str, submissions: Sequence[Submission]) -> list[Submission]:
        """Return the notebooks of lessons that have not been graded with exactly these notebooks and settings.

        If another program killed an answer, its lesson counts as not graded, up to ``MAX_RUNS`` runs, so that an answer
        that kills itself does not cost time in every run.
        """
        return [
            submission
            for lesson, own in by_lesson(submissions).items()
            if not self._is_graded(student, lesson, own)
            for submission in own
        ]

    def _is_graded(self, student: str, lesson: str, submissions: Sequence[Submission]) -> bool:
        attempts = {attempt["key"]: attempt for attempt in _attempts(self._path(student, lesson))}
        attempt = attempts.get(self._key(submissions))
        if attempt is None:
            return False
        return not _is_ended_by_others(attempt) or attempt.get("runs", 1) >= MAX_RUNS

    def changed_settings(self, student: str, submissions: Sequence[Submission]) -> str:
        """Return a description of the settings that changed since these lessons were last graded, or ""."""
        now = self._settings_in_words
        for lesson in by_lesson(submissions):
            for attempt in _attempts(self._path(student, lesson))[-1:]:
                before = attempt.get("settings", now)
                names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
                rows = [(name.replace("_", " "), IMPLIED_SETTINGS.get(name, "none"), name) for name in names]
                if rows:
                    return "; ".join(
                        f"{words}: {now.get(name, unsaid)} now, {before.get(name, unsaid)} last time"
                        for words, unsaid, name in rows
                    )
        return ""

    def write(
        self,
        student: str,
        submissions: Sequence[Submission],
        graded: Sequence[GradedSubmission],
        guards: Mapping[str, Any],
    ) -> None:
        """Add the results of a student as the latest attempt at each of their lessons.

        Args:
            student: The student's name.
            submissions: The student's submissions for these lessons.
            graded: The graded submissions.
            guards: The sandbox's guards.

        Raises:
            OSError: The file cannot be written.
        """
        found = by_lesson(submissions)
        notebooks: dict[str, list[GradedSubmission]] = {lesson: [] for lesson in found}
        for one in graded:
            notebooks.setdefault(one.submission.kept_with or one.submission.lesson, []).append(one)
        for lesson, own in notebooks.items() or {"": []}.items():
            attempt: dict[str, Any] = {
                "key": self._key(found.get(lesson, ())),
                "settings": self._settings_in_words,
                "guards": dict(guards),
                "notebooks": [
                    {**as_dict(one), "fingerprint": sorted(one.fingerprint), "answers": dict(one.answers)}
                    for one in own
                ],
            }
            earlier = [] if not lesson else _attempts(self._path(student, lesson))
            same = [one for one in earlier if one["key"] == attempt["key"] and _is_ended_by_others(one)]
            attempt["runs"] = 1 + max((one.get("runs", 1) for one in same), default=0)
            kept = [one for one in earlier if one["key"] != attempt["key"] and not _adds_nothing(one, attempt)]
            self._write(student, lesson, [*kept, attempt])

    def keep_only(self, student: str, submissions: Sequence[Submission]) -> None:
        """Delete all attempts of a student at these lessons except the one with these notebooks."""
        for lesson, own in by_lesson(submissions).items():
            if self._is_graded(student, lesson, own):
                attempts = _attempts(self._path(student, lesson))
                self._write(student, lesson, [one for one in attempts if one["key"] == self._key(own)])

    def update_times(self, student: str, submissions: Sequence[Submission], *, later_too: bool = False) -> None:
        """Update the submission times and owners of notebooks that do not need to be graded again.

        A notebook that was seen before existed at the earlier time, so a later time belongs to a copy. It replaces the
        earlier time only if ``later_too`` is set.
        """
        for lesson, own in by_lesson(submissions).items():
            attempts = _attempts(self._path(student, lesson))
            before = json.dumps(attempts)
            now = {(printable(str(one.path.name)), one.digest): one for one in own}
            for attempt in attempts:
                for notebook in attempt["notebooks"] if attempt["key"] == self._key(own) else []:
                    if one := now.get((Path(notebook["notebook"]).name, notebook["digest"])):
                        notebook |= _what_may_change(one)
                        if one.handed_in and (later_too or not _is_later(one.handed_in, notebook["handed_in"])):
                            notebook |= {"handed_in": one.handed_in, "time_source": one.time_source}
                        elif not notebook["handed_in"]:
                            notebook |= {"time_source": one.time_source}  # why the time is still unknown
            if json.dumps(attempts) != before:
                self._write(student, lesson, attempts)

    def forget_all(self) -> None:
        """Delete all results."""
        for path in self._folder.glob("*.json"):
            path.unlink()

    def _write(self, student: str, lesson: str, attempts: Sequence[Mapping[str, Any]]) -> None:
        record = {"student": student, "lesson": lesson, "attempts": attempts}
        self._folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(self._path(student, lesson), json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def _path(self, student: str, lesson: str) -> Path:
        return self._folder / record_name(student, lesson)

    @property
    def _settings_in_words(self) -> dict[str, str]:
        """Descriptions of the settings that may differ in a results folder."""
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


def _is_ended_by_others(attempt: Mapping[str, Any]) -> bool:
    notebooks = map(from_dict, attempt["notebooks"])
    return any(one.ended_by_others for notebook in notebooks for one in notebook.exercises)


def by_lesson(submissions: Sequence[Submission]) -> dict[str, list[Submission]]:
    """Return a student's submissions by the lesson with which their results are stored."""
    found: dict[str, list[Submission]] = {}
    for submission in submissions:
        found.setdefault(submission.kept_with or submission.lesson, []).append(submission)
    return found


def _adds_nothing(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether a later attempt has the same notebooks and at least as many points in every exercise."""
    files, points = [], []
    for attempt in (earlier, later):
        files.append(sorted((one["digest"], one["handed_in"], one["lms_id"]) for one in attempt["notebooks"]))
        points.append(
            {
                (notebook["digest"], one["exercise"]): (one["points"], one["n_right"])
                for notebook in attempt["notebooks"]
                for one in notebook["exercises"]
            }
        )
    return files[0] == files[1] and all(points[1].get(name, (0, 0)) >= had for name, had in points[0].items())


def _what_may_change(submission: Submission) -> dict[str, Any]:
    """Return the information about a submission that may change after it was graded."""
    return {
        "marked_late": submission.is_marked_late,
        **{name: printable(getattr(submission, name)) for name in IDENTITY},
        "remark": submission.remark,
        "beside": submission.beside,
    }


def _is_later(time: str, known: str) -> bool:
    return bool(known) and datetime.fromisoformat(time) > datetime.fromisoformat(known)


def _attempts(path: Path) -> list[dict[str, Any]]:
    return list((_read(path) or {}).get("attempts", []))


def read_records(out: Path) -> dict[str, list[GradedSubmission]]:
    """Return the graded notebooks of every student, from this or earlier runs, sorted by name.

    Unreadable records are skipped with a warning; their students have no points until they are graded again.
    """
    found: dict[str, list[GradedSubmission]] = {}
    for path in sorted((out / STUDENTS_FOLDER).glob("*.json")):
        if (record := _read(path)) is None:
            warnings.warn(
                f"{path} is corrupted or from an older version, so this student is left out; grade again", stacklevel=2
            )
            continue
        own = found.setdefault(record["student"], [])
        for attempt in record["attempts"]:
            which = Attempt(record["lesson"], attempt["key"], record["student"])
            own += [replace(from_dict(notebook), attempt=which) for notebook in attempt["notebooks"]]
    return {student: found[student] for student in sorted(found)}


def as_dict(notebook: GradedSubmission) -> dict[str, Any]:
    """Return a graded notebook as JSON data."""
    return {
        "notebook": printable(str(notebook.submission.path)),
        "lesson": notebook.submission.lesson,
        "problem": notebook.submission.problem,
        "remark": notebook.submission.remark,
        "beside": notebook.submission.beside,
        "digest": notebook.submission.digest,
        "sha256": notebook.submission.sha256,
        **{name: printable(getattr(notebook.submission, name)) for name in IDENTITY},
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
    """Return a graded notebook from JSON data, which do not contain the code of its cells."""
    submission = Submission(
        "",
        Path(notebook["notebook"]),
        notebook["lesson"],
        problem=notebook["problem"],
        remark=notebook.get("remark", ""),  # missing in earlier versions of these three
        beside=notebook.get("beside", ""),
        digest=notebook["digest"],
        sha256=notebook["sha256"],
        **{name: notebook[name] for name in IDENTITY},
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
    remarks = one.get("remarks", ())  # missing in earlier versions
    return GradedExercise(exercise, verdict, one["seconds"], one["n_right"], one["n_cases"], remarks=remarks)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record, or None if it does not exist, is corrupted, or is from a version with other exercises."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        json.dumps(record, ensure_ascii=False).encode()  # rejects text that cannot be written again
        _check(record, {str: ["student", "lesson"], list: ["attempts"]})
        if path.name != record_name(record["student"], record["lesson"]):
            return None
        for attempt in record["attempts"]:
            _check_attempt(attempt)
        return record
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _check_attempt(attempt: Mapping[str, Any]) -> None:
    _check(attempt, {str: ["key"], dict: ["settings"], list: ["notebooks"]})
    _check(attempt["settings"], {str: [*attempt["settings"]]})
    for notebook in attempt["notebooks"]:
        _check(notebook, NOTEBOOK_FIELDS)
        if notebook["handed_in"]:
            datetime.fromisoformat(notebook["handed_in"])
        later = [notebook.get("remark", ""), notebook.get("beside", ""), *notebook.get("answers", {}).values()]
        for text in (*notebook["notes"], *notebook["written"].values(), *later):
            _check({"text": text}, {str: ["text"]})
        for exercise in notebook["exercises"]:
            _check(exercise, EXERCISE_FIELDS)
            for text in (*exercise["mistakes"], *exercise["hints"], *exercise.get("remarks", ())):
                _check({"text": text}, {str: ["text"]})
        from_dict(notebook)


def _check(message: Mapping[str, Any], fields: Mapping[type, Sequence[str]]) -> None:
    for kind, names in fields.items():
        for name in names:
            if type(message[name]) is not kind and not (kind is float and type(message[name]) is int):
                raise TypeError(f"{name} must be of type {kind.__name__}; got {message[name]!r}")
