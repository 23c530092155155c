"""Store the results on disk, in one file for each student and lesson, as soon as the lesson has been graded.

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
"""Maximum number of runs that grade the same notebooks, if another process kills one of the answers each time."""
IMPLIED_SETTINGS = {"library_calls": "remark"}
"""Defaults for settings that are missing in a record."""

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
    """The graded students in a results folder. A file for each student and lesson contains all attempts.

    An attempt is the result of one run for a student and lesson. ``class_results`` decides which attempt counts,
    because the choice depends on the points.

    Args:
        out: The results folder.
        settings: All settings that affect the points, such as the seed, the limits and the versions.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any]) -> None:
        self._folder, self._settings = out / STUDENTS_FOLDER, dict(settings)

    def not_yet_graded(self, student: str, submissions: Sequence[Submission]) -> list[Submission]:
        """Return the notebooks of lessons that have not been graded with exactly these notebooks and settings.

        If another process killed an answer, its lesson counts as not graded, but only up to ``MAX_RUNS`` times, so that
        an answer that kills itself does not take time in every run.
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
                        f"{title}: {now.get(name, default)} now, {before.get(name, default)} last time"
                        for title, default, name in rows
                    )
        return ""

    def write(
        self,
        student: str,
        submissions: Sequence[Submission],
        graded: Sequence[GradedSubmission],
        guards: Mapping[str, Any],
    ) -> None:
        """Store a student's results as the latest attempt at each lesson.

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
        for notebook in graded:
            notebooks.setdefault(notebook.submission.storage_lesson or notebook.submission.lesson, []).append(notebook)
        for lesson, own in notebooks.items() or {"": []}.items():
            attempt: dict[str, Any] = {
                "key": self._key(found.get(lesson, ())),
                "settings": self._settings_in_words,
                "guards": dict(guards),
                "notebooks": [
                    {
                        **as_dict(notebook),
                        "fingerprint": sorted(notebook.fingerprint),
                        "answers": dict(notebook.answers),
                    }
                    for notebook in own
                ],
            }
            earlier = [] if not lesson else _attempts(self._path(student, lesson))
            same = [old for old in earlier if old["key"] == attempt["key"] and _is_ended_by_others(old)]
            attempt["runs"] = 1 + max((old.get("runs", 1) for old in same), default=0)
            kept = [old for old in earlier if old["key"] != attempt["key"] and not _is_superseded(old, attempt)]
            self._write(student, lesson, [*kept, attempt])

    def keep_only(self, student: str, submissions: Sequence[Submission]) -> None:
        """Delete a student's attempts at these lessons, except the attempts with exactly these notebooks."""
        for lesson, own in by_lesson(submissions).items():
            if self._is_graded(student, lesson, own):
                attempts = _attempts(self._path(student, lesson))
                self._write(student, lesson, [attempt for attempt in attempts if attempt["key"] == self._key(own)])

    def update_times(self, student: str, submissions: Sequence[Submission], *, allow_later: bool = False) -> None:
        """Update the submission times and owners of notebooks that do not need to be graded again.

        If the same notebook is submitted again, it already existed at the earlier time, so the later time must belong
        to a copy. The later time replaces the earlier time only if ``allow_later`` is set.
        """
        for lesson, own in by_lesson(submissions).items():
            attempts = _attempts(self._path(student, lesson))
            before = json.dumps(attempts)
            now = {(printable(str(submission.path.name)), submission.digest): submission for submission in own}
            for attempt in attempts:
                for notebook in attempt["notebooks"] if attempt["key"] == self._key(own) else []:
                    if new := now.get((Path(notebook["notebook"]).name, notebook["digest"])):
                        notebook |= _mutable_fields(new)
                        if new.handed_in and (allow_later or not _is_later(new.handed_in, notebook["handed_in"])):
                            notebook |= {"handed_in": new.handed_in, "time_source": new.time_source}
                        elif not notebook["handed_in"]:
                            notebook |= {"time_source": new.time_source}  # the reason why the time is unknown
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
        """Descriptions of the settings that may change between runs with the same results folder."""
        settings = {name: setting for name, setting in self._settings.items() if name != "seed"}
        if limits := settings.get("limits"):
            settings["limits"] = f"{limits[0]:g} s and {limits[1]} MB"
        if own := settings.pop("own", None):
            settings["your own exercises"] = ", ".join(f"{lesson} ({sha256[:8]})" for lesson, sha256 in own.items())
        return {name: str(setting) for name, setting in settings.items()}

    def _key(self, submissions: Sequence[Submission]) -> str:
        notebooks = [
            (submission.path.name, submission.lesson, submission.digest, submission.problem)
            for submission in submissions
        ]
        serialized = json.dumps([self._settings, sorted(notebooks)], sort_keys=True)
        return hashlib.sha256(serialized.encode("utf-8", "surrogatepass")).hexdigest()


