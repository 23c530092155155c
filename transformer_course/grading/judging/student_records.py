"""What has been graded, kept on the disk: a file for each student and lesson, written as soon as it is graded.

Whenever the grader is stopped, nothing that was finished is lost. What has not changed is not graded again.
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
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.grading.judging.graded_results import Attempt, GradedExercise, GradedSubmission
from transformer_lab.atomic_write import atomic_write_text

STUDENTS_FOLDER = "students"
MAX_RUNS = 3
"""Number of runs that grade the same notebooks if other programs end one of their answers in each."""
IMPLIED_SETTINGS = {"library_calls": "remark"}
"""What holds for a setting that a record says nothing of, unless that is none."""

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
    """The graded students in a folder of results: a file for each student and lesson, with every attempt.

    An attempt is what one run found of a student and lesson. Which of several attempts counts is decided where the
    points are known: in ``class_results``.

    Args:
        out: The folder of results.
        settings: What decides the points in addition to the notebooks: the seed, the limits, the version.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any]) -> None:
        self._folder, self._settings = out / STUDENTS_FOLDER, dict(settings)

    def not_yet_graded(self, student: str, submissions: Sequence[Submission]) -> list[Submission]:
        """Return the notebooks of the lessons in which these very notebooks have not been graded with these settings.

        If another program ended an answer, its lesson has not been graded, until ``MAX_RUNS`` runs have ended so: an
        answer that kills itself does not cost its time in every run.
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
        """Return which settings differ from those under which these lessons were last graded; "" if none does."""
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
            submissions: What the student submitted of these lessons.
            graded: What of it was graded.
            guards: The guards that the sandbox had.

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
        """Delete all attempts of a student at these lessons but the one with these notebooks."""
        for lesson, own in by_lesson(submissions).items():
            if self._is_graded(student, lesson, own):
                attempts = _attempts(self._path(student, lesson))
                self._write(student, lesson, [one for one in attempts if one["key"] == self._key(own)])

    def update_times(self, student: str, submissions: Sequence[Submission], *, later_too: bool = False) -> None:
        """Note what is known by now about notebooks that are up to date: when and by whom they were submitted.

        A notebook that was seen before existed at the earlier time, so a later time is the time of a copy. It replaces
        the earlier time only if ``later_too``.
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
        """Delete what was graded earlier."""
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


def _is_ended_by_others(attempt: Mapping[str, Any]) -> bool:
    notebooks = map(from_dict, attempt["notebooks"])
    return any(one.ended_by_others for notebook in notebooks for one in notebook.exercises)


def by_lesson(submissions: Sequence[Submission]) -> dict[str, list[Submission]]:
    """Return a student's submissions by the lesson with which their results are kept."""
    found: dict[str, list[Submission]] = {}
    for submission in submissions:
        found.setdefault(submission.kept_with or submission.lesson, []).append(submission)
    return found


def _adds_nothing(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether an attempt is the same notebooks as a later one, with no exercise that had more points."""
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
    """Return what can be known of a submission later than its grading."""
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
    """Return the notebooks of every student that has been graded, now or earlier, in the order of their names.

    What cannot be read is left out, with a warning: its student has no points until graded again.
    """
    found: dict[str, list[GradedSubmission]] = {}
    for path in sorted((out / STUDENTS_FOLDER).glob("*.json")):
        if (record := _read(path)) is None:
            warnings.warn(
                f"{path} is damaged or from an older edition, so this student is left out; grade again", stacklevel=2
            )
            continue
        own = found.setdefault(record["student"], [])
        for attempt in record["attempts"]:
            which = Attempt(record["lesson"], attempt["key"], record["student"])
            own += [replace(from_dict(notebook), attempt=which) for notebook in attempt["notebooks"]]
    return {student: found[student] for student in sorted(found)}


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
    remarks = one.get("remarks", ())  # earlier editions have none
    return GradedExercise(exercise, verdict, one["seconds"], one["n_right"], one["n_cases"], remarks=remarks)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record; None if there is none, or if it is damaged or of an edition with other exercises."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        json.dumps(record, ensure_ascii=False).encode()  # every text can be written again
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
                raise TypeError(f"{name} is not of type {kind.__name__}; got {message[name]!r}")