def _is_ended_by_others(attempt: Mapping[str, Any]) -> bool:
    notebooks = map(from_dict, attempt["notebooks"])
    return any(result.ended_by_others for notebook in notebooks for result in notebook.exercises)


def by_lesson(submissions: Sequence[Submission]) -> dict[str, list[Submission]]:
    """Return a student's submissions, keyed by the lesson under which their results are stored."""
    found: dict[str, list[Submission]] = {}
    for submission in submissions:
        found.setdefault(submission.storage_lesson or submission.lesson, []).append(submission)
    return found


def _is_superseded(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether a later attempt contains the same notebooks, with no fewer points for any exercise."""
    files, points = [], []
    for attempt in (earlier, later):
        files.append(
            sorted((notebook["digest"], notebook["handed_in"], notebook["lms_id"]) for notebook in attempt["notebooks"])
        )
        points.append(
            {
                (notebook["digest"], exercise["exercise"]): (exercise["points"], exercise["n_right"])
                for notebook in attempt["notebooks"]
                for exercise in notebook["exercises"]
            }
        )
    return files[0] == files[1] and all(points[1].get(key, (0, 0)) >= before for key, before in points[0].items())


def _mutable_fields(submission: Submission) -> dict[str, Any]:
    """Return the information about a submission that may change after grading."""
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
                f"{path} is corrupted or from an older version, so its student is left out; grade this student again",
                stacklevel=2,
            )
            continue
        own = found.setdefault(record["student"], [])
        for attempt in record["attempts"]:
            identity = Attempt(record["lesson"], attempt["key"], record["student"])
            own += [replace(from_dict(notebook), attempt=identity) for notebook in attempt["notebooks"]]
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
                "exercise": result.exercise.name,
                "status": result.verdict.status,
                "mistakes": list(result.verdict.mistakes),
                "message": result.verdict.message,
                "hints": list(result.verdict.hints),
                "points": result.points,
                "of": result.exercise.points,
                "stretch": result.exercise.stretch,
                "seconds": round(result.seconds, 3),
                "n_right": result.n_right,
                "n_cases": result.n_cases,
                "remarks": list(result.remarks),
            }
            for result in notebook.exercises
        ],
    }


def from_dict(notebook: Mapping[str, Any]) -> GradedSubmission:
    """Return a graded notebook from JSON data, without its cells, which are not stored."""
    submission = Submission(
        "",
        Path(notebook["notebook"]),
        notebook["lesson"],
        problem=notebook["problem"],
        remark=notebook.get("remark", ""),  # records from earlier versions lack remark and beside
        beside=notebook.get("beside", ""),
        digest=notebook["digest"],
        sha256=notebook["sha256"],
        **{name: notebook[name] for name in IDENTITY},
        handed_in=notebook["handed_in"],
        time_source=notebook["time_source"],
        is_marked_late=notebook["marked_late"],
        written=notebook["written"],
    )
    exercises = [_exercise(exercise) for exercise in notebook["exercises"]]
    fingerprint = frozenset(map(int, notebook.get("fingerprint", ())))
    answers = dict(notebook.get("answers", {}))
    return GradedSubmission(submission, exercises, notebook["isolation"], notebook["notes"], fingerprint, answers)


def _exercise(stored: Mapping[str, Any]) -> GradedExercise:
    name, mistakes, hints = stored["exercise"], tuple(stored["mistakes"]), tuple(stored["hints"])
    verdict = Verdict(name, stored["status"], stored["message"], mistakes, hints)
    remarks = stored.get("remarks", ())  # missing in records from earlier versions
    numbers = stored["seconds"], stored["n_right"], stored["n_cases"]
    return GradedExercise(every_exercise()[name], verdict, *numbers, remarks=remarks)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record, or None if it is missing, corrupted, or from a version with different exercises."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        json.dumps(record, ensure_ascii=False).encode()  # raises an error for text that cannot be written again
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


def _check(values: Mapping[str, Any], fields: Mapping[type, Sequence[str]]) -> None:
    for kind, names in fields.items():
        for name in names:
            if type(values[name]) is not kind and not (kind is float and type(values[name]) is int):
                raise TypeError(f"{name} must be of type {kind.__name__}; got {values[name]!r}")
